#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The places within a geodesic distance of a center, as in `CLCircularRegion`. The edge belongs to the circle.
package struct Circle: Hashable, Sendable, DescribedWithoutContent {
    /// The place from which the radius is measured.
    package let center: Coordinate
    /// Meters, above 0.
    package let radiusMeters: Double

    /// Half the equator, 20 037.5 km: no place is farther, so a circle of this radius is the whole earth.
    package static let largestRadiusMeters = Double.pi * WGS84.equatorialRadiusMeters

    /// - Throws: ``ShapeError/radiusOutOfRange`` unless 0 < `radiusMeters` ≤ ``largestRadiusMeters``.
    package init(center: Coordinate, radiusMeters: Double) throws(ShapeError) {
        guard radiusMeters > 0, radiusMeters <= Self.largestRadiusMeters else { throw .radiusOutOfRange }
        self.center = center
        self.radiusMeters = radiusMeters
    }

    /// Whether a place is inside or on the edge: exactly if ``signedDistanceMeters(to:)`` is not positive.
    package func contains(_ coordinate: Coordinate) -> Bool {
        signedDistanceMeters(to: coordinate) <= 0
    }

    /// Meters from the edge, negative inside: the geodesic to the centre less the radius. One `geod_inverse`.
    ///
    /// If the circle covers more than half the earth, the nearest point of its edge may be nearer than that.
    package func signedDistanceMeters(to coordinate: Coordinate) -> Double {
        Geodesic.distanceMeters(from: center, to: coordinate) - radiusMeters
    }

    /// A box that encloses the circle: exact to the north and south, at most 0.7 % wider than the circle to the east and
    /// west, and of all longitudes if a pole is inside or within 0.7 % of the radius beyond the edge.
    ///
    /// North and south: no path gains latitude faster than a meridian. East and west: a geodesic of length s belongs to
    /// an arc σ ≤ s/b on the auxiliary sphere with a longitude difference ω ≥ λ (Karney 2013, equations 7 and 8), and
    /// on a sphere sin ω ≤ sin σ / cos β.
    package var boundingBox: BoundingBox {
        func reach(azimuth: Double, pole: Double) -> Double {
            let toPole = Geodesic.distanceMeters(from: center, to: Coordinate(computedLatitude: pole, longitude: 0))
            if toPole <= radiusMeters + Self.marginMeters { return pole }
            return Geodesic.direct(from: center, initialAzimuth: azimuth, distanceMeters: radiusMeters).latitude
        }
        let south = max(-90, reach(azimuth: 180, pole: -90) - Self.marginDegrees)
        let north = min(90, reach(azimuth: 0, pole: 90) + Self.marginDegrees)

        let reduced = atan((1 - WGS84.flattening) * tan(abs(center.latitude) * .pi / 180))
        let arc = radiusMeters / WGS84.polarRadiusMeters
        guard south > -90, north < 90, reduced + arc < .pi / 2 - 1e-9 else {
            return BoundingBox(south: south, north: north)
        }
        let halfWidth = asin(min(1, sin(arc) / cos(reduced))) * 180 / .pi + Self.marginDegrees
        let west = center.longitude - halfWidth
        let east = center.longitude + halfWidth
        return BoundingBox(
            south: south, north: north, west: west < -180 ? west + 360 : west, east: east > 180 ? east - 360 : east)
    }

    /// Above the 15 nm of PROJ's geodesics and the rounding of degrees.
    private static let marginMeters = 1e-7
    private static let marginDegrees = 1e-12
}
