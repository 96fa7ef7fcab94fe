import Answers
import HTTPInterface
import HTTPServer
import Projections
import SQLite
import Tables
import Whereabouts

/// The track as a map draws it: thinned by zoom, without the fixes that an anomaly marks, in one answer.
extension ReadEndpoints {
    /// The fixes that one answer looks at. A phone that reports every ten seconds makes as many in four months.
    static let trackFixesMax: Int64 = 1_000_000

    /// `GET /v1/people/*/track?form=points`: permitted, cut and recorded as any other read of the track.
    ///
    /// The bytes are those of ``TrackPoints``. `count` in the record is the number of fixes looked at, not of points
    /// drawn.
    ///
    /// - Throws: 422 for a parameter of the other forms, and for more than ``trackFixesMax`` fixes.
    func trackPoints(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        for name in ["after", "limit", "crs", "format", "distanceFilter"] where exchange.request.parameter(name) != nil
        {
            throw .refused("\"\(name)\" is not allowed together with \"form\".")
        }
        let zoom = Int(try exchange.integer("zoom", in: 0...22, default: 22))
        return try views.read(exchange, context, .track, from: TimelineTable.name) { (reading) throws(Problem) in
            let range = try Self.range(reading)
            let permit = reading.permit
            var points = TrackPoints(zoom: zoom)
            let (end, asOf) = try context.read(TimelineTable.name) { (connection) throws(SQLiteError) in
                try ShownRows.each(
                    upTo: Self.trackFixesMax, after: nil, atOnce: Self.rowsPerPage,
                    key: { TimelineReader.FixKey($0.row) }
                ) {
                    permit.shows($0.fix.timestamp)
                } fetch: { (after, count) throws(SQLiteError) in
                    try Self.marked(
                        of: permit, from: range.from, to: range.to, after: after, limit: count, context, in: connection)
                } take: { (marked) throws(SQLiteError) in
                    points.add(marked.fix, isOutlier: marked.anomaly != nil)
                }
            }
            guard end == nil else {
                throw .refused("There are more than \(Self.trackFixesMax) fixes in this time; give a shorter range.")
            }
            return Gate.Computed(
                body: points.bytes, count: points.total, asOf: asOf,
                headers: [("Content-Type", TrackPoints.mediaType)])
        }
    }
}
