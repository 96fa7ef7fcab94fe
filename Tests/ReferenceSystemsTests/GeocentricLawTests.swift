import CPROJ
import Geodesy
import TestSupport
import Testing

@testable import GeodesyTests

/// The conversions of `GeocentricTransform` and those of PROJ, which decides.
@Suite struct GeocentricLawTests {
    /// What may differ, in meters and radians. PROJ for other processors may be compiled with fused operations.
    #if arch(x86_64)
    private static let tolerance = 0.0
    #else
    private static let tolerance = 1e-8
    #endif

    private static let degree = Double.pi / 180

    @Test func `points and coordinates are those of PROJ, bit for bit`() throws {
        let context = proj_context_create()
        defer { proj_context_destroy(context) }
        let cart = proj_create(context, "+proj=cart +ellps=WGS84")
        defer { proj_destroy(cart) }
        let transform = GeocentricTransform()
        let corners = [
            (0, 0), (90, 0), (-90, 0), (0, 180), (0, -180), (90, 180), (-90, -180), (-0.0, -0.0), (89.999_999_99, 12),
            (-89.999_95, -12),
        ]
        let places =
            try corners.map { try Coordinate(latitude: $0.0, longitude: $0.1) }
            + Places.pairs(count: 50_000, seed: 11).flatMap { [$0, $1] }
        for (index, place) in places.enumerated() {
            let height = Double(index % 4) * 2_718.281_828 - 2_000
            let given = proj_coord(place.longitude * Self.degree, place.latitude * Self.degree, height, 0)
            let theirs = proj_trans(cart, PJ_FWD, given)
            let point = transform.point(place, ellipsoidalHeight: height)
            let back = proj_trans(cart, PJ_INV, theirs).lpz
            let own = transform.coordinate(GeocentricPoint(x: theirs.xyz.x, y: theirs.xyz.y, z: theirs.xyz.z))
            let differences = [
                point.x - theirs.xyz.x, point.y - theirs.xyz.y, point.z - theirs.xyz.z,
                own.coordinate.latitude - back.phi / Self.degree, own.coordinate.longitude - back.lam / Self.degree,
                own.ellipsoidalHeight - back.z,
            ]
            if let worst = differences.map({ abs($0) }).max(), !(worst <= Self.tolerance) {
                // One is enough to look at.
                Issue.record("\(place.latitude) \(place.longitude) \(height): \(differences)")
                return
            }
        }
    }
}
