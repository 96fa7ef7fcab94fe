/// A place on the WGS 84 ellipsoid: geodetic latitude and longitude in degrees.
///
/// A coordinate that exists is finite and in range; this is the one place where that is checked. Equality compares
/// the numbers: longitudes −180 and 180 are the same place but not equal, and a pole is one place at every longitude.
/// Containment (``BoundingBox``, ``Circle``, ``Polygon``) and distances go by place, not by number.
package struct Coordinate: Hashable, Sendable, DescribedWithoutContent {
    /// Degrees north of the equator, −90…90.
    package let latitude: Double
    /// Degrees east of Greenwich, −180…180, both ends allowed.
    package let longitude: Double

    /// Accepts a finite latitude in −90…90 and a finite longitude in −180…180.
    ///
    /// - Throws: ``CoordinateError`` otherwise; nothing is clamped or wrapped.
    package init(latitude: Double, longitude: Double) throws(CoordinateError) {
        guard latitude.isFinite, longitude.isFinite else { throw .notFinite }
        guard abs(latitude) <= 90 else {
            throw .latitudeOutOfRange(looksSwapped: abs(latitude) <= 180 && abs(longitude) <= 90)
        }
        guard abs(longitude) <= 180 else { throw .longitudeOutOfRange }
        self.latitude = latitude
        self.longitude = longitude
    }

    /// A coordinate PROJ has computed: in range by its contract, save for a last-digit excess, which is cut off.
    package init(computedLatitude latitude: Double, longitude: Double) {
        precondition(
            abs(latitude) <= 90 + 1e-12 && abs(longitude) <= 180 + 1e-12,
            "PROJ computes finite latitudes within 90 and longitudes within 180 degrees.")
        self.latitude = min(max(latitude, -90), 90)
        self.longitude = min(max(longitude, -180), 180)
    }
}

/// Why two numbers are not a coordinate. The sentences contain no values, because the values may be a place.
package enum CoordinateError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A number is NaN or infinite.
    case notFinite
    /// The latitude is beyond a pole; `looksSwapped` if the pair would be valid the other way round.
    case latitudeOutOfRange(looksSwapped: Bool)
    /// The latitude is valid, the longitude is not within −180…180.
    case longitudeOutOfRange

    /// One sentence without values.
    package var description: String {
        switch self {
        case .notFinite:
            "Latitude and longitude must be finite numbers."
        case .latitudeOutOfRange(looksSwapped: false):
            "The latitude must be from -90 to 90 degrees."
        case .latitudeOutOfRange(looksSwapped: true):
            "The latitude must be from -90 to 90 degrees; latitude and longitude look swapped."
        case .longitudeOutOfRange:
            "The longitude must be from -180 to 180 degrees."
        }
    }
}
