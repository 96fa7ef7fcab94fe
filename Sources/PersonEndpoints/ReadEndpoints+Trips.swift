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

/// The trips between a person's visits, and the gaps without data. Computed for each read from the timeline, so that
/// they follow every change of it.
extension ReadEndpoints {
    /// The visits between which one page's trips are.
    private static let visitsPerPage: Int64 = 200
    /// The fixes read between two visits: a day with one each second.
    private static let fixesPerTrip = 90_000
    /// A trip that began longer than this before the range is cut there.
    private static let reachSeconds: Int64 = 2 * 86_400

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
            let corrections = decisions.corrections(of: reading.permit.subject)
            let now = reading.now
            let (found, asOf) = try context.read(TimelineTable.name) { (connection) throws(SQLiteError) -> Found in
                try Self.waysAndGaps(of: permit, from: from, to: range.to, corrections, context, now, in: connection)
            }
            let languages = exchange.languages(context)
            let next = found.next.map { Cursor.text($0, reading) }
            return PageWriter.page(found.trips, next: next, asOf: asOf, reading.references, in: form) { trip in
                func end(_ coordinate: Coordinate) -> TripEndItem {
                    let name = Self.placeName(at: coordinate, corrections, reading.permit, context, languages)
                    return TripEndItem(at: MapPoint(coordinate), place: name)
                }
                return TripItem(
                    type: trip.way == nil ? "gap" : "trip", start: Moment(trip.start), end: Moment(trip.end),
                    durationSeconds: trip.end.seconds(since: trip.start), from: end(trip.from), to: end(trip.to),
                    distanceMeters: trip.way?.distanceMeters, mode: trip.way?.mode.word,
                    confidence: trip.way?.confidence, fixes: trip.way?.fixes,
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
    ///
    /// Before the first visit and after the last one, a trip is followed at most ``reachSeconds`` beyond the range.
    ///
    /// A trip during which the permit hides fixes is derived from the others, and may become a gap.
    ///
    /// - Parameters:
    ///   - from: The beginning of the range; `nil` for the first visit.
    ///   - now: A visit that still lasts ends there.
    static func waysAndGaps(
        of permit: Permit, from: Timestamp?, to: Timestamp?, _ corrections: VisitCorrections, _ context: AnswerContext,
        _ now: Timestamp, in connection: borrowing Connection
    ) throws(SQLiteError) -> Found {
        // The permit hides everything before its beginning, also the end of an earlier visit.
        let reach = from.map {
            max($0.adding(seconds: -Self.reachSeconds), permit.notBefore ?? $0.adding(seconds: -Self.reachSeconds))
        }
        // A hidden visit counts as little as one that was never reported.
        let (visits, pageEnd) = try Self.shown(Self.visitsPerPage, after: nil, key: \Visit.arrival) {
            permit.shows(from: $0.arrival, to: $0.departure ?? now)
        } fetch: { (after, count) throws(SQLiteError) in
            try TimelineReader.visits(
                of: permit.subject, from: reach, to: to.map { $0.adding(seconds: Self.reachSeconds) },
                arrivingAfter: after,
                limit: count, at: now, corrected: corrections, context.geocentric, in: connection)
        }
        var found: [Trip] = []
        for index in 0...visits.count {
            let departed = index > 0 ? visits[index - 1] : nil
            let arrived = index < visits.count ? visits[index] : nil
            // A full page is followed by the next one, and a visit that has not ended by nothing.
            if arrived == nil, pageEnd != nil { break }
            if let departed, departed.departure == nil { break }
            let begin = departed?.departure ?? reach
            let end = arrived?.arrival ?? to.map { $0.adding(seconds: Self.reachSeconds) }
            if let begin, let to, begin >= to { break }
            if let end, let from, end <= from { continue }
            let fixes = try TimelineReader.followedFixes(
                of: permit.subject, from: begin, to: end, limit: Self.fixesPerTrip, in: connection)
            let stored = fixes.filter { permit.shows($0.fix.timestamp) }.map(\.stored)
            let departure = departed.flatMap { visit in
                visit.departure.map {
                    TripDerivation.Stop(
                        time: $0, coordinate: visit.coordinate, horizontalAccuracy: visit.horizontalAccuracy)
                }
            }
            let arrival = arrived.map {
                TripDerivation.Stop(
                    time: $0.arrival, coordinate: $0.coordinate, horizontalAccuracy: $0.horizontalAccuracy)
            }
            found += TripDerivation.trips(from: departure, to: arrival, fixes: stored)
        }
        let trips = TripDerivation.inContext(found).filter { trip in
            (from.map { trip.end > $0 } ?? true) && (to.map { trip.start < $0 } ?? true)
        }
        return Found(trips: trips, next: pageEnd)
    }
}
