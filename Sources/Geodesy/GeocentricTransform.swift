import CPROJ

/// Converts between coordinates and points in space, by PROJ's `+proj=cart` on WGS 84.
///
/// One per thread: it owns its PROJ context. Creating one takes well under a millisecond and opens no file; a
/// conversion costs about 0.1 µs.
package final class GeocentricTransform {
    private let cart: ProjOperation

    /// - Throws: ``GeodesyError/proj(doing:number:message:)`` only if PROJ itself is broken or memory has run out.
    package init() throws(GeodesyError) {
        cart = try ProjOperation(doing: "create the geocentric conversion") { context in
            // PROJ would open its database of reference systems, which takes twenty times as long as the rest and is
            // not needed. With this path it does not find it.
            "/dev/null".withCString { nowhere in
                var paths: [UnsafePointer<CChar>?] = [nowhere]
                proj_context_set_search_paths(context, 1, &paths)
            }
            return proj_create(context, "+proj=cart +ellps=WGS84")
        }
    }

    /// The point at a coordinate. `ellipsoidalHeight` is in meters above the ellipsoid and must be finite.
    package func point(_ coordinate: Coordinate, ellipsoidalHeight: Double = 0) -> GeocentricPoint {
        precondition(ellipsoidalHeight.isFinite, "A height is a finite number of meters.")
        return Self.point(proj_trans(cart.operation, PJ_FWD, Self.radians(coordinate, height: ellipsoidalHeight)))
    }

    /// The points at many coordinates on the ellipsoid, in order: one call into PROJ (`proj_trans_array`).
    package func points(_ coordinates: [Coordinate]) -> [GeocentricPoint] {
        var batch = coordinates.map { Self.radians($0, height: 0) }
        let failure = proj_trans_array(cart.operation, PJ_FWD, batch.count, &batch)
        precondition(failure == 0, "The geocentric conversion is defined for every coordinate.")
        return batch.map(Self.point)
    }

    /// The coordinate below or above a point, and its height in meters above the ellipsoid.
    ///
    /// PROJ takes one step of Bowring's approximation: the inverse of ``point(_:ellipsoidalHeight:)`` within 10 nm on the
    /// ellipsoid, 1 µm up to 9 km from it, 0.2 mm to 100 km, 2 cm to 1 000 km. On the polar axis the longitude is 0;
    /// near the centre of the earth the latitude means nothing. The point must be finite.
    package func coordinate(_ point: GeocentricPoint) -> (coordinate: Coordinate, ellipsoidalHeight: Double) {
        precondition(point.x.isFinite && point.y.isFinite && point.z.isFinite, "A point has finite coordinates.")
        let result = proj_trans(cart.operation, PJ_INV, proj_coord(point.x, point.y, point.z, 0)).lpz
        let coordinate = Coordinate(
            computedLatitude: result.phi / radiansPerDegree, longitude: result.lam / radiansPerDegree)
        return (coordinate, result.z)
    }

    private static func radians(_ coordinate: Coordinate, height: Double) -> PJ_COORD {
        proj_coord(coordinate.longitude * radiansPerDegree, coordinate.latitude * radiansPerDegree, height, 0)
    }

    private static func point(_ result: PJ_COORD) -> GeocentricPoint {
        GeocentricPoint(x: result.xyz.x, y: result.xyz.y, z: result.xyz.z)
    }
}

private let radiansPerDegree = Double.pi / 180
