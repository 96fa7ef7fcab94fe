import Geodesy
import Testing

@testable import Whereabouts
@testable import WhereaboutsTests

/// Fixes every ten seconds, and one that comes late.
@Suite struct LateFixTests {
    /// Nights of fourteen hours at home and days of nine and a half at work, with a drive of 15 minutes between.
    private static func life(days: Int) throws -> [Fix] {
        let home = try Coordinate(latitude: 47.07, longitude: 15.44)
        let work = Geodesic.direct(from: home, initialAzimuth: 100, distanceMeters: 8000)
        var walk = Walk(from: home, at: VisitDerivationTests.midnight)
        walk.everySeconds = 10
        for _ in 0..<days {
            walk.stay(seconds: 14 * 3600)
            walk.go(to: work, seconds: 900)
            walk.stay(seconds: 9 * 3600 + 1800)
            walk.go(to: home, seconds: 900)
        }
        walk.stay(seconds: 3600)
        return walk.fixes
    }

    /// In the middle of the night of the second day, a meter off.
    private static func late(among fixes: [Fix]) throws -> Fix {
        let moment = VisitDerivationTests.midnight.adding(seconds: 25 * 3600 + 7 * 3600 + 5)
        let near = try #require(fixes.last { $0.timestamp < moment })
        return Fix(timestamp: moment, coordinate: near.coordinate, horizontalAccuracy: 8)
    }

    private static func content(_ timeline: MemoryTimeline) -> [String] {
        timeline.visits[MemoryTimeline.person, default: []].map { visit in
            "\(visit.id) \(visit.arrival.milliseconds) \(visit.departure?.milliseconds ?? 0) \(visit.fixes) "
                + "\(visit.coordinate.latitude) \(visit.coordinate.longitude) \(visit.horizontalAccuracy)"
        } + timeline.crossings[MemoryTimeline.person, default: []].map { "\($0.kind) \($0.time.milliseconds)" }
    }

    private static func watched() throws -> MemoryTimeline {
        let timeline = try MemoryTimeline()
        let circle = try Circle(center: try Coordinate(latitude: 47.07, longitude: 15.44), radiusMeters: 150)
        try timeline.record([
            (
                .audit(MemoryTimeline.person), Timestamp(milliseconds: 0), .operator,
                .regionAdded(RegionID(rawValue: 1), .open(Region(identifier: "home", circle: circle)))
            )
        ])
        return timeline
    }

    /// The fold reads the rest of the night and a sixth of it before the fix: not the whole night, not the day after,
    /// and not more for a longer history.
    @Test func `a late fix costs the rest of its stay, however long the history`() throws {
        var costs: [Int] = []
        for days in [3, 6] {
            let fixes = try Self.life(days: days)
            let timeline = try Self.watched()
            try timeline.report(fixes)
            let before = timeline.fixesRead
            try timeline.report([try Self.late(among: fixes)])
            costs.append(timeline.fixesRead - before)
        }
        #expect(costs[0] == costs[1])
        let rest = 7 * 360
        #expect((rest...(rest + 1024 + 90 + 60)).contains(costs[0]))
    }

    @Test func `a late fix in a long stay comes to what it comes to in order`() throws {
        let fixes = try Self.life(days: 2)
        let late = try Self.late(among: fixes)
        let expected = try Self.watched()
        try expected.report((fixes + [late]).sorted { $0.timestamp < $1.timestamp })
        let live = try Self.watched()
        try live.report(fixes)
        try live.report([late])
        #expect(Self.content(live) == Self.content(expected))
        #expect(Self.content(live).count >= 8)
        // An hour of the first night, fix by fix, after the late fix of the last night.
        let hole = fixes[2000..<2360]
        let holed = try Self.watched()
        try holed.report(Array(fixes[..<2000]) + Array(fixes[2360...]))
        for fix in (Array(hole) + [late]).reversed() { try holed.report([fix]) }
        #expect(Self.content(holed) == Self.content(expected))
    }

    /// A better fix of a moment that is known already: of the newest, and of one in the first night.
    @Test func `a late fix of the same moment counts as in order`() throws {
        let fixes = Array(try Self.life(days: 1).prefix(400))
        for index in [399, 150] {
            let known = fixes[index]
            let better = Fix(
                timestamp: known.timestamp,
                coordinate: Geodesic.direct(from: known.coordinate, initialAzimuth: 45, distanceMeters: 25),
                horizontalAccuracy: 3)
            let expected = try Self.watched()
            try expected.report((fixes + [better]).sorted { $0.timestamp < $1.timestamp })
            let live = try Self.watched()
            try live.report(fixes)
            let before = Self.content(live)
            try live.report([better])
            #expect(Self.content(live) == Self.content(expected))
            #expect(Self.content(live) != before)
        }
    }
}
