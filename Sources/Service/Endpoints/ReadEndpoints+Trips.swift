import Gazetteer
import Geodesy
import HTTPServer
import JSON
import SQLite
import Whereabouts

/// The ways between a person's visits, and the times without data. Made at reading time from what the timeline holds, so
/// that they follow every change of it.
extension ReadEndpoints {
    /// Visits that one page lies between.
    private static let visitsPerPage: Int64 = 200
    /// More fixes than this between two visits are not read: a day of one a second.
    private static let fixesPerTrip = 90_000
    /// A way that began longer than this before the range is told from there.
    private static let reachSeconds: Int64 = 2 * 86_400

    static func trips(
        _ service: Service, _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let after = try Cursor(exchange, service)?.arrival()
        return try readPlaces(service, exchange, context, .trips, from: TimelineTable.name) {
            (reading) throws(Problem) in
            let permit = reading.permit
            let range = try Self.range(reading)
            let from = after.map { max(range.from ?? $0, $0) } ?? range.from
            let corrections = Self.corrections(reading, service)
            let now = reading.now
            let (found, asOf) = try context.read(TimelineTable.name) { (connection) throws(SQLiteError) -> Found in
                try waysAndGaps(of: permit, from: from, to: range.to, corrections, context, now, in: connection)
            }
            let languages = exchange.languages(context)
            let next = found.next.map { Cursor.text($0, reading) }
            return page(found.trips, next: next, asOf: asOf, reading.references) { trip, writer in
                writer.beginObject()
                writer.field("type", trip.way == nil ? "gap" : "trip")
                writer.field("start", milliseconds: trip.start.milliseconds)
                writer.field("end", milliseconds: trip.end.milliseconds)
                writer.field("durationSeconds", trip.end.seconds(since: trip.start))
                for (key, coordinate) in [("from", trip.from), ("to", trip.to)] {
                    writer.object(key) { writer in
                        writer.field("latitude", coordinate.latitude)
                        writer.field("longitude", coordinate.longitude)
                        let name = placeName(at: coordinate, corrections, reading.permit, context, languages)
                        writer.field("place", name)
                    }
                }
                if let way = trip.way {
                    writer.field("distanceMeters", way.distanceMeters)
                    writer.field("mode", way.mode.word)
                    writer.field("confidence", way.confidence)
                    writer.field("fixes", way.fixes)
                }
                writer.field("timeZone", context.timeZone(at: trip.from))
                writer.endObject()
            }
        }
    }

    struct Found {
        let trips: [Trip]
        /// Where the next page begins.
        let next: Timestamp?
    }

    /// What overlaps the range, in the order of time.
    static func waysAndGaps(
        of permit: Permit, from: Timestamp?, to: Timestamp?, _ corrections: VisitCorrections, _ context: AnswerContext,
        _ now: Timestamp, in connection: borrowing Connection
    ) throws(SQLiteError) -> Found {
        // Nothing from before the grant may be shown, be it only the end of a visit.
        let reach = from.map {
            max($0.adding(seconds: -reachSeconds), permit.notBefore ?? $0.adding(seconds: -reachSeconds))
        }
        // What may not be shown is as unknown here as what was never reported.
        let (visits, pageEnd) = try shown(visitsPerPage, after: nil, key: \Visit.arrival) {
            permit.shows(from: $0.arrival, to: $0.departure ?? now)
        } fetch: { (after, count) throws(SQLiteError) in
            try TimelineReader.visits(
                of: permit.subject, from: reach, to: to.map { $0.adding(seconds: reachSeconds) }, arrivingAfter: after,
                limit: count, at: now, corrected: corrections, context.geocentric, in: connection)
        }
        var found: [Trip] = []
        for index in 0...visits.count {
            let departed = index > 0 ? visits[index - 1] : nil
            let arrived = index < visits.count ? visits[index] : nil
            // After the last visit of a full page comes the next page; after one that goes on, nothing.
            if arrived == nil, pageEnd != nil { break }
            if let departed, departed.departure == nil { break }
            let begin = departed?.departure ?? reach
            let end = arrived?.arrival ?? to.map { $0.adding(seconds: reachSeconds) }
            if let begin, let to, begin >= to { break }
            if let end, let from, end <= from { continue }
            let fixes = try TimelineReader.followedFixes(
                of: permit.subject, from: begin, to: end, limit: fixesPerTrip, in: connection)
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
