import Geodesy
import Testing

@testable import Whereabouts

@Suite struct VisitRulesTests {
    @Test func `versions rise, and the newest is the last`() {
        #expect(VisitRules.all.map(\.version) == [5, 7])
        #expect(VisitRules.newest == VisitRules.all.last)
        #expect(VisitRules.version(0) == nil)
    }

    /// A stop between two trips of 3 km, with a fix every five seconds. The trips are made at 5 m/s, so that the edges of the
    /// stay are found within seconds of the script.
    @Test(arguments: VisitRules.all)
    func `a stop of three minutes is a visit, one of two and a half is not`(rules: VisitRules) throws {
        func visits(stopSeconds: Int64) throws -> Int {
            let timeline = try MemoryTimeline(rules)
            let start = try Coordinate(latitude: 48.2, longitude: 16.35)
            let stop = Geodesic.direct(from: start, initialAzimuth: 60, distanceMeters: 3000)
            var walk = Walk(from: start, at: VisitDerivationTests.midnight)
            walk.everySeconds = 5
            walk.go(to: stop, seconds: 600)
            walk.stay(seconds: stopSeconds)
            walk.go(to: Geodesic.direct(from: stop, initialAzimuth: 60, distanceMeters: 3000), seconds: 600)
            try timeline.report(walk.fixes)
            let departed = timeline.visits[MemoryTimeline.person]?.filter { $0.departure != nil } ?? []
            return departed.count
        }
        let told = try (120...240).map { try visits(stopSeconds: $0) }
        let shortest = try #require(told.firstIndex(of: 1)) + 120
        #expect((155...175).contains(shortest))
        #expect(told == told.sorted())
    }
}
