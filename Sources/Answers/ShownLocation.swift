package import Gazetteer
package import Geodesy
import Log
package import Replies
package import Tables
package import Whereabouts

/// A fix as a caller sees it under some precision. The values that a coarse grant hides are removed first, and
/// everything else is computed from the rest: so a place name cannot disclose more than the coordinate.
package struct ShownLocation {
    /// The fix with the hidden values removed. Under a coarse precision it has a rounded time and the coordinate of a
    /// cell or city, and no accuracy.
    package let fix: Fix
    /// The precision of the grant.
    package let precision: Precision
    private let placemark: Placemark?

    /// - Parameters:
    ///   - cell: The center of the cell in which a coarse grant shows the fix (``HeldCell``).
    ///   - languages: The languages for names, the best first.
    package init(
        _ fix: Fix, precision: Precision, in cell: Coordinate, _ context: AnswerContext, languages: [Language] = []
    ) {
        self.precision = precision
        switch precision {
        case .exact: self.fix = context.withBothHeights(fix)
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

    /// The record of this disclosure's content.
    package func content(answerHash: Hash256) -> Disclosure.Content {
        Disclosure.Content(
            latitude: fix.coordinate.latitude, longitude: fix.coordinate.longitude,
            horizontalAccuracy: fix.horizontalAccuracy, timestamp: fix.timestamp, placeName: placemark?.name,
            answerHash: answerHash)
    }

    /// The address in one line.
    package var address: String? { placemark?.shortAddress ?? placemark?.name }
    /// The ISO 3166-1 code, two capital letters.
    package var countryCode: String? { placemark?.isoCountryCode?.description }

    /// The location in answers: the values of the fix, the precision, and the place if there is a gazetteer.
    package var item: LocationItem {
        LocationItem(
            timestamp: Moment(fix.timestamp), at: MapPoint(fix.coordinate), horizontalAccuracy: fix.horizontalAccuracy,
            altitude: fix.altitude, ellipsoidalAltitude: fix.ellipsoidalAltitude, speed: fix.speed, course: fix.course,
            precision: precision.word, place: placemark.map { PlacemarkItem(ofPerson: $0) })
    }
}

extension ShownLocation {
    /// A stored fix as a permit shows it.
    package init(
        _ stored: ReportedFix, under permit: Permit, _ decisions: Decisions, _ context: AnswerContext,
        languages: [Language] = []
    ) {
        let cell = decisions.log.withStanding { standing in
            standing.shownCell(of: stored.number, at: stored.fix.coordinate, under: permit)
        }
        self.init(stored.fix, precision: permit.precision, in: cell, context, languages: languages)
    }
}

extension AnswerContext {
    /// A fix with its height above mean sea level and its height above the ellipsoid, if its device reported one of
    /// them: the other is computed by EGM96 (``Geoid``), to the centimeter. A fix with both or neither is unchanged.
    package func withBothHeights(_ fix: Fix) -> Fix {
        var fix = fix
        func centimeters(_ meters: Double?) -> Double? { meters.map { ($0 * 100).rounded() / 100 } }
        switch (fix.altitude, fix.ellipsoidalAltitude) {
        case (let altitude?, nil):
            fix.ellipsoidalAltitude = centimeters(
                try? geoid?.ellipsoidalHeight(aboveMeanSeaLevel: altitude, at: fix.coordinate))
        case (nil, let height?):
            fix.altitude = centimeters(try? geoid?.heightAboveMeanSeaLevel(ellipsoidal: height, at: fix.coordinate))
        case (nil, nil), (_?, _?): break
        }
        return fix
    }
}
