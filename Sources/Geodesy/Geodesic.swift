import CGeodesic

/// Shortest paths on the WGS 84 ellipsoid, by PROJ's `geodesic.h`.
///
/// Karney, Algorithms for geodesics (2013), DOI 10.1007/s00190-012-0578-z: distances within 15 nm for every pair of
/// points, antipodal ones included. Azimuths are degrees clockwise from north, −180…180. Safe on every thread.
///
/// If the shortest path or its direction is not unique, PROJ chooses:
/// - equal points: distance 0; both azimuths are 180, or 0 in the south (and at latitude −0.0);
/// - a pole: the azimuth is counted from the meridian of the longitude given, so it depends on that longitude, while
///   the distance does not; from pole to pole the path follows the meridian of the second longitude;
/// - opposite points: over the pole nearer to the start, from the equator (latitude +0.0) over the north pole: half a
///   meridian, 20 003.931 km, for the equator is longer (20 037.508 km). Nearly opposite points of the equator are
///   joined by a path that leaves it to the north.
package enum Geodesic {
    /// Half the length of a meridian: no two points are farther apart.
    ///
    /// Karney's series for the quarter meridian, 10 001 965.729 m; the tests compare it with `geod_inverse`.
    package static let longestDistanceMeters = 20_003_931.458_625_4

    /// The ellipsoid, initialised once and never changed or freed, therefore safe to read on every thread.
    nonisolated(unsafe) static let wgs84: UnsafePointer<geod_geodesic> = {
        let ellipsoid = UnsafeMutablePointer<geod_geodesic>.allocate(capacity: 1)
        ellipsoid.initialize(to: geod_geodesic())
        geod_init(ellipsoid, WGS84.equatorialRadiusMeters, WGS84.flattening)
        return UnsafePointer(ellipsoid)
    }()

    /// Length and end azimuths of the shortest path between two places (`geod_inverse`).
    ///
    /// The final azimuth is the direction of travel on arrival at `to`, not the direction back. About 1 µs.
    package static func inverse(
        from start: Coordinate, to end: Coordinate
    ) -> (distanceMeters: Double, initialAzimuth: Double, finalAzimuth: Double) {
        var distance = 0.0
        var initial = 0.0
        var final = 0.0
        geod_inverse(wgs84, start.latitude, start.longitude, end.latitude, end.longitude, &distance, &initial, &final)
        return (distance, initial, final)
    }

    /// Meters along the shortest path between two places (`geod_inverse`); 0 for the same place. About 1 µs.
    package static func distanceMeters(from start: Coordinate, to end: Coordinate) -> Double {
        var distance = 0.0
        geod_inverse(wgs84, start.latitude, start.longitude, end.latitude, end.longitude, &distance, nil, nil)
        return distance
    }

    /// The place at the end of a straight path that begins at an azimuth (`geod_direct`).
    ///
    /// From a pole the azimuth is counted from the meridian of `start.longitude`. A negative distance goes backwards;
    /// one beyond half the earth goes on round it. Both numbers must be finite.
    package static func direct(
        from start: Coordinate, initialAzimuth: Double, distanceMeters: Double
    ) -> Coordinate {
        precondition(initialAzimuth.isFinite && distanceMeters.isFinite, "A path has a finite azimuth and length.")
        var latitude = 0.0
        var longitude = 0.0
        geod_direct(
            wgs84, start.latitude, start.longitude, initialAzimuth, distanceMeters, &latitude, &longitude, nil)
        return Coordinate(computedLatitude: latitude, longitude: longitude)
    }
}

/// The defining constants of the ellipsoid (NIMA TR8350.2, table 3.1), and those that the bounds of this module need.
enum WGS84 {
    static let equatorialRadiusMeters = 6_378_137.0
    static let flattening = 1 / 298.257_223_563
    static let eccentricitySquare = flattening * (2 - flattening)
    static let polarRadiusMeters = equatorialRadiusMeters * (1 - flattening)
    /// The smallest radius of curvature, b²/a, that of the meridian where it crosses the equator: 6 335 439.3 m.
    static let leastCurvatureRadiusMeters = polarRadiusMeters * polarRadiusMeters / equatorialRadiusMeters
}
