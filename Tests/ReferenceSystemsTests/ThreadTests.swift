import Geodesy
import ReferenceSystems
import Testing

@Suite struct ThreadTests {
    /// Each task owns its PROJ objects, as each thread of the service does; geodesics are shared by all.
    @Test func `many threads, each with its own objects, compute the same`() async throws {
        let place = try Coordinate(latitude: 46.95, longitude: 7.44)
        let expected = try figures(at: place)
        let all = try await withThrowingTaskGroup(of: [Double].self) { group in
            for _ in 0..<16 { group.addTask { try figures(at: place) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(all.allSatisfy { $0 == expected })
    }
}

private func figures(at place: Coordinate) throws -> [Double] {
    let transform = GeocentricTransform()
    let system = try CoordinateReferenceSystem(code: "EPSG:2056")
    let geoid = try Geoid()
    let zero = try Coordinate(latitude: 0, longitude: 0)
    return try (0..<100).flatMap { _ in
        let numbers = try system.fromWGS84(place)
        return [
            numbers.x, numbers.y, transform.point(place).z, try geoid.separation(at: place),
            Geodesic.distanceMeters(from: zero, to: place),
        ]
    }
}
