#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A point in space by its Cartesian distances from the center of the earth (ECEF, EPSG:4978), in meters.
///
/// Poles and antimeridian are not special in this form, so it suits means, indexes and cheap bounds.
package struct GeocentricPoint: Hashable, Sendable, DescribedWithoutContent {
    /// Meters from the centre towards latitude 0, longitude 0.
    package let x: Double
    /// Meters from the centre towards latitude 0, longitude 90 east.
    package let y: Double
    /// Meters from the centre towards the north pole.
    package let z: Double

    /// Takes any numbers; distances are finite if these are.
    package init(x: Double, y: Double, z: Double) {
        self.x = x
        self.y = y
        self.z = z
    }

    /// Meters along the straight line through the earth; see ``Geodesic/distanceBoundsMeters(chordMeters:)``.
    package func chordMeters(to other: GeocentricPoint) -> Double {
        chordSquareMeters(to: other).squareRoot()
    }

    /// The square of ``chordMeters(to:)``, for comparisons that need no root.
    package func chordSquareMeters(to other: GeocentricPoint) -> Double {
        let dx = x - other.x
        let dy = y - other.y
        let dz = z - other.z
        return dx * dx + dy * dy + dz * dz
    }
}

extension GeocentricPoint {
    /// The point of the ellipsoid at a latitude and longitude, by the textbook formula.
    ///
    /// For bounds inside this module, which have no PROJ context. The tests compare it with ``GeocentricTransform``.
    /// The longitude may exceed ±180.
    init(onEllipsoidAtLatitude latitude: Double, longitude: Double) {
        let phi = latitude * .pi / 180
        let lambda = longitude * .pi / 180
        let (sine, cosine) = (sin(phi), cos(phi))
        let normal = WGS84.equatorialRadiusMeters / (1 - WGS84.eccentricitySquare * sine * sine).squareRoot()
        x = normal * cosine * cos(lambda)
        y = normal * cosine * sin(lambda)
        z = normal * (1 - WGS84.eccentricitySquare) * sine
    }
}

extension Geodesic {
    /// The bounds of the geodesic distance of two places on the ellipsoid, given their chord.
    ///
    /// Decide by these bounds first and call ``distanceMeters(from:to:)`` only if the threshold falls between them: the
    /// outcome is then the same as if it had always been called.
    ///
    /// **The law.** Let c be the chord, s the geodesic, r = b²/a = 6 335 439.3 m the least radius of curvature of the
    /// ellipsoid. Then c ≤ s ≤ 2r·asin(c/2r). The first is plain. The second is Schur's comparison theorem: a geodesic
    /// is a space curve whose curvature is the normal curvature of the surface, nowhere above 1/r, so its ends are at
    /// least as far apart as those of an arc of equal length on a circle of radius r; this holds up to s = πr. A longer
    /// geodesic exceeds πr by 101 km at most, so its chord is above 2r − 101 km; from there the upper bound is
    /// ``longestDistanceMeters``. Both bounds are 0.1 µm wider than that, above the rounding of PROJ's `cart`
    /// (below 10 nm) and of `geod_inverse` (15 nm).
    ///
    /// The gap s − c is about c³/24r²: 1 µm at 1 km, 1.1 mm at 10 km, 1.1 m at 100 km, 1.1 km at 1 000 km.
    ///
    /// - Parameter chord: ``GeocentricPoint/chordMeters(to:)`` of two points at ellipsoidal height 0. With other
    ///   heights the law does not hold.
    package static func distanceBoundsMeters(chordMeters chord: Double) -> ClosedRange<Double> {
        let lower = max(0, chord - roundingMeters)
        guard chord < chordBeyondSchur else { return lower...max(lower, longestDistanceMeters + roundingMeters) }
        return lower...(curvatureDiameter * asin(chord / curvatureDiameter) + roundingMeters)
    }

    /// The chords below which two places are certainly closer than `distanceMeters`, and above which certainly farther.
    ///
    /// The same law read the other way, for thresholds that are fixed while chords vary: compare
    /// ``GeocentricPoint/chordSquareMeters(to:)`` with the squares of these. A chord between them decides nothing.
    package static func chordBoundsMeters(distanceMeters distance: Double) -> ClosedRange<Double> {
        let angle = min(max(0, distance) / curvatureDiameter, .pi / 2)
        let lower = min(curvatureDiameter * sin(angle), chordBeyondSchur) - roundingMeters
        return max(0, lower)...(max(0, distance) + roundingMeters)
    }

    private static let roundingMeters = 1e-7
    private static let curvatureDiameter = 2 * WGS84.leastCurvatureRadiusMeters
    /// No geodesic longer than πr, where Schur's theorem ends, has a shorter chord than this.
    private static let chordBeyondSchur = curvatureDiameter - 101_000
}
