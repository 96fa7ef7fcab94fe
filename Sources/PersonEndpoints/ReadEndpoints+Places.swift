import Answers
import Geodesy
import HTTPInterface
import HTTPServer
import Projections
import Replies
import SQLite
import Tables
import Whereabouts

/// The places that a person has visited. Computed for each read from all visits that may be shown, so that they follow
/// every change of the visits.
extension ReadEndpoints {
    /// `GET /v1/people/*/places`: the places visited in the range, by total time, the longest first, on one page.
    ///
    /// Places that the person has joined (``Correction/samePlace(_:with:)``) are one row.
    ///
    /// An id depends on all visits from the first one that may be shown, so callers with different grants may get
    /// different ids. `days` counts the local dates of the place on which the person was there. `usualHours` is in the local time of the place, and absent if its time zone is not known.
    ///
    /// Cost: reads every visit that may be shown.
    ///
    /// Recorded with the question `places`. A place without a visit in the range is left out.
    package func places(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        try views.readPlaces(exchange, context, .places, from: TimelineTable.name) {
            (reading, form) throws(Problem) in
            let permit = reading.permit
            let range = try Self.range(reading)
            let now = reading.now
            let corrections = context.corrections(of: reading.permit.subject, decisions)
            var visits: [Int: [Visit]] = [:]
            let (derived, asOf) = try context.read(TimelineTable.name) {
                (connection) throws(SQLiteError) -> [VisitedPlace] in
                var places = PlaceDerivation()
                // From the first visit, so that a place has the same id in every answer.
                try Self.eachVisit(
                    of: permit, from: permit.notBefore, to: range.to, corrections, context, now, in: connection
                ) { visit in
                    let isAsked = range.from.map { visit.departure ?? now > $0 } ?? true
                    let place = places.add(visit, counts: isAsked)
                    if isAsked { visits[place, default: []].append(visit) }
                }
                return places.places
            }
            let joined = JoinedPlaces(derived, joinedBy: corrections.places)
            let found = joined.places
            var visitsThere: [Int: [Visit]] = [:]
            for (place, visits) in visits { visitsThere[joined.indices[place], default: []] += visits }
            var zones = PlaceZones(views.timeZones, context, from: found.first?.firstArrival ?? now, to: now)
            let order = found.indices.filter { found[$0].visits > 0 }
                .sorted { (found[$1].totalSeconds, found[$0].id) < (found[$0].totalSeconds, found[$1].id) }
            let languages = exchange.languages(context)
            return PageWriter.page(order, next: nil, asOf: asOf, reading.references, in: form) { index in
                let place = found[index]
                let rules = zones.rules(at: place.coordinate)
                var usual = rules.map { UsualHours(in: $0) }
                var days = VisitedDays(in: rules)
                for visit in visitsThere[index, default: []].sorted(by: { $0.arrival < $1.arrival }) {
                    if let departure = visit.departure { usual?.add(from: visit.arrival, to: departure) }
                    days.add(
                        from: max(visit.arrival, range.from ?? visit.arrival),
                        to: min(visit.departure ?? now, range.to ?? visit.departure ?? now))
                }
                return PlaceItem(
                    id: place.id.hexadecimal, at: MapPoint(place.coordinate),
                    horizontalAccuracy: place.horizontalAccuracy,
                    place: Self.placeName(at: place.coordinate, corrections, permit, context, languages),
                    timeZone: context.timeZone(at: place.coordinate), visits: Int64(place.visits),
                    totalSeconds: place.totalSeconds, days: days.count, newestDays: days.newest.map(\.text),
                    firstArrival: Moment(place.firstArrival), lastArrival: Moment(place.lastArrival),
                    lastDeparture: place.lastDeparture.map { Moment($0) },
                    usualHours: usual?.hours?.text)
            }
        }
    }
}
