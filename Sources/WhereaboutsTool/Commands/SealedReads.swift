import Answers
import Gazetteer
import JSON
import Log
import OpenedEnvelopes
import Replies
import Service
import Whereabouts
import WhereaboutsClient

/// The reads of a person whose phone seals: envelopes are fetched and opened here, and shown as for other people.
struct SealedReads {
    /// `--open-with`.
    static let option = Options.text(
        "open-with", "KEYFILE", help: "fetch envelopes and open them here, with the keys that \"key add\" made")
    static let help = """
        With --open-with, the answer is made on this computer from the person's envelopes: the service cannot read them. The
        signatures are checked with the identity key that "key pin" accepted. Names of places are those of the gazetteer on this
        computer.
        """
    /// The help of commands whose answers are derived.
    static let derivedHelp = """
        \(help)
        The person's corrections and own names of places apply for the person and the operator; the service tells them to nobody
        else.
        """

    private let opener: EnvelopeOpener
    private let geocoder: Geocoder?
    private let invocation: Invocation

    /// - Throws: ``ToolError/data(_:)`` if the file cannot be used, or has no identity key of the person, or if the
    ///   gazetteer on this computer is damaged.
    init(_ path: String, of subject: Handle, _ invocation: Invocation) throws(ToolError) {
        (opener, geocoder, self.invocation) = (
            try Self.opener(path, of: subject), try Self.geocoder(invocation), invocation
        )
    }

    static func opener(_ path: String, of subject: Handle) throws(ToolError) -> EnvelopeOpener {
        let file = try KeyCommands.file(path)
        do throws(OpeningError) { return try EnvelopeOpener(file, of: subject) } catch {
            throw .data("\(path): \(error.description)")
        }
    }

    /// Runs `body` with the person's envelopes, as the requested reader.
    private func reading<Value>(
        _ body: (OpenedPerson, _ query: [(name: String, value: String)]) throws(ClientError) -> Value
    ) throws(ToolError) -> Value {
        try ReadCommands.reading(invocation) { client, query throws(ToolError) in
            // The range is extended, because the keys of a range may have been sealed before it.
            let kept = query.filter { $0.name != "from" && $0.name != "to" }
            let person = OpenedPerson(client: client.service, opener: opener)
            return try client.told { () throws(ClientError) in try body(person, kept) }
        }
    }

    /// The fixes that this computer can open, in a range.
    private func fixes(from: Timestamp?, to: Timestamp?) throws(ToolError) -> [OpenedFix] {
        let opened = try reading { person, query throws(ClientError) in
            try person.fixes(from: from, to: to, query: query)
        }
        if opened.closed > 0 {
            invocation.console.note("\(opened.closed) envelopes are not sealed for a key of this file.")
        }
        return opened.fixes
    }

    /// The answers derived from all fixes that can be opened: what a visit is depends on the fixes before it.
    ///
    /// - Parameter list: What is derived.
    private func timeline(for list: APIPath) throws(ToolError) -> LocalTimeline {
        guard invocation[ReadCommands.day] == nil else {
            throw .usage("--day is not for --open-with: give --from and --to.")
        }
        let fixes = try fixes(from: nil, to: nil)
        let regions = list == .peopleCrossings ? try regions() : []
        return LocalTimeline(
            of: fixes, regions: regions, corrections: try corrections(), places: LocalPlaces(geocoder),
            at: .now)
    }

    private static func opened<Value>(_ body: () throws(OpeningError) -> Value) throws(ToolError) -> Value {
        do throws(OpeningError) { return try body() } catch { throw .data(error.description) }
    }

    /// The person's regions, which only the person and the operator may read.
    private func regions() throws(ToolError) -> [Region] {
        let items = try settings(RegionItem.self, .peopleRegions)
        return try Self.opened { () throws(OpeningError) in
            try items.map { (item) throws(OpeningError) in try Region(item) }
        }
    }

    /// The person's corrections; none for another reader, to whom the service does not tell them.
    private func corrections() throws(ToolError) -> [Correction] {
        guard invocation[ReadCommands.reader].map({ $0 == opener.subject }) ?? true else { return [] }
        let items = try settings(CorrectionItem.self, .peopleCorrections)
        return try Self.opened { () throws(OpeningError) in
            try items.map { (item) throws(OpeningError) in try Correction(item) }
        }
    }

    /// What the person has set, as the person or the operator reads it.
    private func settings<Item: Reply>(_ type: Item.Type, _ path: APIPath) throws(ToolError) -> [Item] {
        try House.withClient(invocation) { client throws(ToolError) in
            var reader = client
            if invocation[ReadCommands.reader] == opener.subject {
                reader = try client.acting(
                    as: opener.subject, scopes: ["query", "manage"], seconds: AskCommand.tokenSeconds)
            }
            reader.service.receipts = .notKept
            return try reader.all(type, path.parts(opener.subject.text))
        }
    }

    /// The gazetteer on this computer, with the languages that were asked for; `nil` without one.
    ///
    /// - Throws: ``ToolError/data(_:)`` for a damaged one.
    static func geocoder(_ invocation: Invocation) throws(ToolError) -> Geocoder? {
        guard GazetteerLocation.find() != nil else { return nil }
        return try Geocoder(languages: invocation.takes(Options.languages) ? invocation[Options.languages] : nil)
    }

    // MARK: Commands

    /// `location --open-with`: the newest fix that can be opened, of the last month or else of all time.
    func location() throws(ToolError) {
        let newest = try reading { person, query throws(ClientError) in
            try person.newestFix(at: .now, query: query)
        }
        let location = newest.map { LocationItem($0, place: geocoder?.placemark(of: $0)) }
        if invocation.has(Options.json) {
            var writer = JSONWriter()
            writer.beginObject()
            writer.key("location")
            if let location { writer.raw(location.bytes) } else { writer.null() }
            writer.endObject()
            return invocation.console.result(writer.bytes + [UInt8(ascii: "\n")])
        }
        guard let location else {
            return invocation.console.note("\(opener.subject.text) has no location that this file opens.")
        }
        invocation.console.line(LocationText(location: location, now: .now).lines)
    }

    /// `track --open-with`.
    func track() throws(ToolError) {
        guard invocation[ReadCommands.day] == nil else {
            throw .usage("--day is not for --open-with: give --from and --to.")
        }
        let points = try fixes(from: invocation[Options.from], to: invocation[Options.to]).map { TrackPoint($0) }
        if invocation.has(Options.json) {
            var writer = JSONWriter()
            writer.beginObject()
            writer.array("fixes") { array in for point in points { array.raw(point.bytes) } }
            writer.endObject()
            return invocation.console.result(writer.bytes + [UInt8(ascii: "\n")])
        }
        guard !points.isEmpty else { return invocation.console.note("\(opener.subject.text) has no fix in that time.") }
        var table = Table("TIME", ">LATITUDE", ">LONGITUDE", ">ACCURACY", ">SPEED", "DEVICE", "")
        for point in points { table.add(ReadCommands.cells(of: point)) }
        invocation.console.result(table.text.utf8)
    }

    /// The items of `visits`, `trips`, `crossings` or `places` with `--open-with`.
    func items(of list: APIPath) throws(ToolError) -> [JSONValue] {
        let (from, to) = (invocation[Options.from], invocation[Options.to])
        let timeline = try timeline(for: list)
        return switch list {
        case .peopleVisits: Self.json(timeline.visits(from: from, to: to))
        case .peopleTrips: Self.json(timeline.trips(from: from, to: to))
        case .peopleCrossings: Self.json(timeline.crossings(from: from, to: to))
        default: Self.json(timeline.places(from: from, to: to))
        }
    }

    private static func json(_ items: [some Reply]) -> [JSONValue] {
        items.compactMap { (try? JSONDocument.parse($0.bytes))?.root }
    }
}

extension Geocoder {
    /// The place of a fix that was opened here, as a grant of its precision shows it.
    func placemark(of opened: OpenedFix) -> PlacemarkItem {
        let found = placemark(at: opened.fix.coordinate, accuracyMeters: opened.fix.horizontalAccuracy)
        return PlacemarkItem(ofPerson: found.shown(at: opened.precision))
    }
}

extension LocalPlaces {
    /// Names and time zones by the gazetteer on this computer; none without one.
    init(_ geocoder: Geocoder?) {
        guard let geocoder else {
            self = .unknown
            return
        }
        let zones = TimeZoneDatabase()
        self.init(
            name: { geocoder.placemark(at: $0).shortAddress }, timeZone: { geocoder.gazetteer.timeZone(at: $0) },
            rules: { zones.rules($0, from: $1, to: $2) })
    }
}
