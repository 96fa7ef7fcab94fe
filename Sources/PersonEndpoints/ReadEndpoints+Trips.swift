import Answers
import Gazetteer
import Geodesy
import HTTPInterface
import HTTPServer
import Projections
import Replies
import SQLite
import Tables
import Whereabouts
import WireFormats

/// The trips between a person's visits, and the gaps without data. Computed for each read from the timeline, so that
/// they follow every change of it.
extension ReadEndpoints {
    /// The visits between which one page's trips are.
    private static let visitsPerPage: Int64 = 200

    /// `GET /v1/people/*/trips`: the trips and gaps that overlap the range, by time.
    ///
    /// A trip has `distanceMeters`, `mode`, its `confidence` from 0 to 1, and `fixes`; a gap has none of them. Only
    /// fixes of the leading device count.
    ///
    /// Recorded with the question `trips`. A page has the trips between at most ``visitsPerPage`` visits, so it may
    /// be empty and still have a `next`.
    package func trips(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        let after = try Cursor(exchange, decisions)?.arrival()
        return try views.readPlaces(exchange, context, .trips, from: TimelineTable.name) {
            (reading, form) throws(Problem) in
            let permit = reading.permit
            let range = try Self.range(reading)
            let from = after.map { max(range.from ?? $0, $0) } ?? range.from
            let corrections = context.corrections(of: reading.permit.subject, decisions)
            let now = reading.now
            let (found, asOf) = try context.read(TimelineTable.name) { (connection) throws(SQLiteError) -> Found in
                try Self.waysAndGaps(of: permit, from: from, to: range.to, corrections, context, now, in: connection)
            }
            let languages = exchange.languages(context)
            let next = found.next.map { Cursor.text($0, reading) }
            return PageWriter.page(found.trips, next: next, asOf: asOf, reading.references, in: form) { trip in
                TripItem(
                    trip,
                    name: { Self.placeName(at: $0, corrections, reading.permit, context, languages) },
                    timeZone: context.timeZone(at: trip.from))
            }
        }
    }

    /// The trips and gaps of one page.
    /// Trips without a way are gaps.
    package struct Found {
        /// By time.
        package let trips: [Trip]
        /// The arrival of the last visit of this page, where the next page begins; `nil` on the last page.
        package let next: Timestamp?
    }

    /// The trips and gaps that overlap the range, by time.
    static func waysAndGaps(
        of permit: Permit, from: Timestamp?, to: Timestamp?, _ corrections: VisitCorrections, _ context: AnswerContext,
        _ now: Timestamp, in connection: borrowing Connection
    ) throws(SQLiteError) -> Found {
        let search = TripSearch(permit, from: from, to: to)
        let (visits, pageEnd) = try ShownRows.page(
            upTo: Self.visitsPerPage, after: nil, atOnce: Self.rowsPerPage, key: \Visit.arrival
        ) {
            permit.shows($0, at: now)
        } fetch: { (after, count) throws(SQLiteError) in
            try TimelineReader.visits(
                of: permit.subject, from: search.reach.from, to: search.reach.to, arrivingAfter: after, limit: count,
                at: now, corrected: corrections, context.geocentric, in: connection)
        }
        var found: [Trip] = []
        for stretch in search.stretches(between: visits, isLastPage: pageEnd == nil) {
            let fixes = try TimelineReader.followedFixes(
                of: permit.subject, from: stretch.from, to: stretch.to, limit: TripSearch.fixesMax, in: connection)
            found += search.trips(of: stretch, fixes: fixes.map(\.stored))
        }
        return Found(trips: search.inRange(found), next: pageEnd)
    }
}
