import JSON
import Log
import Replies
import Whereabouts

/// `location|track|visits|trips|crossings --person P`.
enum ReadCommands {
    static let reader = Options.handle("as", help: "read as this person, under their grant (default: as the operator)")
    static let range: [any OptionDeclaration] = [Options.from, Options.to, day, timeZone]
    static let day = Option<String>(
        name: "day", placeholder: "DATE",
        help: "one day by the local time where the person was, instead of --from and --to",
        form: "a date, for example 2026-03-29 or yesterday", read: { LocalTime.date($0) })
    private static let timeZone = Options.text(
        "time-zone", "ZONE", help: "the time zone of --day, for example Europe/Vienna")
    private static let crs = Option<String>(
        name: "crs", placeholder: "EPSG:n", help: "coordinates as x (the easting) and y in this reference system",
        form: "EPSG: and a number, for example EPSG:31287", read: { $0.hasPrefix("EPSG:") ? $0 : nil })
    static let common: [any OptionDeclaration] = [reader, Options.purpose, Options.json] + Receipts.options
    /// The options of commands whose answers name places.
    static let naming: [any OptionDeclaration] = common + [Options.languages]
    static let details = """
        The read is recorded before its answer is shown. The list has every entry that overlaps the range.

        \(Receipts.help)

        \(Options.timesHelp)
        """

    /// The option of lists that can be asked as of an earlier moment.
    static let past: [any OptionDeclaration] = [PastAnswer.option]
    static let pastDetails = details + "\n\n" + PastAnswer.help

    private static let derivedDetails = pastDetails + "\n\n" + SealedReads.derivedHelp
    private static let crossingsHelp =
        "Crossings are derived from the person's regions, which only the person and the operator may read."

    private static let distanceFilter = Options.number(
        "distance-filter", "METERS", in: 1...100_000,
        help: "only fixes without an anomaly, this far from the one before")

    static let all = [
        Command(
            words: ["location"], summary: "Show a person's newest known location.", requires: [Options.person],
            accepts: [crs, SealedReads.option] + naming, details: SealedReads.help, run: location),
        Command(
            words: ["track"], summary: "List a person's fixes in order of time.",
            requires: [Options.person], accepts: range + [distanceFilter, crs, SealedReads.option] + common,
            details: details + "\n\n" + SealedReads.help, run: track),
        Command(
            words: ["visits"], summary: "List where a person stayed, and for how long.", requires: [Options.person],
            accepts: range + [crs, SealedReads.option] + past + naming, details: derivedDetails, run: visits),
        Command(
            words: ["explain", "visit"], summary: "Show the events that a visit is derived from.", operands: .one("ID"),
            requires: [Options.person], accepts: naming,
            details: "ID is a visit's \"id\", as \"visits --json\" shows it. The read is recorded.", run: explain),
        Command(
            words: ["places"], summary: "List the places a person visited, how often and for how long.",
            requires: [Options.person], accepts: range + [crs, SealedReads.option] + past + naming,
            details: derivedDetails, run: places),
        Command(
            words: ["trips"], summary: "List the trips between a person's visits, and the gaps without data.",
            requires: [Options.person], accepts: range + [crs, SealedReads.option] + past + naming,
            details: derivedDetails, run: trips),
        Command(
            words: ["crossings"], summary: "List when a person entered and left their regions.",
            requires: [Options.person], accepts: range + [SealedReads.option] + past + common,
            details: derivedDetails + "\n" + crossingsHelp, run: crossings),
    ]

    /// Runs `body` with a client that reads as the requested person, and a query with the requested range that waits
    /// for the changes of earlier commands.
    static func reading<Value>(
        _ invocation: Invocation, scopes: [String] = ["query"],
        _ body: (Client, _ query: [(name: String, value: String)]) throws(ToolError) -> Value
    ) throws(ToolError) -> Value {
        try House.withClient(invocation) { client throws(ToolError) in
            var query = invocation[Self.reader] == nil ? try client.waitingForEarlierCommands() : []
            if invocation.takes(Options.from) {
                if let from = invocation[Options.from] { query.append(("from", secondsText(from))) }
                if let to = invocation[Options.to] { query.append(("to", secondsText(to))) }
            }
            for (name, option) in [("day", day), ("timeZone", timeZone), ("crs", crs)] {
                if invocation.takes(option), let text = invocation[option] { query.append((name, text)) }
            }
            if invocation.takes(PastAnswer.option), let asOf = invocation[PastAnswer.option] { query.append(asOf) }
            var reader = client
            if let person = invocation[Self.reader] {
                try client.waitForEarlierCommands()
                reader = try client.acting(as: person, scopes: scopes, seconds: AskCommand.tokenSeconds)
            }
            if invocation[Self.reader] != nil || client.server?.isPersons == true {
                try Receipts.keep(of: &reader, invocation)
            }
            return try body(reader, query)
        }
    }

    /// Whether the invocation names a range.
    static func hasRange(_ invocation: Invocation) -> Bool {
        invocation[Options.from] != nil || invocation[Options.to] != nil || invocation[day] != nil
            || invocation[timeZone] != nil
    }

    private static func secondsText(_ time: Timestamp) -> String {
        var writer = JSONWriter()
        writer.unixSeconds(milliseconds: time.milliseconds)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private static func location(_ invocation: Invocation) throws(ToolError) {
        let person = invocation.required(Options.person)
        if let path = invocation[SealedReads.option] {
            return try SealedReads(path, of: person, invocation).location()
        }
        let answer = try reading(invocation) { client, query throws(ToolError) in
            try client.get(APIPath.peopleLocation.parts(person.text), query: query)
        }
        if invocation.has(Options.json) { return invocation.console.result(answer.jsonLine) }
        guard let location = try answer.read(LocationAnswer.self).location else {
            return invocation.console.note("\(person.text) has no known location.")
        }
        invocation.console.line(LocationText(location: location, now: .now).lines)
    }

    /// Shown page by page, because a track may have millions of fixes.
    private static func track(_ invocation: Invocation) throws(ToolError) {
        let person = invocation.required(Options.person)
        if let path = invocation[SealedReads.option] {
            guard invocation[distanceFilter] == nil, invocation[crs] == nil else {
                throw .usage("--distance-filter and --crs are not for --open-with: the service cannot compute them.")
            }
            return try SealedReads(path, of: person, invocation).track()
        }
        let (console, isJSON) = (invocation.console, invocation.has(Options.json))
        var count = 0
        let asOf = try reading(invocation) { client, query throws(ToolError) in
            let query = query + (invocation[distanceFilter].map { [("distanceFilter", "\($0)")] } ?? [])
            if isJSON { console.result(#"{"fixes":["#.utf8) }
            return try client.pages(APIPath.peopleTrack.parts(person.text), query: query) { page throws(ToolError) in
                let (first, second) = axes(invocation)
                var table = Table("TIME", first, second, ">ACCURACY", ">SPEED", "DEVICE", "")
                for fix in page {
                    if isJSON {
                        console.result((count > 0 ? "," : "").utf8)
                        console.result(fix.jsonLine.dropLast())
                    } else {
                        table.add(cells(of: try fix.read()))
                    }
                    count += 1
                }
                if !table.isEmpty { console.result(table.text.utf8) }
            }
        }
        if isJSON {
            var end = JSONWriter()
            end.beginObject()
            end.asOf(asOf)
            end.endObject()
            console.result(Array((asOf == nil ? "]" : "],").utf8) + end.bytes.dropFirst() + [UInt8(ascii: "\n")])
        } else if count == 0 {
            console.note("\(person.text) has no fix in that time.")
        }
    }

    /// The column titles for coordinates.
    private static func axes(_ invocation: Invocation) -> (String, String) {
        invocation[crs] == nil ? (">LATITUDE", ">LONGITUDE") : (">X", ">Y")
    }

    static func cells(of point: TrackPoint) -> [String] {
        let fix = point.fix
        let (first, second) = Text.coordinate(of: fix.at)
        return [
            time(fix.timestamp), first, second,
            fix.horizontalAccuracy.map { $0 < 0 ? "invalid" : "± " + Text.meters($0) } ?? "",
            fix.speed.map { Text.fixed($0, decimals: 1) + " m/s" } ?? "", point.device ?? "", point.anomaly ?? "",
        ]
    }

    /// A time as people read it, in a time zone or in that of this computer.
    static func time(_ moment: Moment, in zone: String? = nil) -> String {
        LocalTime.text(Timestamp(moment), in: zone)
    }

    private static func visits(_ invocation: Invocation) throws(ToolError) {
        let (visits, asOf) = try list(.peopleVisits, invocation)
        let (x, y) = axes(invocation)
        let table = Table("ARRIVAL", "DEPARTURE", ">STAY", "PLACE", x, y, ">ACCURACY")
        let sentence = "There is no visit in that time."
        try invocation.show(visits, as: "visits", asOf: asOf, in: table, orElse: sentence) { (visit: VisitItem) in
            let stay = visit.departure.map { Timestamp($0).seconds(since: Timestamp(visit.arrival)) }
            let (first, second) = Text.coordinate(of: visit.at)
            return [
                time(visit.arrival, in: visit.timeZone),
                visit.departure.map { time($0, in: visit.timeZone) } ?? "still there",
                stay.map { LocalTime.duration(seconds: $0) } ?? "", visit.place ?? "", first, second,
                "± " + Text.meters(visit.horizontalAccuracy),
            ]
        }
    }

    private static func explain(_ invocation: Invocation) throws(ToolError) {
        let person = invocation.required(Options.person)
        let id = invocation.operands[0]
        let json = try reading(invocation) { client, query throws(ToolError) in
            try client.get(APIPath.peopleVisit.parts(person.text, id), query: query)
        }
        let answer = try json.read(ExplainedVisit.self)
        guard let visit = answer.visit else {
            let successor = answer.successor.map { " Visit \($0) has replaced it." } ?? ""
            throw .data("\(person.text) has no visit \(id), or no longer has it.\(successor)")
        }
        if invocation.has(Options.json) { return invocation.console.result(json.jsonLine) }
        var table = Table("EVENT", "WHEN", "TIME", ">OFF", ">ACCURACY", "")
        for (part, fixes) in [("before", answer.before), ("during", answer.during), ("after", answer.after)] {
            for fix in fixes ?? [] {
                table.add(
                    fix.number.text, part, time(fix.timestamp, in: visit.timeZone), Text.meters(fix.metersOff),
                    fix.horizontalAccuracy.map { "± " + Text.meters($0) } ?? "", fix.isUsed ? "" : "not used")
            }
        }
        invocation.console.line(
            "Rules of version \(answer.rules ?? 0); off is the distance from \(visit.place ?? "").")
        invocation.console.result(table.text.utf8)
    }

    private static func places(_ invocation: Invocation) throws(ToolError) {
        let (places, asOf) = try list(.peoplePlaces, invocation)
        let (x, y) = axes(invocation)
        let table = Table("PLACE", ">VISITS", ">DAYS", ">TIME", "LAST", x, y, "USUALLY")
        let sentence = "There is no visit in that time."
        try invocation.show(places, as: "places", asOf: asOf, in: table, orElse: sentence) { (place: PlaceItem) in
            let (first, second) = Text.coordinate(of: place.at)
            return [
                place.place ?? "", "\(place.visits)", "\(place.days)", LocalTime.duration(seconds: place.totalSeconds),
                time(place.lastArrival, in: place.timeZone), first, second, place.usualHours ?? "",
            ]
        }
    }

    private static func trips(_ invocation: Invocation) throws(ToolError) {
        let (trips, asOf) = try list(.peopleTrips, invocation)
        let table = Table("START", "END", ">TIME", "WAY", ">DISTANCE", "FROM", "TO")
        let sentence = "There is no trip in that time."
        try invocation.show(trips, as: "trips", asOf: asOf, in: table, orElse: sentence) { (trip: TripItem) in
            let confidence = trip.confidence.map { " (\(Int(($0 * 100).rounded())) %)" } ?? ""
            return [
                time(trip.start, in: trip.timeZone), time(trip.end, in: trip.timeZone),
                LocalTime.duration(seconds: trip.durationSeconds),
                trip.type == "gap" ? "no data" : (trip.mode ?? "") + confidence, Text.meters(trip.distanceMeters),
                trip.from?.place ?? "", trip.to?.place ?? "",
            ]
        }
    }

    private static func crossings(_ invocation: Invocation) throws(ToolError) {
        let (crossings, asOf) = try list(.peopleCrossings, invocation)
        let table = Table("TIME", "CROSSING", "REGION", "REPORTED", ">STAYED")
        let sentence = "There is no crossing in that time."
        try invocation.show(crossings, as: "crossings", asOf: asOf, in: table, orElse: sentence) {
            (crossing: CrossingItem) in
            [
                time(crossing.time), crossing.type, crossing.region, time(crossing.reported),
                crossing.dwellSeconds.map { LocalTime.duration(seconds: $0) } ?? "",
            ]
        }
    }

    /// The rows that the service derives, or those of opened envelopes.
    private static func list(_ path: APIPath, _ invocation: Invocation) throws(ToolError) -> ([JSONValue], String?) {
        let person = invocation.required(Options.person)
        if let file = invocation[SealedReads.option] {
            let hasCRS = invocation.takes(crs) && invocation[crs] != nil
            guard !hasCRS, invocation[PastAnswer.option] == nil else {
                throw .usage("--crs and --as-of are not for --open-with: the service cannot compute them.")
            }
            return (try SealedReads(file, of: person, invocation).items(of: path), nil)
        }
        return try reading(invocation) { client, query throws(ToolError) in
            var items: [JSONValue] = []
            let asOf = try client.pages(path.parts(person.text), query: query) {
                items.append(contentsOf: $0)
            }
            if let past = invocation[PastAnswer.option], !invocation.has(Options.json) {
                let now = try client.items(path.parts(person.text), query: query.filter { $0.name != past.name })
                invocation.console.note(PastAnswer.comparison(items, now))
            }
            return (items, asOf)
        }
    }
}
