import Geodesy
import Testing

@testable import Whereabouts

@Suite struct TripDerivationTests {
    private static let midnight = VisitDerivationTests.midnight

    private func stored(_ fixes: [Fix]) -> [StoredFix] {
        fixes.map { fix in
            StoredFix(
                device: MemoryTimeline.device, timestamp: fix.timestamp, coordinate: fix.coordinate,
                horizontalAccuracy: fix.horizontalAccuracy, receivedAt: nil)
        }
    }

    private func stop(_ walk: Walk) -> TripDerivation.Stop {
        TripDerivation.Stop(time: walk.now, coordinate: walk.place, horizontalAccuracy: 10)
    }

    /// The way is a geodesic of known length, made at an even speed that is everyday for its mode.
    @Test(arguments: [
        (Trip.Mode.walk, 1.4, 1500.0), (.run, 3, 4000), (.cycle, 5.5, 6000), (.drive, 12, 12_000), (.train, 25, 30_000),
        (.flight, 220, 600_000),
    ])
    func `a way has its length, its time and its mode`(mode: Trip.Mode, speed: Double, meters: Double) throws {
        let home = try Coordinate(latitude: -16.8, longitude: 179.9999)
        var walk = Walk(from: home, at: Self.midnight)
        walk.everySeconds = 15
        let departure = stop(walk)
        let seconds = Int64(meters / speed)
        walk.go(to: Geodesic.direct(from: home, initialAzimuth: 80, distanceMeters: meters), seconds: seconds)
        let trips = TripDerivation.trips(from: departure, to: stop(walk), fixes: stored(walk.fixes))
        try #require(trips.count == 1)
        let way = try #require(trips[0].way)
        #expect(abs(way.distanceMeters - meters) < 0.03 * meters)
        #expect(trips[0].end.seconds(since: trips[0].start) == Double(seconds))
        #expect(way.mode == mode)
        #expect(way.confidence > 0.5)
    }

    @Test func `a silence on the way is a gap, and no way is invented in it`() throws {
        let home = try Coordinate(latitude: 48.2, longitude: 16.37)
        var walk = Walk(from: home, at: Self.midnight)
        walk.everySeconds = 30
        let departure = stop(walk)
        walk.go(to: Geodesic.direct(from: home, initialAzimuth: 90, distanceMeters: 6000), seconds: 600)
        let before = walk.fixes
        walk.go(to: Geodesic.direct(from: home, initialAzimuth: 90, distanceMeters: 46_000), seconds: 3600)
        let silent = walk.now
        let tunnel = walk.fixes.count
        walk.go(to: Geodesic.direct(from: home, initialAzimuth: 90, distanceMeters: 52_000), seconds: 600)
        let trips = TripDerivation.trips(
            from: departure, to: stop(walk), fixes: stored(before + Array(walk.fixes[tunnel...])))
        #expect(trips.map { $0.way == nil } == [false, true, false])
        let distance = trips.reduce(0) { $0 + ($1.way?.distanceMeters ?? 0) }
        #expect(abs(distance - 12_000) < 400)
        #expect(trips[1].end == silent)
    }

    @Test func `staying between two visits at one place is no trip`() throws {
        let home = try Coordinate(latitude: 48.2, longitude: 16.37)
        var walk = Walk(from: home, at: Self.midnight)
        let departure = stop(walk)
        walk.stay(seconds: 1800)
        #expect(TripDerivation.trips(from: departure, to: stop(walk), fixes: stored(walk.fixes)).isEmpty)
    }

    @Test func `a spike adds nothing to the distance`() throws {
        let home = try Coordinate(latitude: 48.2, longitude: 16.37)
        var walk = Walk(from: home, at: Self.midnight)
        walk.everySeconds = 30
        let departure = stop(walk)
        walk.go(to: Geodesic.direct(from: home, initialAzimuth: 90, distanceMeters: 6000), seconds: 600)
        let far = Geodesic.direct(from: home, initialAzimuth: 0, distanceMeters: 30_000)
        let spike = Fix(timestamp: Self.midnight.adding(seconds: 315), coordinate: far, horizontalAccuracy: 10)
        let fixes = (walk.fixes + [spike]).sorted { $0.timestamp < $1.timestamp }
        let trips = TripDerivation.trips(from: departure, to: stop(walk), fixes: stored(fixes))
        #expect(abs((trips.first?.way?.distanceMeters ?? 0) - 6000) < 200)
    }
}
