import Geodesy
import Testing

@Suite struct DistanceFilterTests {
    /// 0.001° of longitude on the equator is 111.32 m.
    @Test(arguments: [(100.0, true), (112.0, false)])
    func `a fix 111.32 m away passes only a shorter filter`(meters: Double, kept: Bool) throws {
        var filter = DistanceFilter(meters: meters)
        _ = filter.keeps(try Coordinate(latitude: 0, longitude: 0))
        #expect(filter.keeps(try Coordinate(latitude: 0, longitude: 0.001)) == kept)
    }

    /// 9° of longitude on the equator: 1,001.875 km along the earth (6,378,137 m · π/20), 1,000.846 km straight through it.
    @Test(arguments: [(1_001_800.0, true), (1_001_900.0, false), (1_001_000.0, true)])
    func `it measures along the earth, not through it`(meters: Double, kept: Bool) throws {
        var filter = DistanceFilter(meters: meters)
        _ = filter.keeps(try Coordinate(latitude: 0, longitude: 0))
        #expect(filter.keeps(try Coordinate(latitude: 0, longitude: 9)) == kept)
    }

    /// Steps of 0.0005° (55.66 m): measured from the last kept fix, every other one passes 100 m.
    @Test func `small steps add up until they matter, across the antimeridian too`() throws {
        var filter = DistanceFilter(meters: 100)
        let kept = try [179.999, 179.9995, 180, -179.9995, -179.999].map { longitude in
            filter.keeps(try Coordinate(latitude: 0, longitude: longitude))
        }
        #expect(kept == [true, false, true, false, true])
    }

    @Test(arguments: [0, -1.0])
    func `no filter keeps a fix at the same place`(meters: Double) throws {
        var filter = DistanceFilter(meters: meters)
        let home = try Coordinate(latitude: 10, longitude: 10)
        #expect(filter.keeps(home) && filter.keeps(home))
    }

    @Test func `turning on the spot at a pole is no move`() throws {
        var filter = DistanceFilter(meters: 1)
        _ = filter.keeps(try Coordinate(latitude: 90, longitude: 0))
        #expect(!filter.keeps(try Coordinate(latitude: 90, longitude: 180)))
    }
}
