import Geodesy
import ReferenceSystems
import Testing

@testable import GeodesyTests

@Suite struct GeoidTests {
    /// NGA's test output of EGM96 (OUTINTPT.DAT), made with splines from the same grid; bilinear is a little coarser.
    @Test(arguments: [
        (38.628_155, 269.779_155 - 360, -31.628), (-14.621_217, 305.021_114 - 360, -2.969),
        (46.874_319, 102.448_729, -43.575), (-23.617_446, 133.874_712, 15.871),
        (38.625_473, -0.0005, 50.066), (-0.466_744, 0.0023, 17.329),
    ])
    func `the geoid is where NGA's test values have it`(latitude: Double, longitude: Double, meters: Double) throws {
        let place = try Coordinate(latitude: latitude, longitude: longitude)
        #expect(abs(try Geoid().separation(at: place) - meters) < 0.25)
    }

    @Test func `heights above the sea and above the ellipsoid are the separation apart`() throws {
        let geoid = try Geoid()
        let place = try Coordinate(latitude: 46.874_319, longitude: 102.448_729)
        let separation = try geoid.separation(at: place)
        #expect(try geoid.heightAboveMeanSeaLevel(ellipsoidal: 1_000, at: place) == 1_000 - separation)
        #expect(try geoid.ellipsoidalHeight(aboveMeanSeaLevel: 1_000, at: place) == 1_000 + separation)
    }

    /// The grid ends at longitude 179.75; both names of the antimeridian are between it and its first column.
    @Test func `the geoid has no seam at the antimeridian and one value at a pole`() throws {
        let geoid = try Geoid()
        for latitude in [-89.9, -45, 0, 12.3, 66, 89.9] {
            let west = try geoid.separation(at: Coordinate(latitude: latitude, longitude: -180))
            let east = try geoid.separation(at: Coordinate(latitude: latitude, longitude: 180))
            #expect(abs(west - east) < 1e-6)
            let near = try geoid.separation(at: Coordinate(latitude: latitude, longitude: 179.999_999))
            #expect(abs(near - east) < 1e-3)
        }
        for pole in [-90.0, 90] {
            let values = try [-180, -90.1, 0, 77, 180].map { longitude in
                try geoid.separation(at: Coordinate(latitude: pole, longitude: longitude))
            }
            #expect(Set(values.map { ($0 * 1_000).rounded() }).count == 1)
        }
    }

    /// Needs a python with pyproj, and the grid of proj-data: set WHEREABOUTS_PYTHON.
    @Test(.enabled(if: Reference.isAvailable, "WHEREABOUTS_PYTHON names no python with geographiclib and pyproj"))
    func `separations agree with pyproj within 1 mm`() throws {
        let geoid = try Geoid()
        let places = try Places.pairs(count: 1_000, seed: 40).map(\.0)
        let answers = try Reference.answers("egm96", to: places.map { [$0.latitude, $0.longitude] })
        try #require(answers.count == places.count)
        for (place, answer) in zip(places, answers) {
            #expect(abs(try geoid.separation(at: place) - answer[0]) < 1e-3)
        }
    }
}
