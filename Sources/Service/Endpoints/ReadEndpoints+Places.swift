import Gazetteer
import Geodesy
import HTTPServer
import JSON
import SQLite
import Whereabouts

/// The spots a person has visited. Made at reading time from all visits that may be shown, so that they follow every change
/// of those.
extension ReadEndpoints {
    private static let visitsAtOnce = 1000

    static func places(
        _ service: Service, _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        try read(service, exchange, context, .places, from: TimelineTable.name) { (reading) throws(Problem) in
            let permit = reading.permit
            let range = try Self.range(exchange, reading)
            let now = service.clock()
            let corrections = Self.corrections(reading, service)
            let (found, asOf) = try context.read(TimelineTable.name) {
                (connection) throws(SQLiteError) -> [VisitedPlace] in
                var places = PlaceDerivation()
                var after: Timestamp?
                while true {
                    let visits = try TimelineReader.visits(
                        of: permit.subject, from: range.from, to: range.to, arrivingAfter: after, limit: visitsAtOnce,
                        corrected: corrections, context.geocentric, in: connection)
                    // What may not be shown counts no more than what was never reported.
                    for visit in visits where permit.shows(from: visit.arrival, to: visit.departure ?? now) {
                        places.add(visit)
                    }
                    guard visits.count == visitsAtOnce, let last = visits.last else { return places.places }
                    after = last.arrival
                }
            }
            let order = found.sorted { ($1.totalSeconds, $0.id) < ($0.totalSeconds, $1.id) }
            return page(order, next: nil, asOf: asOf) { place, writer in
                let named = context.place(at: place.coordinate)
                writer.beginObject()
                writer.field("id", hex(place.id))
                writer.field("latitude", place.coordinate.latitude)
                writer.field("longitude", place.coordinate.longitude)
                writer.field("horizontalAccuracy", place.horizontalAccuracy)
                writer.field("place", placeName(at: place.coordinate, corrections, permit, context))
                writer.field("timeZone", context.timeZone(at: place.coordinate) ?? named?.timeZone)
                writer.field("visits", place.visits)
                writer.field("totalSeconds", place.totalSeconds)
                writer.field("firstArrival", milliseconds: place.firstArrival.milliseconds)
                writer.field("lastArrival", milliseconds: place.lastArrival.milliseconds)
                writer.key("lastDeparture")
                if let departure = place.lastDeparture {
                    writer.unixSeconds(milliseconds: departure.milliseconds)
                } else {
                    writer.null()
                }
                writer.endObject()
            }
        }
    }
}
