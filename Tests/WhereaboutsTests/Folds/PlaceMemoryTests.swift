import Geodesy
import Testing

@testable import Whereabouts

/// Where a phone reports seldom, earlier stays define the place; and the other changes of the rules of version 7.
@Suite struct PlaceMemoryTests {
    private static let five = VisitRules.version(5)
    private static let seven = VisitRules.version(7)

    private static func home() throws -> Coordinate { try Coordinate(latitude: 47.07, longitude: 15.44) }

    private static func fix(_ seconds: Double, _ place: Coordinate, _ accuracy: Double) -> Fix {
        Fix(
            timestamp: VisitDerivationTests.midnight.adding(seconds: Int64(seconds)), coordinate: place,
            horizontalAccuracy: accuracy)
    }

    /// Each evening one fix of 180 m at home, 130 m off in another direction each day, each morning one at work, and
    /// some on the way.
    private static func vagueDays(_ count: Int, from first: Int = 0) throws -> [Fix] {
        let home = try home()
        return (first..<(first + count)).flatMap { day in
            let morning = Double(day) * 86_400 + 8 * 3600
            func off(_ place: Coordinate, _ turn: Double) -> Coordinate {
                Geodesic.direct(from: place, initialAzimuth: turn, distanceMeters: 130)
            }
            func east(_ meters: Double) -> Coordinate {
                Geodesic.direct(from: home, initialAzimuth: 90, distanceMeters: meters)
            }
            let turn = Double(day) * 100
            return [
                fix(morning, east(900), 100), fix(morning + 300, east(4000), 100),
                fix(morning + 720, off(east(7000), turn), 180), fix(morning + 9 * 3600, east(6100), 100),
                fix(morning + 9 * 3600 + 300, east(3000), 100),
                fix(morning + 9 * 3600 + 700, off(home, turn + 50), 180),
            ]
        }
    }

    private static func timeline(_ fixes: [Fix], _ rules: VisitRules?) throws -> MemoryTimeline {
        let timeline = try MemoryTimeline(try #require(rules))
        let circle = try Circle(center: try home(), radiusMeters: 150)
        try timeline.record([
            (
                .audit(MemoryTimeline.person), Timestamp(milliseconds: 0), .operator,
                .regionAdded(RegionID(rawValue: 1), .open(Region(identifier: "home", circle: circle)))
            )
        ])
        try timeline.report(fixes)
        return timeline
    }

    private static func nights(_ timeline: MemoryTimeline) throws -> [Visit] {
        let home = try home()
        return (timeline.visits[MemoryTimeline.person] ?? []).filter { visit in
            Geodesic.distanceMeters(from: visit.coordinate, to: home) < 1000
        }
    }

    @Test func `a place seen vaguely every evening is known after a week, and so is who comes home`() throws {
        let fixes = try Self.vagueDays(10)
        let home = try Self.home()
        let remembering = try Self.timeline(fixes, Self.seven)
        let forgetful = try Self.timeline(fixes, Self.five)
        func errors(_ timeline: MemoryTimeline) throws -> [Double] {
            try Self.nights(timeline).suffix(4).map { Geodesic.distanceMeters(from: $0.coordinate, to: home) }
        }
        #expect(try errors(remembering).allSatisfy { $0 < 40 })
        #expect(try errors(forgetful).allSatisfy { $0 > 80 })
        #expect(try Self.nights(remembering).count == 10)
        func entries(_ timeline: MemoryTimeline) -> Int {
            (timeline.crossings[MemoryTimeline.person] ?? []).count { $0.kind == .enter }
        }
        #expect(entries(remembering) >= 6)
        #expect(entries(forgetful) <= 1)
    }

    /// Nothing in the past changes but by a late fix.
    @Test func `a later visit changes no earlier one`() throws {
        func content(_ days: Int) throws -> [Visit] {
            try Self.nights(Self.timeline(Self.vagueDays(10).prefix(days * 6).map { $0 }, Self.seven))
        }
        let ten = try content(10)
        for days in 2..<10 {
            // The last ones are not over yet.
            let told = try content(days).dropLast(2)
            #expect(told.map(\.coordinate) == ten.prefix(told.count).map(\.coordinate))
        }
    }

    @Test func `after sixty days a place is forgotten`() throws {
        func firstNight(after days: Int) throws -> Visit? {
            let fixes = try Self.vagueDays(8) + Self.vagueDays(2, from: days)
            let start = VisitDerivationTests.midnight.adding(seconds: Int64(days) * 86_400 + 12 * 3600)
            return try Self.nights(Self.timeline(fixes, Self.seven)).first { $0.arrival > start }
        }
        #expect(try #require(try firstNight(after: 8)).horizontalAccuracy < 150)
        #expect(try #require(try firstNight(after: 55)).horizontalAccuracy < 150)
        #expect(try #require(try firstNight(after: 108)).horizontalAccuracy > 250)
    }

    /// A shop 90 m from home, where the phone knows well where it is.
    @Test func `places known well stay their own`() throws {
        let home = try Self.home()
        let shop = Geodesic.direct(from: home, initialAzimuth: 0, distanceMeters: 90)
        let far = Geodesic.direct(from: home, initialAzimuth: 180, distanceMeters: 5000)
        var walk = Walk(from: home, at: VisitDerivationTests.midnight)
        walk.everySeconds = 600
        walk.accuracy = 8
        for _ in 0..<4 {
            for place in [far, shop, far, home] {
                walk.stay(seconds: 7200)
                walk.everySeconds = 60
                walk.go(to: place, seconds: 600)
                walk.everySeconds = 600
            }
        }
        walk.stay(seconds: 7200)
        let visits = try #require(Self.timeline(walk.fixes, Self.seven).visits[MemoryTimeline.person])
        let north = visits.filter { Geodesic.distanceMeters(from: $0.coordinate, to: far) > 2000 }
        #expect(north.count == 9)
        for (index, visit) in north.enumerated() {
            let truth = index % 2 == 0 ? home : shop
            #expect(Geodesic.distanceMeters(from: visit.coordinate, to: truth) < 12)
        }
    }

    /// One on the way, which no stay is known by.
    @Test func `a late fix between stays costs what lies about it`() throws {
        var costs: [Int] = []
        for days in [20, 40] {
            let timeline = try Self.timeline(try Self.vagueDays(days), Self.seven)
            let before = timeline.fixesRead
            let way = Geodesic.direct(from: try Self.home(), initialAzimuth: 90, distanceMeters: 2400)
            try timeline.report([Self.fix(5 * 86_400 + 8 * 3600 + 150, way, 100)])
            costs.append(timeline.fixesRead - before)
        }
        #expect(costs.allSatisfy { $0 < 60 })
    }

    /// A late fix that moves the place of an old evening changes the remembered place, and so the later evenings.
    @Test func `a late fix that moves a place is worked in as in order`() throws {
        let fixes = try Self.vagueDays(12)
        let moved = Geodesic.direct(from: try Self.home(), initialAzimuth: 300, distanceMeters: 160)
        let late = (1...4).map { Self.fix(2 * 86_400 + 18 * 3600 + Double($0) * 1800, moved, 60) }
        let live = try Self.timeline(fixes, Self.seven)
        for fix in late.reversed() { try live.report([fix]) }
        let sorted = try Self.timeline((fixes + late).sorted { $0.timestamp < $1.timestamp }, Self.seven)
        #expect(
            live.visits[MemoryTimeline.person]?.map(\.coordinate)
                == sorted.visits[MemoryTimeline.person]?.map(\.coordinate))
        #expect(
            live.crossings[MemoryTimeline.person, default: []].map(\.time)
                == sorted.crossings[MemoryTimeline.person, default: []].map(\.time))
        let before = try Self.timeline(fixes, Self.seven)
        #expect(try Self.nights(live).last?.coordinate != Self.nights(before).last?.coordinate)
    }

    // MARK: Other changes of these rules

    /// 1.2 km to the north and 1.5 km to the south within a minute, and home again.
    @Test func `two wrong fixes in a row tear no stay in two`() throws {
        let home = try Self.home()
        var walk = Walk(from: home, at: VisitDerivationTests.midnight)
        walk.everySeconds = 30
        walk.stay(seconds: 3600)
        walk.report(Geodesic.direct(from: home, initialAzimuth: 10, distanceMeters: 1200))
        walk.pause(seconds: 30)
        walk.report(Geodesic.direct(from: home, initialAzimuth: 190, distanceMeters: 1500))
        walk.pause(seconds: 30)
        walk.stay(seconds: 3600)
        #expect(try Self.nights(Self.timeline(walk.fixes, Self.five)).count == 2)
        let timeline = try Self.timeline(walk.fixes, Self.seven)
        #expect(try Self.nights(timeline).count == 1)
        #expect(timeline.crossings[MemoryTimeline.person] ?? [] == [])
    }

    /// Lunch 200 m from work, by a phone that reports each 100 m and each half hour: one fix there.
    @Test func `a lunch between two heartbeats is a visit`() throws {
        let work = try Self.home()
        func at(_ meters: Double) -> Coordinate {
            Geodesic.direct(from: work, initialAzimuth: 60, distanceMeters: meters)
        }
        var fixes = stride(from: 0.0, to: 3 * 3600, by: 1800).map { Self.fix($0, work, 20) }
        let noon = 3 * 3600.0
        fixes += [
            Self.fix(noon + 90, at(93), 6), Self.fix(noon + 185, at(200), 6), Self.fix(noon + 1525, at(88), 10),
        ]
        fixes += stride(from: noon + 3325, to: noon + 4 * 3600, by: 1800).map { Self.fix($0, work, 20) }
        func visits(_ rules: VisitRules?) throws -> [Visit] { try Self.nights(Self.timeline(fixes, rules)) }
        #expect(try visits(Self.five).count == 1)
        let told = try visits(Self.seven)
        #expect(told.count == 3)
        let lunch = try #require(told.dropFirst().first)
        #expect(Geodesic.distanceMeters(from: lunch.coordinate, to: at(200)) < 20)
    }

    /// Home at last, by one vague fix beside the last one of the way.
    @Test func `the newest fix and silence are a visit, though the fix before is another place`() throws {
        let home = try Self.home()
        let evening = 2 * 86_400 + 17 * 3600.0
        let fixes: [Fix] =
            try Self.vagueDays(3).dropLast() + [
                Self.fix(evening + 600, Geodesic.direct(from: home, initialAzimuth: 90, distanceMeters: 516), 88),
                Self.fix(evening + 800, Geodesic.direct(from: home, initialAzimuth: 90, distanceMeters: 241), 290),
            ]
        func last(_ rules: VisitRules?) throws -> Visit? {
            let now = fixes[fixes.count - 1].timestamp.adding(seconds: 3600)
            return try Self.timeline(fixes, rules).visits[MemoryTimeline.person]?.compactMap { $0.told(at: now) }.last
        }
        #expect(try last(Self.five)?.departure != nil)
        let told = try #require(try last(Self.seven))
        #expect(told.departure == nil)
        #expect(told.isProvisional)
        #expect(Geodesic.distanceMeters(from: told.coordinate, to: home) < 300)
    }
}
