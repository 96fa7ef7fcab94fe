import Gazetteer
import Geodesy
import JSON
import Whereabouts

/// A fix as an asker with some precision sees it: what a coarse grant hides is dropped first, and everything else is
/// computed from what remains.
struct ShownLocation {
    let fix: Fix
    let precision: Precision
    private let placemark: Placemark?

    /// - Parameters:
    ///   - cell: The middle of the cell that a coarse asker sees the fix in (``HeldCell``).
    ///   - languages: What names are wanted in, the best first.
    init(_ fix: Fix, precision: Precision, in cell: Coordinate, _ context: AnswerContext, languages: [Language] = []) {
        self.precision = precision
        switch precision {
        case .exact: self.fix = fix
        case .kilometer, .none:
            self.fix = Fix(
                timestamp: precision.shown(fix.timestamp), coordinate: cell)
        case .city:
            self.fix = Fix(
                timestamp: precision.shown(fix.timestamp), coordinate: context.cityCenter(of: cell))
        }
        let placemark = context.placemark(
            at: self.fix.coordinate, accuracyMeters: self.fix.horizontalAccuracy, in: languages)
        self.placemark =
            switch precision {
            case .exact: placemark
            case .kilometer, .none: placemark?.ofArea
            case .city: placemark?.ofCity
            }
    }

    /// For the record of the disclosure.
    func content(answerHash: Hash256) -> Disclosure.Content {
        Disclosure.Content(
            latitude: fix.coordinate.latitude, longitude: fix.coordinate.longitude,
            horizontalAccuracy: fix.horizontalAccuracy, timestamp: fix.timestamp, placeName: placemark?.name,
            answerHash: answerHash)
    }

    /// Where it is, in a line.
    var address: String? { placemark?.shortAddress ?? placemark?.name }
    /// ISO 3166-1, two capital letters.
    var countryCode: String? { placemark?.isoCountryCode?.description }

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
        if let placemark {
            writer.key("place")
            PlacemarkJSON.write(ofPerson: placemark, into: &writer)
        }
        writer.endObject()
    }
}

extension ShownLocation {
    /// A stored fix as it may be seen under a permit.
    init(
        _ stored: ReportedFix, under permit: Permit, _ service: Service, _ context: AnswerContext,
        languages: [Language] = []
    ) {
        let cell = service.log.withStanding { standing in
            standing.shownCell(of: stored.number, at: stored.fix.coordinate, under: permit)
        }
        self.init(stored.fix, precision: permit.precision, in: cell, context, languages: languages)
    }
}
