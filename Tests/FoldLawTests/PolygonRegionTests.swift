import Geodesy
import TestSupport
import Testing

@testable import Whereabouts
@testable import WhereaboutsTests

/// Regions of any shape, and many of them.
@Suite struct PolygonRegionTests {
    private static let midnight = VisitDerivationTests.midnight

    private func crossings(_ fixes: [Fix], _ regions: [Region]) throws -> [Crossing] {
        let timeline = try MemoryTimeline()
        try timeline.record(
            regions.enumerated().map { index, region in
                (
                    .audit(MemoryTimeline.person), Self.midnight, .operator,
                    .regionAdded(RegionID(rawValue: Int64(index + 1)), .open(region))
                )
            })
        try timeline.report(fixes)
        return timeline.crossings[MemoryTimeline.person, default: []]
    }

    /// The corners are at 45°, 135° … from the middle, so that a way east crosses the sides at a right angle.
    private func square(around middle: Coordinate, halfSide: Double) throws -> Polygon {
        try Polygon(
            vertices: [45.0, 135, -135, -45].map { azimuth in
                Geodesic.direct(from: middle, initialAzimuth: azimuth, distanceMeters: halfSide * 2.0.squareRoot())
            })
    }

    private func morning(at home: Coordinate) -> Walk {
        var walk = Walk(from: home, at: Self.midnight)
        walk.everySeconds = 30
        walk.stay(seconds: 3600)
        walk.go(to: Geodesic.direct(from: home, initialAzimuth: 90, distanceMeters: 5000), seconds: 1000)
        walk.stay(seconds: 3600)
        walk.go(to: home, seconds: 1000)
        walk.stay(seconds: 3600)
        return walk
    }

    /// The side is 150 m from home: 30 s of the way at 5 m/s.
    @Test(arguments: [(48.2, 16.37), (-16.8, 179.9999), (0.0001, -0.01), (78.2, 15.6)])
    func `leaving and coming home cross a square once each`(latitude: Double, longitude: Double) throws {
        let home = try Coordinate(latitude: latitude, longitude: longitude)
        let region = Region(identifier: "home", area: .polygon(try square(around: home, halfSide: 150)))
        let found = try crossings(morning(at: home).fixes, [region])
        try #require(found.map(\.kind) == [.exit, .enter])
        #expect(abs(found[0].time.seconds(since: Self.midnight) - 3630) <= 15)
        #expect(abs(found[1].time.seconds(since: Self.midnight) - (3600 + 1000 + 3600 + 970)) <= 15)
    }

    /// From 89.99° N 0° E over the pole: 0.01° of a meridian are 1117 m there (Earth's meridian radius 6 399 594 m).
    @Test func `a cap round the pole is left by crossing its parallel`() throws {
        let start = try Coordinate(latitude: 89.99, longitude: 0)
        let cap = try Polygon(
            vertices: stride(from: -180.0, to: 180, by: 10).map { try Coordinate(latitude: 89.98, longitude: $0) })
        var walk = Walk(from: start, at: Self.midnight)
        walk.everySeconds = 30
        walk.stay(seconds: 1800)
        // Over the pole and 2234 m down the other side to 89.98°, then on.
        walk.go(to: Geodesic.direct(from: start, initialAzimuth: 0, distanceMeters: 6000), seconds: 1200)
        walk.stay(seconds: 1800)
        let found = try crossings(walk.fixes, [Region(identifier: "pole", area: .polygon(cap))])
        try #require(found.map(\.kind) == [.exit])
        #expect(abs(found[0].time.seconds(since: Self.midnight) - (1800 + (1117 + 2234) / 5)) <= 15)
    }

    @Test func `a polygon passed between two fixes is entered and left`() throws {
        let start = try Coordinate(latitude: 48.2, longitude: 16.37)
        let passed = Geodesic.direct(from: start, initialAzimuth: 90, distanceMeters: 3300)
        var walk = Walk(from: start, at: Self.midnight)
        walk.scatterMeters = 0
        walk.everySeconds = 30
        walk.stay(seconds: 600)
        walk.go(to: Geodesic.direct(from: start, initialAzimuth: 90, distanceMeters: 6000), seconds: 300)
        walk.stay(seconds: 600)
        let region = Region(identifier: "stop", area: .polygon(try square(around: passed, halfSide: 100)))
        let found = try crossings(walk.fixes, [region])
        try #require(found.map(\.kind) == [.enter, .exit])
        #expect(abs(found[0].time.seconds(since: Self.midnight) - (600 + 3200 / 20)) < 2)
        #expect(abs(found[1].time.seconds(since: Self.midnight) - (600 + 3400 / 20)) < 2)
    }

    /// A region is checked only once the track is long enough to reach it; the results must not depend on this.
    @Test func `a region's crossings are the same among a thousand others`() throws {
        let home = try Coordinate(latitude: -16.8, longitude: 179.9999)
        let days = Itinerary(home: home, start: 1_780_272_000, days: 2, seed: 77)
        let phone = try #require(Phone.all.first { $0.name == "30 s, spikes" })
        let fixes = phone.fixes(of: days, seed: 5)
        var dice = SplitMix(8)
        let regions = try (0..<1000).map { number in
            let middle = Geodesic.direct(
                from: home, initialAzimuth: .random(in: -180...180, using: &dice),
                distanceMeters: .random(in: 0...9000, using: &dice))
            let size = Double.random(in: 40...400, using: &dice)
            return Region(
                identifier: "r\(number)",
                area: number % 2 == 0
                    ? .circle(try Circle(center: middle, radiusMeters: size))
                    : .polygon(try square(around: middle, halfSide: size)))
        }
        let together = Dictionary(grouping: try crossings(fixes, regions), by: \.region)
        #expect(together.count > 20)
        for (id, found) in together.sorted(by: { $0.key < $1.key }).prefix(40) {
            let alone = try crossings(fixes, [regions[Int(id.rawValue) - 1]])
            #expect(alone.map(\.time) == found.map(\.time))
            #expect(alone.map(\.kind) == found.map(\.kind))
        }
        for id in together.keys {
            let kinds = together[id, default: []].map(\.kind)
            #expect(!zip(kinds, kinds.dropFirst()).contains { $0 == $1 })
        }
    }
}
