#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Converts between coordinates and points in space (ECEF) on WGS 84, with the formulas of PROJ's `+proj=cart`.
///
/// It gives the same bits as `proj_trans` of PROJ 9.1, which `GeocentricLawTests` compares. It needs no context of PROJ, so that
/// visits can be derived wherever `geodesic.c` compiles. A conversion costs about 0.1 µs.
package struct GeocentricTransform: Sendable {
    private static let a = WGS84.equatorialRadiusMeters
    private static let b = (1 - WGS84.flattening) * a
    /// The square of the first eccentricity.
    private static let es = 2 * WGS84.flattening - WGS84.flattening * WGS84.flattening
    /// The square of the second eccentricity, by way of the angular one, as PROJ computes it.
    private static let e2s = {
        let second = tan(asin(es.squareRoot()))
        return second * second
    }()

    package init() {}

    /// The point at a coordinate. `ellipsoidalHeight` is in meters above the ellipsoid and must be finite.
    package func point(_ coordinate: Coordinate, ellipsoidalHeight: Double = 0) -> GeocentricPoint {
        precondition(ellipsoidalHeight.isFinite, "A height is a finite number of meters.")
        let phi = coordinate.latitude * Self.radiansPerDegree
        let lambda = coordinate.longitude * Self.radiansPerDegree
        let (cosine, sine) = (cos(phi), sin(phi))
        let normal = Self.normalRadius(sine)
        // Hofmann-Wellenhof and Moritz, Physical Geodesy (2005), formula 5-27.
        return GeocentricPoint(
            x: (normal + ellipsoidalHeight) * cosine * cos(lambda),
            y: (normal + ellipsoidalHeight) * cosine * sin(lambda),
            z: (normal * (1 - Self.es) + ellipsoidalHeight) * sine)
    }

    /// The points at many coordinates on the ellipsoid, in order.
    package func points(_ coordinates: [Coordinate]) -> [GeocentricPoint] { coordinates.map { point($0) } }

    /// The coordinate below or above a point, and its height in meters above the ellipsoid.
    ///
    /// It takes one step of Bowring's approximation (Survey Review 23(181), 1976): the inverse of
    /// ``point(_:ellipsoidalHeight:)`` within 10 nm on the ellipsoid, 1 µm up to 9 km from it, 0.2 mm to 100 km, 2 cm to
    /// 1 000 km. On the polar axis the longitude is 0; near the centre of the earth the latitude means nothing. The point must
    /// be finite.
    package func coordinate(_ point: GeocentricPoint) -> (coordinate: Coordinate, ellipsoidalHeight: Double) {
        precondition(point.x.isFinite && point.y.isFinite && point.z.isFinite, "A point has finite coordinates.")
        let fromAxis = hypot(point.x, point.y)
        let (yTheta, xTheta) = (point.z * Self.a, fromAxis * Self.b)
        let norm = hypot(yTheta, xTheta)
        let c = norm == 0 ? 1 : xTheta / norm
        let s = norm == 0 ? 0 : yTheta / norm
        let yPhi = point.z + Self.e2s * Self.b * s * s * s
        let xPhi = fromAxis - Self.es * Self.a * c * c * c
        let normPhi = hypot(yPhi, xPhi)
        var cosine = normPhi == 0 ? 1 : xPhi / normPhi
        var sine = normPhi == 0 ? 0 : yPhi / normPhi
        let phi: Double
        if xPhi <= 0 {
            // Near the centre there is no single solution.
            phi = point.z >= 0 ? .pi / 2 : -.pi / 2
            (cosine, sine) = (0, point.z >= 0 ? 1 : -1)
        } else {
            phi = atan(yPhi / xPhi)
        }
        // The sum turns −0 into 0.
        let lambda = atan2(point.y, point.x) + 0
        let coordinate = Coordinate(
            computedLatitude: phi / Self.radiansPerDegree, longitude: lambda / Self.radiansPerDegree)
        // Poleward of 89.99994°, a division by the cosine would lose digits.
        let height =
            cosine < 1e-6
            ? abs(point.z) - Self.geocentricRadius(cosine, sine) : fromAxis / cosine - Self.normalRadius(sine)
        return (coordinate, height)
    }

    /// The radius of curvature in the prime vertical.
    private static func normalRadius(_ sine: Double) -> Double { a / (1 - es * sine * sine).squareRoot() }

    /// The distance of the ellipsoid from the centre.
    private static func geocentricRadius(_ cosine: Double, _ sine: Double) -> Double {
        hypot(a * a * cosine, b * b * sine) / hypot(a * cosine, b * sine)
    }

    private static let radiansPerDegree = Double.pi / 180
}
