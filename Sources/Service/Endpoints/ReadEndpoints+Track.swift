import Geodesy
import HTTPServer
import JSON
import SQLite
import Whereabouts
import WireFormats

/// What a person's devices reported, in the order of its time.
extension ReadEndpoints {
    static let mostFilterMeters: Int64 = 100_000

    private struct Marked {
        let reported: ReportedFix
        let anomaly: Anomaly?
    }

    static func track(
        _ service: Service, _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let limit = Int(try exchange.integer("limit", in: 1...rowsPerPage, default: rowsPerPage))
        let after = try Cursor(exchange)?.fix()
        let meters = try exchange.integer("distanceFilter", in: 0...mostFilterMeters, default: 0)
        return try readPlaces(service, exchange, context, .track, from: TimelineTable.name) {
            (reading) throws(Problem) in
            let range = try range(reading)
            let permit = reading.permit
            // A page goes on from the last fix that was kept.
            var filter = DistanceFilter(meters: Double(meters))
            if let after, let last = try? Coordinate(latitude: after.latitude, longitude: after.longitude) {
                _ = filter.keeps(last)
            }
            let (fixes, asOf) = try context.read(TimelineTable.name) { (connection) throws(SQLiteError) in
                return try shownPage(limit, after: after, key: { TimelineReader.FixKey($0.reported) }) { marked in
                    permit.shows(marked.reported.fix.timestamp)
                        && (meters == 0
                            || (marked.anomaly == nil && filter.keeps(marked.reported.fix.coordinate)))
                } fetch: { (after) throws(SQLiteError) in
                    try marked(
                        try TimelineReader.fixes(
                            of: permit.subject, from: range.from, to: range.to, after: after, limit: limit,
                            in: connection), of: permit, context, in: connection)
                }
            }
            let handles = service.log.withStanding { standing in
                Dictionary(Set(fixes.map(\.reported.device)).map { ($0, standing.devices[$0]?.handle?.text) }) { a, _ in
                    a
                }
            }
            let next =
                fixes.count == limit
                ? fixes.last.map { Cursor.text(TimelineReader.FixKey($0.reported), reading) } : nil
            return page(fixes, next: next, asOf: asOf) { marked, writer in
                writer.beginObject()
                FixJSON.writeMembers(of: marked.reported.fix, into: &writer)
                writer.field("device", handles[marked.reported.device] ?? nil)
                writer.field("number", marked.reported.number)
                writer.field("anomaly", marked.anomaly?.word)
                writer.endObject()
            }
        }
    }

    /// What is wrong with each of some neighbouring fixes. A neighbour that may not be shown has no say.
    private static func marked(
        _ fixes: [ReportedFix], of permit: Permit, _ context: AnswerContext, in connection: borrowing Connection
    ) throws(SQLiteError) -> [Marked] {
        guard let first = fixes.first, let last = fixes.last, let transform = context.geocentric else {
            return fixes.map { Marked(reported: $0, anomaly: nil) }
        }
        let before = try TimelineReader.latestFix(
            of: permit.subject, atOrBefore: Timestamp(milliseconds: first.fix.timestamp.milliseconds - 1),
            in: connection)
        let after = try TimelineReader.fixes(
            of: permit.subject, from: Timestamp(milliseconds: last.fix.timestamp.milliseconds + 1), to: nil, limit: 1,
            in: connection
        ).first
        func seen(_ neighbour: ReportedFix?) -> StoredFix? {
            neighbour.flatMap { permit.shows($0.fix.timestamp) ? $0.stored : nil }
        }
        let marks = Anomaly.marks(of: fixes.map(\.stored), between: seen(before), and: seen(after), transform)
        return zip(fixes, marks).map { Marked(reported: $0, anomaly: $1) }
    }
}
