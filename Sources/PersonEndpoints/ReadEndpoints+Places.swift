import Answers
import Geodesy
import HTTPInterface
import HTTPServer
import Projections
import Replies
import SQLite
import Tables
import Whereabouts
import WireFormats

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
            let (search, asOf) = try context.read(TimelineTable.name) {
                (connection) throws(SQLiteError) -> PlaceSearch in
                var search = PlaceSearch(from: range.from, to: range.to, at: now)
                try Self.eachVisit(
                    of: permit, from: permit.notBefore, to: range.to, corrections, context, now, in: connection
                ) {
                    search.add($0)
                }
                return search
            }
            var zones: PlaceZones?
            let found = search.found(joinedBy: corrections.places) { place, firstArrival in
                var known = zones ?? PlaceZones(views.timeZones, context, from: firstArrival, to: now)
                defer { zones = known }
                return known.rules(at: place.coordinate)
            }
            let languages = exchange.languages(context)
            return PageWriter.page(found, next: nil, asOf: asOf, reading.references, in: form) { found in
                let coordinate = found.place.coordinate
                return PlaceItem(
                    found, name: Self.placeName(at: coordinate, corrections, permit, context, languages),
                    timeZone: context.timeZone(at: coordinate))
            }
        }
    }
}
