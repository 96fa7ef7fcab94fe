import Answers
import Envelopes
import Geodesy
import JSON
import Log
import Replies
import Whereabouts
import WireFormats

/// The reads of a person whose phone seals: envelopes are fetched and opened here, and shown as for other people.
enum SealedReads {
    /// A period lasts a day, and its key is listed at its beginning.
    private static let periodSeconds: Int64 = 86_400 + TimeBucket.seconds

    /// The fixes that this computer can open, in a range.
    static func fixes(
        _ opener: EnvelopeOpener, from: Timestamp?, to: Timestamp?, _ invocation: Invocation
    ) throws(ToolError) -> [EnvelopeOpener.OpenedFix] {
        let items = try ReadCommands.reading(invocation) { client, query throws(ToolError) in
            // The keys of the range may have been sealed before it.
            let kept = query.filter { $0.name != "from" && $0.name != "to" }
            func seconds(_ time: Timestamp) -> String { "\(time.milliseconds / 1000)" }
            let range =
                (from.map { [("from", seconds($0.adding(seconds: -periodSeconds)))] } ?? [])
                + (to.map { [("to", seconds($0.adding(seconds: 1)))] } ?? [])
            return try client.all(
                EnvelopeItem.self, APIPath.peopleEnvelopes.parts(opener.subject.text),
                query: kept + range.map { (name: $0.0, value: $0.1) })
        }
        let (fixes, closed) = try opener.fixes(in: items)
        if closed > 0 {
            invocation.console.note("\(closed) envelopes are not sealed for a key of this file.")
        }
        return fixes.filter { opened in
            (from.map { $0 <= opened.fix.timestamp } ?? true) && (to.map { opened.fix.timestamp < $0 } ?? true)
        }
    }

    /// `location --open-with`: the newest fix that can be opened, of the last month or else of all time.
    static func location(_ opener: EnvelopeOpener, _ invocation: Invocation) throws(ToolError) {
        let recent = try fixes(opener, from: Timestamp.now.adding(seconds: -30 * 86_400), to: nil, invocation)
        let all = recent.isEmpty ? try fixes(opener, from: nil, to: nil, invocation) : recent
        let location = all.last.map { LocationItem($0) }
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

    /// `visits --open-with`: folded here, from all fixes that can be opened, as the service folds an import.
    static func visits(_ opener: EnvelopeOpener, _ invocation: Invocation) throws(ToolError) -> [JSONValue] {
        guard invocation[ReadCommands.day] == nil else {
            throw .usage("--day is not for --open-with: give --from and --to.")
        }
        let (from, to) = (invocation[Options.from], invocation[Options.to])
        // What a visit is depends on the fixes before it, so all are needed.
        let fixes = try fixes(opener, from: nil, to: nil, invocation)
        let visits = try LocalTimeline.visits(of: fixes.map { ($0.device, $0.fix) }, at: .now).filter { visit in
            (to.map { visit.arrival < $0 } ?? true)
                && (from.flatMap { from in visit.departure.map { $0 > from } } ?? true)
        }
        var items: [JSONValue] = []
        for visit in visits {
            let item = VisitItem(
                id: visit.id.hexadecimal, arrival: Moment(visit.arrival), departure: visit.departure.map { Moment($0) },
                at: .degrees(latitude: visit.coordinate.latitude, longitude: visit.coordinate.longitude),
                horizontalAccuracy: visit.horizontalAccuracy, firstReported: Moment(visit.firstReported),
                departureReported: visit.departureReported.map { Moment($0) },
                isProvisional: visit.isProvisional ? true : nil)
            guard let value = (try? JSONDocument.parse(item.bytes))?.root else { continue }
            items.append(value)
        }
        return items
    }

    /// `track --open-with`.
    static func track(_ opener: EnvelopeOpener, _ invocation: Invocation) throws(ToolError) {
        guard invocation[ReadCommands.day] == nil else {
            throw .usage("--day is not for --open-with: give --from and --to.")
        }
        let fixes = try fixes(opener, from: invocation[Options.from], to: invocation[Options.to], invocation)
        let points = fixes.map {
            TrackPoint(fix: FixItem($0.fix), device: $0.device, number: $0.number)
        }
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
}
