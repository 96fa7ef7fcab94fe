import Answers
import Geodesy
import HTTPInterface
import HTTPServer
import Log
import Projections
import Replies
import SQLite
import Tables
import Whereabouts
import WireFormats

/// The fixes that a person's devices reported, by time.
extension ReadEndpoints {
    /// A day with a fix every thirty seconds. The page has about 750 kB, which a slow reader keeps in memory.
    static let fixesPerPage: Int64 = 3000
    /// The longest `distanceFilter`, in meters.
    ///
    /// Longer than any filter of an app, and short enough for a whole number of meters.
    static let mostFilterMeters: Int64 = 100_000

    /// A fix of the track and its anomaly, if it has one.
    /// For example `spike`, a jump away and back.
    struct Marked {
        let row: FixRow
        let fix: StoredFix
        var anomaly: Anomaly?
    }

    /// `GET /v1/people/*/track`: the fixes of all devices in the range, by time.
    ///
    /// With `distanceFilter=M`, only fixes at least M meters from the last shown one, and no anomalies; the filter
    /// continues across pages. `anomaly` names the defect of a fix; folds ignore such fixes.
    ///
    /// Recorded with the question `track`, one record for each page. Heights that the device did not report are
    /// computed from the other one with the geoid, unless `heights=reported`.
    ///
    /// - Throws: 400 for a wrong parameter, 422 for `zoom` without `form` and for a cursor that this caller was not
    ///   given.
    package func track(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        switch exchange.request.parameter("form") {
        case "points": return try trackPoints(exchange, context)
        case nil: break
        default: throw .invalid("\"form\" must be points, or absent.")
        }
        guard exchange.request.parameter("zoom") == nil else {
            throw .refused("\"zoom\" is allowed only together with \"form\".")
        }
        let limit = try exchange.integer("limit", in: 1...Self.fixesPerPage, default: Self.fixesPerPage)
        let after = try Cursor(exchange, decisions)?.fix()
        let meters = try exchange.integer("distanceFilter", in: 0...Self.mostFilterMeters, default: 0)
        let computesHeights = try Self.computesHeights(exchange)
        return try views.readPlaces(exchange, context, .track, from: TimelineTable.name) {
            (reading, form) throws(Problem) in
            let range = try Self.range(reading)
            let permit = reading.permit
            // The distance filter continues from the last fix of the page before.
            var filter = DistanceFilter(meters: Double(meters))
            if let after, let last = try? Coordinate(latitude: after.latitude, longitude: after.longitude) {
                _ = filter.keeps(last)
            }
            // Neighboring fixes are usually of the same device.
            var last: (device: DeviceID, handle: String?)?
            func handle(of device: DeviceID) -> String? {
                if let last, last.device == device { return last.handle }
                let handle = decisions.log.withStanding { $0.devices[device]?.handle?.text }
                last = (device, handle)
                return handle
            }
            func item(of marked: Marked) throws(SQLiteError) -> FixItem {
                var item = FixItem(try marked.row.fix)
                if computesHeights {
                    context.addMissingHeight(&item.altitude, &item.ellipsoidalAltitude, at: marked.fix.coordinate)
                }
                return item
            }
            var page = PageWriter(rows: Int(limit), form)
            let (end, asOf) = try context.read(TimelineTable.name) { (connection) throws(SQLiteError) in
                try ShownRows.each(
                    upTo: limit, after: after, atOnce: Self.rowsPerPage, key: { TimelineReader.FixKey($0.row) }
                ) { marked in
                    permit.shows(marked.fix.timestamp)
                        && (meters == 0 || (marked.anomaly == nil && filter.keeps(marked.fix.coordinate)))
                } fetch: { (after, count) throws(SQLiteError) in
                    try Self.marked(
                        of: permit, from: range.from, to: range.to, after: after, limit: count, context, in: connection)
                } take: { (marked) throws(SQLiteError) in
                    page.add(
                        TrackPoint(
                            fix: try item(of: marked), device: handle(of: marked.row.device),
                            number: reading.references.event(marked.row.number), anomaly: marked.anomaly?.word))
                }
            }
            return page.ended(next: end.map { Cursor.text($0, reading) }, asOf: asOf, reading.references)
        }
    }

    /// Whether a height that the device did not report is computed from the other, by `heights`.
    ///
    /// - Throws: 400 for another word.
    private static func computesHeights(_ exchange: Exchange) throws(Problem) -> Bool {
        switch exchange.request.parameter("heights") {
        case nil, "both": return true
        case "reported": return false
        default: throw .invalid("\"heights\" must be both or reported.")
        }
    }

    /// Fixes as ``TimelineReader/fixes(of:from:to:after:limit:in:)`` reads them, each with its anomaly among its neighbors,
    /// including one neighbor before and after them. Hidden neighbors are ignored.
    ///
    /// Cost: two searches in addition to the rows.
    static func marked(
        of permit: Permit, from: Timestamp?, to: Timestamp?, after: TimelineReader.FixKey?, limit: Int,
        _ context: AnswerContext, in connection: borrowing Connection
    ) throws(SQLiteError) -> [Marked] {
        var marked: [Marked] = []
        marked.reserveCapacity(limit)
        try TimelineReader.eachRow(of: permit.subject, from: from, to: to, after: after, limit: limit, in: connection) {
            (row) throws(SQLiteError) in
            marked.append(Marked(row: row, fix: try row.stored, anomaly: nil))
        }
        guard let first = marked.first?.fix, let last = marked.last?.fix else { return [] }
        let transform = context.geocentric
        let before = try TimelineReader.latestFix(
            of: permit.subject, atOrBefore: Timestamp(milliseconds: first.timestamp.milliseconds - 1),
            in: connection)
        let after = try TimelineReader.fixes(
            of: permit.subject, from: Timestamp(milliseconds: last.timestamp.milliseconds + 1), to: nil, limit: 1,
            in: connection
        ).first
        func seen(_ neighbour: ReportedFix?) -> StoredFix? {
            neighbour.flatMap { permit.shows($0.fix) ? $0.stored : nil }
        }
        let marks = Anomaly.marks(of: marked.map(\.fix), between: seen(before), and: seen(after), transform)
        for index in marks.indices { marked[index].anomaly = marks[index] }
        return marked
    }
}
