package import Gazetteer
package import Geodesy
import Log
import ReferenceSystems
package import Replies
package import Tables
package import Whereabouts
import WireFormats

/// A fix as a caller sees it under some precision. The values that a coarse grant hides are removed first, and
/// everything else is computed from the rest: so a place name cannot disclose more than the coordinate.
package struct ShownLocation {
    /// The fix with the hidden values removed; `nil` under a grant of place names. Under a coarse precision it has a
    /// rounded time and the coordinate of a cell or city, and no accuracy.
    package let fix: Fix?
    /// The device's time of the fix, as it is shown.
    package let timestamp: Timestamp
    /// The precision of the grant.
    package let precision: Precision
    private let placemark: Placemark?
    /// The person's own name for the place, under a grant of place names.
    private let ownName: String?
    /// The district of the city, under a grant of place names without an own name.
    private let district: (name: String, words: String)?

    /// - Parameters:
    ///   - cell: The center of the cell in which a coarse grant shows the fix (``HeldCell``).
    ///   - corrections: The person's own names of places.
    ///   - languages: The languages for names, the best first.
    private init(
        _ fix: Fix, precision: Precision, in cell: Coordinate, _ corrections: VisitCorrections,
        _ context: AnswerContext, languages: [Language]
    ) {
        self.precision = precision
        timestamp = precision.shown(fix.timestamp)
        let shown: Fix =
            switch precision {
            case .exact: context.withBothHeights(fix)
            case .kilometer, .none: Fix(timestamp: timestamp, coordinate: cell)
            case .city, .place: Fix(timestamp: timestamp, coordinate: context.cityCenter(of: cell))
            }
        let placemark = context.placemark(
            at: shown.coordinate, accuracyMeters: shown.horizontalAccuracy, in: languages)
        self.placemark = placemark?.shown(at: precision)
        guard precision == .place else {
            (self.fix, ownName, district) = (shown, nil, nil)
            return
        }
        (self.fix, ownName) = (nil, corrections.names(inCellAt: cell))
        // Of the center of the held cell, so it shows nothing finer than a square kilometer.
        let area = context.placemark(at: cell, in: languages)?.ofArea
        district = ownName == nil && area?.locality == self.placemark?.locality ? area?.district : nil
    }

    /// The name of the place: the person's own, the district and its city, or the gazetteer's, for example `Home` or
    /// `Josefstadt, Wien`.
    private var placeName: String? { ownName ?? district?.words ?? placemark?.name }

    /// The record of this disclosure's content.
    package func content(answerHash: Hash256) -> Disclosure.Content {
        Disclosure.Content(
            latitude: fix?.coordinate.latitude, longitude: fix?.coordinate.longitude,
            horizontalAccuracy: fix?.horizontalAccuracy, timestamp: timestamp, placeName: placeName,
            answerHash: answerHash)
    }

    /// The address in one line.
    package var address: String? { district == nil ? placemark?.shortAddress ?? placemark?.name : placeName }
    /// The ISO 3166-1 code, two capital letters.
    package var countryCode: String? { placemark?.isoCountryCode?.description }

    /// The location in answers: the values of the fix, the precision, and the place if there is a gazetteer.
    package var item: LocationItem {
        LocationItem(
            timestamp: Moment(timestamp), at: fix.map { MapPoint($0.coordinate) },
            horizontalAccuracy: fix?.horizontalAccuracy, altitude: fix?.altitude,
            ellipsoidalAltitude: fix?.ellipsoidalAltitude, speed: fix?.speed, course: fix?.course,
            precision: precision.word, place: place)
    }

    /// The place in answers: the gazetteer's, by the person's own name or the district if that is shown. A grant of place names shows no
    /// distance, because that is measured from a coordinate.
    private var place: PlacemarkItem? {
        var place = placemark.map { PlacemarkItem(ofPerson: $0) }
        if ownName != nil || district != nil {
            place = place ?? PlacemarkItem()
            place?.name = placeName
            place?.subLocality = district?.name
        }
        if fix == nil { place?.distance = nil }
        return place
    }
}

extension ShownLocation {
    /// A stored fix as a permit shows it.
    package init(
        _ stored: ReportedFix, under permit: Permit, _ decisions: Decisions, _ context: AnswerContext,
        languages: [Language] = []
    ) {
        self.init(stored.fix, of: stored.number, under: permit, decisions, context, languages: languages)
    }

    /// A fix as a permit shows it.
    ///
    /// - Parameters:
    ///   - number: The number of its event.
    ///   - cell: The cell in which a coarse grant shows it; `nil` for the one that it is shown in now.
    package init(
        _ fix: Fix, of number: Int64, under permit: Permit, in cell: HeldCell? = nil, _ decisions: Decisions,
        _ context: AnswerContext, languages: [Language] = []
    ) {
        let center =
            cell?.center
            ?? decisions.log.withStanding { standing in
                standing.shownCell(of: number, at: fix.coordinate, under: permit)
            }
        let corrections =
            permit.precision == .place ? decisions.corrections(of: permit.subject) : VisitCorrections()
        self.init(fix, precision: permit.precision, in: center, corrections, context, languages: languages)
    }
}

extension AnswerContext {
    /// A fix with its height above mean sea level and its height above the ellipsoid, if its device reported one of
    /// them: the other is computed by EGM96 (`Geoid`), to the centimeter. A fix with both or neither is unchanged.
    func withBothHeights(_ fix: Fix) -> Fix {
        var fix = fix
        addMissingHeight(&fix.altitude, &fix.ellipsoidalAltitude, at: fix.coordinate)
        return fix
    }

    /// Computes the height that is missing, as ``withBothHeights(_:)`` does, without a copy of the fix.
    package func addMissingHeight(
        _ altitude: inout Double?, _ ellipsoidalAltitude: inout Double?, at coordinate: Coordinate
    ) {
        func centimeters(_ meters: Double?) -> Double? { meters.map { ($0 * 100).rounded() / 100 } }
        switch (altitude, ellipsoidalAltitude) {
        case (let altitude?, nil):
            ellipsoidalAltitude = centimeters(
                try? geoid?.ellipsoidalHeight(aboveMeanSeaLevel: altitude, at: coordinate))
        case (nil, let height?):
            altitude = centimeters(try? geoid?.heightAboveMeanSeaLevel(ellipsoidal: height, at: coordinate))
        case (nil, nil), (_?, _?): break
        }
    }
}

extension Placemark {
    /// What a grant of this precision shows of the place: all of it, the square kilometer's, or the city's.
    package func shown(at precision: Precision) -> Placemark {
        switch precision {
        case .exact: self
        case .kilometer, .none: ofArea
        case .city, .place: ofCity
        }
    }
}
