import Geodesy
import Testing

@testable import Whereabouts

@Suite struct VisitRulesTests {
    @Test func `versions rise by one, and the newest is the last`() {
        #expect(VisitRules.all.map(\.version) == Array(1...Int64(VisitRules.all.count)))
        #expect(VisitRules.newest == VisitRules.all.last)
        #expect(VisitRules.version(0) == nil)
    }

    /// A stop between two ways of 3 km, a fix every five seconds. The way is made at 5 m/s, so that the edges of the stay
    /// lie within seconds of the script.
    @Test func `a stop of 172 seconds is a visit by the rules of 2 and none by those of 1`() throws {
        func visits(stopSeconds: Int64, _ version: Int64) throws -> Int {
            let timeline = try MemoryTimeline(try #require(VisitRules.version(version)))
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
        let told = try (120...240).map { (try visits(stopSeconds: $0, 1), try visits(stopSeconds: $0, 2)) }
        let first = (told.firstIndex { $0.0 == 1 }, told.firstIndex { $0.1 == 1 })
        let shortest = (try #require(first.0), try #require(first.1))
        #expect(shortest.0 - shortest.1 == 15)
        #expect(told.allSatisfy { $0.0 <= $0.1 })
    }
}
