import Gazetteer
import Geodesy
import JSON
import Whereabouts

/// A fix as an asker with some precision sees it: what a coarse grant hides is dropped first, and everything else is
/// computed from what remains.
struct ShownLocation {
    let fix: Fix
    let precision: Precision
    let place: Place?
    /// Of the borders it lies in, which near a border is not always that of the nearest place.
    let timeZone: String?

    init(_ fix: Fix, precision: Precision, _ context: AnswerContext) {
        self.precision = precision
        switch precision {
        case .exact: self.fix = fix
        case .kilometer, .none:
            self.fix = Fix(
                timestamp: precision.shown(fix.timestamp), coordinate: KilometerCell.center(of: fix.coordinate))
        case .city:
            self.fix = Fix(
                timestamp: precision.shown(fix.timestamp), coordinate: context.cityCenter(of: fix.coordinate))
        }
        place = context.place(at: self.fix.coordinate)
        timeZone = context.timeZone(at: self.fix.coordinate) ?? place?.timeZone
    }

    /// For the record of the disclosure.
    func content(answerHash: Hash256) -> Disclosure.Content {
        Disclosure.Content(
            latitude: fix.coordinate.latitude, longitude: fix.coordinate.longitude,
            horizontalAccuracy: fix.horizontalAccuracy, timestamp: fix.timestamp, placeName: place?.name,
            answerHash: answerHash)
    }

    func write(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("timestamp", milliseconds: fix.timestamp.milliseconds)
        writer.field("latitude", fix.coordinate.latitude)
        writer.field("longitude", fix.coordinate.longitude)
        writer.field("horizontalAccuracy", fix.horizontalAccuracy)
        writer.field("altitude", fix.altitude)
        writer.field("speed", fix.speed)
        writer.field("course", fix.course)
        writer.field("precision", precision.word)
        if let place {
            writer.object("place") { writer in
                writer.field("name", place.name)
                writer.field("countryCode", place.countryCode)
                writer.field("country", place.country)
                writer.field("administrativeArea", place.administrativeArea)
                writer.field("timeZone", timeZone)
                writer.field("distance", (place.distanceMeters * 10).rounded() / 10)
            }
        }
        writer.endObject()
    }
}
