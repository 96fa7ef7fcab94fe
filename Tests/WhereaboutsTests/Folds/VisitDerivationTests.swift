import Geodesy
import Testing

@testable import Whereabouts

@Suite struct VisitDerivationTests {
    /// 2026-05-01T00:00:00Z.
    static let midnight = Timestamp(milliseconds: 1_777_593_600_000)

    /// Home, and work 5 km from it by an azimuth.
    struct Town: CustomTestStringConvertible {
        let name: String
        let latitude, longitude, azimuth: Double
        var testDescription: String { name }
        var home: Coordinate { get throws { try Coordinate(latitude: latitude, longitude: longitude) } }
        var work: Coordinate {
            get throws { Geodesic.direct(from: try home, initialAzimuth: azimuth, distanceMeters: 5000) }
        }
    }

    static let towns = [
        Town(name: "Berlin", latitude: 52.52, longitude: 13.405, azimuth: 90),
        Town(name: "on the antimeridian", latitude: -16.8, longitude: 179.9999, azimuth: 90),
        Town(name: "across the north pole", latitude: 89.98, longitude: 30, azimuth: 0),
        Town(name: "on the equator", latitude: 0.0001, longitude: -0.01, azimuth: 45),
    ]

    private func day(in town: Town) throws -> Walk {
        var walk = Walk(from: try town.home, at: Self.midnight)
        walk.stay(seconds: 8 * 3600)
        walk.go(to: try town.work, seconds: 1200)
        walk.stay(seconds: 8 * 3600)
        walk.go(to: try town.home, seconds: 1200)
        walk.stay(seconds: 4 * 3600)
        return walk
    }

    /// Times are those of the script. A fix comes every 60 s and the way is made at 4.2 m/s, so that an edge may be off by
    /// one interval and the 65 m (16 s) within which a fix still belongs to the place.
    @Test(arguments: towns) func `a day is home, work, home, wherever on earth`(town: Town) throws {
        let timeline = try MemoryTimeline()
        try timeline.report(try day(in: town).fixes)
        let visits = timeline.visits[MemoryTimeline.person] ?? []
        try #require(visits.count == 3)
        let expected: [(place: Coordinate, arrival: Int64, departure: Int64?)] = [
            (try town.home, 0, 8 * 3600), (try town.work, 8 * 3600 + 1200, 16 * 3600 + 1200),
            (try town.home, 16 * 3600 + 2400, nil),
        ]
        for (visit, truth) in zip(visits, expected) {
            #expect(abs(visit.arrival.seconds(since: Self.midnight.adding(seconds: truth.arrival))) <= 80)
            #expect((visit.departure == nil) == (truth.departure == nil))
            if let departure = visit.departure, let expected = truth.departure {
                #expect(abs(departure.seconds(since: Self.midnight.adding(seconds: expected))) <= 80)
            }
            #expect(Geodesic.distanceMeters(from: visit.coordinate, to: truth.place) < 10)
            #expect(visit.horizontalAccuracy < 30)
        }
        #expect(Set(visits.map(\.id)).count == 3)
    }

    /// The boundary is 150 m from home: 36 s of the way at 4.17 m/s.
    @Test(arguments: towns) func `leaving and coming home cross its region once each`(town: Town) throws {
        let timeline = try MemoryTimeline()
        let circle = try Circle(center: try town.home, radiusMeters: 150)
        try timeline.record([
            (
                .audit(MemoryTimeline.person), Self.midnight, .operator,
                .regionAdded(RegionID(rawValue: 1), .open(Region(identifier: "home", circle: circle)))
            )
        ])
        try timeline.report(try day(in: town).fixes)
        let crossings = timeline.crossings[MemoryTimeline.person] ?? []
        try #require(crossings.map(\.kind) == [.exit, .enter])
        #expect(abs(crossings[0].time.seconds(since: Self.midnight.adding(seconds: 8 * 3600 + 36))) <= 20)
        #expect(abs(crossings[1].time.seconds(since: Self.midnight.adding(seconds: 16 * 3600 + 2364))) <= 20)
    }

    @Test func `a region added in the evening knows the morning`() throws {
        let town = Self.towns[0]
        let fixes = try day(in: town).fixes
        let region = Region(identifier: "home", circle: try Circle(center: try town.home, radiusMeters: 150))
        let added: (StreamID, Timestamp, PrincipalID, Event) = (
            .audit(MemoryTimeline.person), Self.midnight, .operator, .regionAdded(RegionID(rawValue: 1), .open(region))
        )
        let before = try MemoryTimeline()
        try before.record([added])
        try before.report(fixes)
        let after = try MemoryTimeline()
        try after.report(fixes)
        #expect(after.crossings[MemoryTimeline.person, default: []].isEmpty)
        try after.record([added])
        let times = { (timeline: MemoryTimeline) in timeline.crossings[MemoryTimeline.person, default: []].map(\.time) }
        #expect(times(after) == times(before))
        #expect(times(after).count == 2)
    }

    /// On the edge itself, at rest and to and fro over it by some meters, with errors of 20 m; twenty people.
    @Test func `an hour of jitter about a boundary is one crossing at the most`() throws {
        let home = try Coordinate(latitude: 48.2, longitude: 16.35)
        for seed in 1...20 {
            let middle = Geodesic.direct(from: home, initialAzimuth: 90, distanceMeters: 200)
            var walk = Walk(from: home, at: Self.midnight, seed: UInt64(seed))
            walk.everySeconds = Int64(5 + seed % 4 * 10)
            walk.accuracy = 20
            walk.scatterMeters = 30
            for turn in 0..<60 {
                let meters = Double(turn % 3) * 2
                walk.go(to: Geodesic.direct(from: home, initialAzimuth: 90, distanceMeters: meters), seconds: 60)
            }
            let timeline = try MemoryTimeline()
            try timeline.record([
                (
                    .audit(MemoryTimeline.person), Timestamp(milliseconds: 0), .operator,
                    .regionAdded(
                        RegionID(rawValue: 1),
                        .open(Region(identifier: "edge", circle: try Circle(center: middle, radiusMeters: 200))))
                )
            ])
            for fix in walk.fixes { try timeline.report([fix]) }
            #expect(timeline.crossings[MemoryTimeline.person, default: []].count <= 1)
            #expect(timeline.visits[MemoryTimeline.person, default: []].count == 1)
        }
    }

    @Test func `a removed region keeps its past crossings and gets no new ones`() throws {
        let town = Self.towns[0]
        let timeline = try MemoryTimeline()
        let region = Region(identifier: "home", circle: try Circle(center: try town.home, radiusMeters: 150))
        try timeline.record([
            (
                .audit(MemoryTimeline.person), Self.midnight, .operator,
                .regionAdded(RegionID(rawValue: 1), .open(region))
            )
        ])
        let fixes = try day(in: town).fixes
        let noon = Self.midnight.adding(seconds: 12 * 3600)
        try timeline.report(fixes.filter { $0.timestamp < noon })
        try timeline.record([(.audit(MemoryTimeline.person), noon, .operator, .regionRemoved(RegionID(rawValue: 1)))])
        try timeline.report(fixes.filter { $0.timestamp >= noon })
        #expect(timeline.crossings[MemoryTimeline.person, default: []].map(\.kind) == [.exit])
    }

    @Test func `a phone that sleeps at home all night leaves one visit and no crossing`() throws {
        let home = try Self.towns[0].home
        var walk = Walk(from: home, at: Self.midnight)
        walk.stay(seconds: 1200)
        walk.pause(seconds: 9 * 3600)
        walk.stay(seconds: 1200)
        let timeline = try MemoryTimeline()
        let region = Region(identifier: "home", circle: try Circle(center: home, radiusMeters: 100))
        try timeline.record([
            (
                .audit(MemoryTimeline.person), Self.midnight, .operator,
                .regionAdded(RegionID(rawValue: 1), .open(region))
            )
        ])
        try timeline.report(walk.fixes)
        #expect(timeline.visits[MemoryTimeline.person, default: []].map(\.departure) == [nil])
        #expect(timeline.crossings[MemoryTimeline.person, default: []].isEmpty)
    }

    /// From home to work in silence: 5 km take 1.15 · 5000 m ÷ 13.8 m/s (1.3 m/s + 5000 m ÷ 400 s) = 417 s.
    @Test func `a stay before a gap lasts until there is just time to travel`() throws {
        let town = Self.towns[0]
        var morning = Walk(from: try town.home, at: Self.midnight)
        morning.scatterMeters = 0
        morning.stay(seconds: 3600)
        var noon = Walk(from: try town.work, at: Self.midnight.adding(seconds: 5 * 3600))
        noon.scatterMeters = 0
        // The first fix there must not hide that the speed was not seen.
        noon.report(noon.place)
        noon.pause(seconds: 700)
        noon.stay(seconds: 3600)
        let timeline = try MemoryTimeline()
        try timeline.report(morning.fixes + noon.fixes)
        let visits = timeline.visits[MemoryTimeline.person, default: []]
        try #require(visits.count == 2)
        let departure = try #require(visits[0].departure)
        #expect(abs(departure.seconds(since: Self.midnight.adding(seconds: 5 * 3600 - 417))) < 2)
        #expect(visits[1].arrival == Self.midnight.adding(seconds: 5 * 3600))
    }

    @Test func `single spikes, invalid fixes, the null island and the future leave no trace`() throws {
        let town = Self.towns[0]
        let clean = try MemoryTimeline()
        let fixes = try day(in: town).fixes
        try clean.report(fixes)
        let dirty = try MemoryTimeline()
        var extra: [Fix] = []
        for (index, hour) in [1, 3, 5, 11, 13, 18].enumerated() {
            let moment = Self.midnight.adding(seconds: Int64(hour) * 3600 + 31)
            let far = Geodesic.direct(
                from: try town.home, initialAzimuth: Double(index) * 50, distanceMeters: 20_000 + 1000 * Double(index))
            extra.append(Fix(timestamp: moment, coordinate: far, horizontalAccuracy: 15))
            extra.append(
                Fix(
                    timestamp: moment.adding(seconds: 3), coordinate: far,
                    horizontalAccuracy: index % 2 == 0 ? -1 : 4000))
            extra.append(
                Fix(
                    timestamp: moment.adding(seconds: 5), coordinate: try Coordinate(latitude: 0, longitude: 0),
                    horizontalAccuracy: 5))
            var ahead = Fix(timestamp: moment.adding(seconds: 7), coordinate: far, horizontalAccuracy: 5)
            ahead.receivedAt = moment.adding(seconds: -60)
            extra.append(ahead)
        }
        try dirty.report((fixes + extra).sorted { $0.timestamp < $1.timestamp })
        let content = { (timeline: MemoryTimeline) in
            timeline.visits[MemoryTimeline.person, default: []].map { [$0.arrival, $0.departure] }
        }
        #expect(content(dirty) == content(clean))
    }

    @Test func `a visit is told after three minutes and keeps its id when it ends`() throws {
        let town = Self.towns[0]
        let timeline = try MemoryTimeline()
        var ids: Set<UInt64> = []
        var firstTold: Timestamp?
        for fix in try day(in: town).fixes.filter({ $0.timestamp < Self.midnight.adding(seconds: 10 * 3600) }) {
            try timeline.report([fix])
            // At one fix a minute, no visit appears because of silence.
            let visits = timeline.visits[MemoryTimeline.person, default: []].compactMap { $0.told(at: fix.timestamp) }
            ids.formUnion(visits.map(\.id))
            if firstTold == nil, !visits.isEmpty { firstTold = fix.timestamp }
        }
        #expect(firstTold == Self.midnight.adding(seconds: 180))
        let visits = timeline.visits[MemoryTimeline.person, default: []]
        #expect(Set(visits.map(\.id)) == ids)
        #expect(visits.count == 2)
        #expect(visits[0].firstReported == Self.midnight.adding(seconds: 181))
        let departureReported = try #require(visits[0].departureReported)
        #expect(departureReported.seconds(since: Self.midnight.adding(seconds: 8 * 3600)) < 330)
    }

    /// Fixes with times of receipt, given at once and out of order, as an import of an old export does.
    @Test func `an imported visit has the receipt of the fix that showed it`() throws {
        var fixes = try day(in: Self.towns[0]).fixes
        for index in fixes.indices { fixes[index].receivedAt = fixes[index].timestamp.adding(seconds: 1) }
        let live = try MemoryTimeline()
        for fix in fixes { try live.report([fix]) }
        let imported = try MemoryTimeline()
        let later = Self.midnight.adding(seconds: 400 * 86_400)
        try imported.report(fixes.reversed(), recordedAt: later, actor: .operator)
        let expected = live.visits[MemoryTimeline.person, default: []]
        let told = imported.visits[MemoryTimeline.person, default: []]
        try #require(told.count == expected.count && told.count > 2)
        for (visit, other) in zip(told, expected) {
            #expect(abs(visit.firstReported.seconds(since: other.firstReported)) <= 60)
            guard let departed = visit.departureReported, let known = other.departureReported else { continue }
            #expect(abs(departed.seconds(since: known)) <= 180)
        }
    }

    /// A bus waits 100 s at a stop, 3 km from both ends.
    @Test func `a short stop on the way is no visit`() throws {
        let home = try Self.towns[0].home
        let stop = Geodesic.direct(from: home, initialAzimuth: 10, distanceMeters: 3000)
        let work = Geodesic.direct(from: home, initialAzimuth: 10, distanceMeters: 6000)
        var walk = Walk(from: home, at: Self.midnight)
        walk.everySeconds = 10
        walk.stay(seconds: 3600)
        walk.go(to: stop, seconds: 300)
        walk.stay(seconds: 100)
        walk.go(to: work, seconds: 300)
        walk.stay(seconds: 3600)
        let timeline = try MemoryTimeline()
        try timeline.report(walk.fixes)
        #expect(timeline.visits[MemoryTimeline.person, default: []].count == 2)
    }

    /// Past a stop of 100 m radius at 20 m/s with a fix each 30 s: none of them is inside.
    @Test func `a region passed between two fixes is entered and left`() throws {
        let start = try Self.towns[0].home
        let passed = Geodesic.direct(from: start, initialAzimuth: 90, distanceMeters: 3300)
        var walk = Walk(from: start, at: Self.midnight)
        walk.scatterMeters = 0
        walk.everySeconds = 30
        walk.stay(seconds: 600)
        walk.go(to: Geodesic.direct(from: start, initialAzimuth: 90, distanceMeters: 6000), seconds: 300)
        walk.stay(seconds: 600)
        let timeline = try MemoryTimeline()
        let region = Region(identifier: "stop", circle: try Circle(center: passed, radiusMeters: 100))
        try timeline.record([
            (
                .audit(MemoryTimeline.person), Self.midnight, .operator,
                .regionAdded(RegionID(rawValue: 1), .open(region))
            )
        ])
        try timeline.report(walk.fixes)
        let crossings = timeline.crossings[MemoryTimeline.person, default: []]
        try #require(crossings.map(\.kind) == [.enter, .exit])
        #expect(abs(crossings[0].time.seconds(since: Self.midnight) - (600 + 3200 / 20)) < 1)
        #expect(abs(crossings[1].time.seconds(since: Self.midnight) - (600 + 3400 / 20)) < 1)
    }

    @Test func `a late fix is worked in without deriving the whole history again`() throws {
        let town = Self.towns[0]
        let timeline = try MemoryTimeline()
        var walk = Walk(from: try town.home, at: Self.midnight)
        for _ in 0..<6 {
            walk.stay(seconds: 3 * 3600)
            walk.go(to: try town.work, seconds: 1200)
            walk.stay(seconds: 3 * 3600)
            walk.go(to: try town.home, seconds: 1200)
        }
        let held = Self.midnight.adding(seconds: 20 * 3600)...Self.midnight.adding(seconds: 21 * 3600)
        try timeline.report(walk.fixes.filter { !held.contains($0.timestamp) })
        let kept = timeline.restarts[MemoryTimeline.person] ?? []
        try timeline.report(walk.fixes.filter { held.contains($0.timestamp) }, recordedAt: walk.now)
        let inOrder = try MemoryTimeline()
        try inOrder.report(walk.fixes)
        let content = { (timeline: MemoryTimeline) in
            timeline.visits[MemoryTimeline.person, default: []].map { "\($0.id) \($0.arrival) \($0.fixes)" }
        }
        #expect(content(timeline) == content(inOrder))
        #expect(timeline.restarts[MemoryTimeline.person]?.first == kept.first)
        let areSame =
            Set(timeline.restarts[MemoryTimeline.person] ?? []) == Set(inOrder.restarts[MemoryTimeline.person] ?? [])
        #expect(areSame)
    }
}
