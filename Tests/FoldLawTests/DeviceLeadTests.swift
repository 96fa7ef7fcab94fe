import Geodesy
import TestSupport
import Testing

@testable import Whereabouts
@testable import WhereaboutsTests

/// Several devices of one person: a phone that is carried, a tablet that mostly is not.
@Suite struct DeviceLeadTests {
    private static let tablet = DeviceID(rawValue: 3)
    private static let phone = DeviceID(rawValue: 4)
    private static let midnight = VisitDerivationTests.midnight
    private static var home: Coordinate { get throws { try Coordinate(latitude: 52.52, longitude: 13.405) } }
    private static var work: Coordinate {
        get throws { Geodesic.direct(from: try home, initialAzimuth: 70, distanceMeters: 5000) }
    }

    /// Home, eight hours at work from 8:20 on, home.
    private static func day(seed: UInt64 = 1) throws -> Walk {
        var walk = Walk(from: try home, at: midnight, seed: seed)
        walk.stay(seconds: 8 * 3600)
        walk.go(to: try work, seconds: 1200)
        walk.stay(seconds: 8 * 3600)
        walk.go(to: try home, seconds: 1200)
        walk.stay(seconds: 3 * 3600)
        return walk
    }

    private static func lying(at place: Coordinate, seconds: Int64, every: Int64 = 60, seed: UInt64 = 2) -> Walk {
        var walk = Walk(from: place, at: midnight, seed: seed)
        walk.everySeconds = every
        walk.accuracy = 30
        walk.scatterMeters = 20
        walk.stay(seconds: seconds)
        return walk
    }

    private static func folded(_ fixes: [(device: DeviceID, fix: Fix)]) throws -> MemoryTimeline {
        let timeline = try MemoryTimeline()
        try timeline.report(fixes.sorted { ($0.fix.timestamp, $0.device) < ($1.fix.timestamp, $1.device) })
        return timeline
    }

    private static func visits(_ timeline: MemoryTimeline) -> [Visit] {
        timeline.visits[MemoryTimeline.person] ?? []
    }

    private static func leads(_ timeline: MemoryTimeline) -> [Lead] { timeline.leads[MemoryTimeline.person] ?? [] }

    /// The tablet reports twice as often, first and at the same moments, and its Wi-Fi errs by 600 m for some minutes
    /// at noon.
    @Test func `a tablet left at home changes nothing in the day of who carries a phone`() throws {
        let phone = try Self.day().fixes.map { (Self.phone, $0) }
        let lying = Self.lying(at: try Self.home, seconds: 20 * 3600, every: 30).fixes
        let spot = Geodesic.direct(from: try Self.home, initialAzimuth: 200, distanceMeters: 600)
        let noon = Self.midnight.adding(seconds: 12 * 3600)..<Self.midnight.adding(seconds: 12 * 3600 + 300)
        let tablet = lying.map { fix in
            var coordinate = fix.coordinate
            if noon.contains(fix.timestamp) { coordinate = spot }
            return (Self.tablet, Fix(timestamp: fix.timestamp, coordinate: coordinate, horizontalAccuracy: 40))
        }
        let alone = Self.visits(try Self.folded(phone))
        let timeline = try Self.folded(tablet + phone)
        let both = Self.visits(timeline)
        try #require(alone.count == 3 && both.count == 3)
        // The tablet led until the phone was seen at a third place: at 4 m/s and a fix a minute, in the third minute.
        for (visit, truth) in zip(both, alone) {
            #expect(abs(visit.arrival.seconds(since: truth.arrival)) <= 60)
            #expect(visit.departure.map { abs($0.seconds(since: truth.departure ?? $0)) } ?? 0 <= 180)
            #expect(Geodesic.distanceMeters(from: visit.coordinate, to: truth.coordinate) <= 15)
        }
        #expect(both.dropFirst().map(\.id) == alone.dropFirst().map(\.id))
        #expect(both.dropFirst().map(\.departure) == alone.dropFirst().map(\.departure))
        #expect(Self.leads(timeline).map(\.device) == [Self.tablet, Self.phone])
    }

    /// The phone leaves at 8:00 and is at its third place two minutes later. In between, one fix of the tablet is 600 m
    /// off.
    @Test func `one wrong fix of the leader does not show that it is carried`() throws {
        let phone = try Self.day().fixes.map { (Self.phone, $0) }
        let lying = Self.lying(at: try Self.home, seconds: 20 * 3600, every: 30).fixes
        let spot = Geodesic.direct(from: try Self.home, initialAzimuth: 200, distanceMeters: 600)
        let right = try Self.folded(lying.map { (Self.tablet, $0) } + phone)
        let lead = try #require(Self.leads(right).last)
        try #require(lead.device == Self.phone)
        for seconds in stride(from: Int64(-180), through: -30, by: 30) {
            let wrong = lying.map { fix in
                let isOff = fix.timestamp == lead.from.adding(seconds: seconds)
                return (
                    Self.tablet,
                    isOff ? Fix(timestamp: fix.timestamp, coordinate: spot, horizontalAccuracy: 40) : fix
                )
            }
            #expect(wrong.count { $0.1.coordinate == spot } == 1)
            #expect(Self.leads(try Self.folded(wrong + phone)) == Self.leads(right), "\(seconds) s")
        }
    }

    /// If both devices report at the moment at which the lead changes, the later leader's report counts.
    @Test func `at every moment exactly one of two devices leads, the new one from the moment it takes the lead`()
        throws
    {
        let moments = [Self.midnight, Self.midnight.adding(seconds: 3600), Self.midnight.adding(seconds: 7200)]
        let leads = Leads([
            Lead(from: moments[0], device: Self.tablet), Lead(from: moments[1], device: Self.phone),
            Lead(from: moments[2], device: Self.tablet),
        ])
        for (moment, leader) in zip(moments, [Self.tablet, Self.phone, Self.tablet]) {
            let before = leader == Self.tablet ? Self.phone : Self.tablet
            #expect(leads.leads(leader, at: moment) && !leads.leads(before, at: moment))
            guard moment != moments[0] else { continue }
            let justBefore = Timestamp(milliseconds: moment.milliseconds - 1)
            #expect(leads.leads(before, at: justBefore) && !leads.leads(leader, at: justBefore))
        }
        // Before the first lead there was one device alone.
        #expect(leads.leads(Self.phone, at: Timestamp(milliseconds: Self.midnight.milliseconds - 1)))
    }

    @Test func `two devices that are carried tell one track`() throws {
        let phone = try Self.day().fixes.map { (Self.phone, $0) }
        var slow = try Self.day(seed: 5).fixes.enumerated().filter { $0.offset % 2 == 1 }.map {
            (Self.tablet, $0.element)
        }
        slow.removeFirst()
        let timeline = try Self.folded(phone + slow)
        let alone = Self.visits(try Self.folded(phone))
        let both = Self.visits(timeline)
        #expect(both.map(\.id) == alone.map(\.id))
        #expect(both.map(\.arrival) == alone.map(\.arrival) && both.map(\.departure) == alone.map(\.departure))
        #expect(Self.leads(timeline).map(\.device) == [Self.phone])
    }

    /// The phone dies on the evening of the first day. The tablet comes along to the mountains on the second.
    @Test func `of a leader gone silent the next device takes the lead when it is carried, or half a day later`() throws
    {
        let phone = try Self.day().fixes
        let end = try #require(phone.last?.timestamp)
        var tablet = Self.lying(at: try Self.home, seconds: 30 * 3600)
        let mountains = Geodesic.direct(from: try Self.home, initialAzimuth: 180, distanceMeters: 40_000)
        tablet.go(to: mountains, seconds: 3600)
        tablet.stay(seconds: 7200)
        let carried = try Self.folded(phone.map { (Self.phone, $0) } + tablet.fixes.map { (Self.tablet, $0) })
        let last = try #require(Self.visits(carried).last)
        #expect(Geodesic.distanceMeters(from: last.coordinate, to: mountains) <= 30)
        #expect(Self.leads(carried).last?.device == Self.tablet)

        // The phone dies at work, the tablet stays at home: there the person is taken to be from half a day later on.
        let noon = Self.midnight.adding(seconds: 12 * 3600)
        let lying = Self.lying(at: try Self.home, seconds: 30 * 3600)
        let left = try Self.folded(
            phone.filter { $0.timestamp < noon }.map { (Self.phone, $0) } + lying.fixes.map { (Self.tablet, $0) })
        let taken = try #require(Self.leads(left).last)
        #expect(taken.device == Self.tablet)
        #expect(abs(taken.from.seconds(since: noon) - 12 * 3600) <= 120)
        #expect(Self.visits(left).count == 3)
        #expect(end > noon)
    }

    /// Both report each minute at the same moment; the tablet is at home and leads first, the phone moves about.
    @Test func `of two devices at one moment one counts at the most`() throws {
        let transform = GeocentricTransform()
        var dice = SplitMix(11)
        var lead = DeviceLead()
        var counted: [DeviceID: Int] = [:]
        var both = 0
        for minute in 0..<600 {
            let carried = Geodesic.direct(
                from: try Self.home, initialAzimuth: Double(minute / 20) * 77, distanceMeters: Double(minute / 20) * 700
            )
            var follows = 0
            // They change places in the sixth hour.
            let places = [(Self.tablet, try Self.home), (Self.phone, carried)]
            let turned = minute < 300 ? places : [(Self.tablet, carried), (Self.phone, try Self.home)]
            for (device, place) in turned {
                let off = Geodesic.direct(
                    from: place, initialAzimuth: 0, distanceMeters: Double.random(in: 0...10, using: &dice))
                let fix = TrackPoint(
                    time: Self.midnight.milliseconds + Int64(minute) * 60_000, coordinate: off, accuracy: 10, transform)
                guard lead.follows(fix, of: device) else { continue }
                follows += 1
                counted[device, default: 0] += 1
            }
            if follows > 1 { both += 1 }
        }
        #expect(both == 0)
        // The lead went to the phone, and back.
        #expect(try #require(counted[Self.tablet]) > 100)
        #expect(try #require(counted[Self.phone]) > 100)
        #expect(lead.found.count >= 3)
    }

    /// The tablet makes a different journey each day. All devices report fixes, late and at the same moments.
    @Test func `who leads is a function of the set of fixes`() throws {
        var fixes: [(device: DeviceID, fix: Fix)] = []
        let days = try HistoryTests.days(0, count: 2)
        let other = try HistoryTests.days(4, count: 2)
        let phone = try #require(Phone.all.first { $0.name == "5 min" })
        let tablet = try #require(Phone.all.first { $0.name == "adaptive, offline" })
        let start = Int64(days.start * 1000)
        func add(_ device: DeviceID, _ told: [Fix], by offset: Int64) {
            for fix in told {
                // To whole seconds, so that moments coincide.
                var moved = Fix(
                    timestamp: Timestamp(milliseconds: (fix.timestamp.milliseconds + offset) / 30_000 * 30_000),
                    coordinate: fix.coordinate, horizontalAccuracy: fix.horizontalAccuracy)
                moved.receivedAt = moved.timestamp.adding(seconds: 40_000)
                fixes.append((device, moved))
            }
        }
        add(Self.phone, phone.fixes(of: days, seed: 1), by: 0)
        add(Self.tablet, tablet.fixes(of: other, seed: 2), by: start - Int64(other.start * 1000))
        add(DeviceID(rawValue: 9), phone.fixes(of: other, seed: 3), by: start - Int64(other.start * 1000))

        var dice = SplitMix(11)
        func content(_ batches: [[(device: DeviceID, fix: Fix)]]) throws -> [String] {
            let timeline = try MemoryTimeline()
            for batch in batches { try timeline.report(batch) }
            return Self.leads(timeline).map { "\($0.from.milliseconds) \($0.device.rawValue)" }
                + Self.visits(timeline).map { visit in
                    "\(visit.id) \(visit.arrival.milliseconds) \(visit.departure?.milliseconds ?? 0) \(visit.fixes)"
                }
        }
        let sorted = fixes.sorted { ($0.fix.timestamp, $0.device) < ($1.fix.timestamp, $1.device) }
        let expected = try content([sorted])
        #expect(expected.count { $0.hasSuffix(" 3") || $0.hasSuffix(" 4") || $0.hasSuffix(" 9") } >= 3)
        #expect(try content(sorted.map { [$0] }) == expected)
        #expect(try content([fixes, fixes.shuffled(using: &dice)]) == expected)
        for size in [1, 13, 97] {
            let shuffled = fixes.shuffled(using: &dice)
            let batches = stride(from: 0, to: fixes.count, by: size).map { Array(shuffled[$0...].prefix(size)) }
            #expect(try content(batches) == expected)
        }
    }

    @Test func `beside each other, each device's errors are its own`() throws {
        let there = Geodesic.direct(from: try Self.home, initialAzimuth: 90, distanceMeters: 9000)
        func stored(_ device: DeviceID, _ second: Int64, _ place: Coordinate) -> StoredFix {
            StoredFix(
                device: device, timestamp: Self.midnight.adding(seconds: second), coordinate: place,
                horizontalAccuracy: 10, receivedAt: nil)
        }
        let fixes = try (0..<10).map { index in
            index % 2 == 0
                ? stored(Self.tablet, Int64(index) * 30, try Self.home) : stored(Self.phone, Int64(index) * 30, there)
        }
        let marks = Anomaly.marks(of: fixes, between: nil, and: nil, GeocentricTransform())
        #expect(marks.allSatisfy { $0 == nil })
    }
}
