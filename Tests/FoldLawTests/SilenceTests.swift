import Geodesy
import TestSupport
import Testing

@testable import Whereabouts
@testable import WhereaboutsTests

/// Silence as evidence, and visits reported by devices.
@Suite struct SilenceTests {
    private static let midnight = VisitDerivationTests.midnight
    private static let hour: Int64 = 3600

    private static func home() throws -> Coordinate { try Coordinate(latitude: 47.07, longitude: 15.44) }

    private static func visits(_ fixes: [Fix], _ rules: VisitRules = .newest) throws -> [Visit] {
        let timeline = try MemoryTimeline(rules)
        try timeline.report(fixes)
        return timeline.visits[MemoryTimeline.person, default: []]
    }

    private static func hours(_ visit: Visit) -> Double? {
        visit.departure.map { $0.seconds(since: visit.arrival) / 3600 }
    }

    /// The first case is 514 days, which were once one visit.
    @Test(arguments: [(514 * 24.0, 2), (73, 2), (71, 1)])
    func `a logger switched on twice at one place makes one visit only within 72 hours`(
        hours: Double, count: Int
    ) throws {
        var walk = Walk(from: try Self.home(), at: Self.midnight)
        walk.stay(seconds: 1800)
        walk.pause(seconds: Int64(hours * 3600))
        walk.stay(seconds: 1800)
        let told = try Self.visits(walk.fixes)
        try #require(told.count == count)
        if count == 2 { #expect(abs((Self.hours(told[0]) ?? 0) - 0.5) < 0.05) }
        #expect(told.last?.departure == nil)
    }

    /// The places are 30 km apart, which takes at least some minutes.
    @Test(arguments: [(10.0, true), (23, true), (25, false), (100, false)])
    func `a place was left when the next was reached only within 24 hours`(hours: Double, isInferred: Bool) throws {
        let home = try Self.home()
        let other = Geodesic.direct(from: home, initialAzimuth: 80, distanceMeters: 30_000)
        var walk = Walk(from: home, at: Self.midnight)
        walk.stay(seconds: 3600)
        walk.pause(seconds: Int64(hours * 3600))
        var later = Walk(from: other, at: walk.now, seed: 2)
        later.stay(seconds: 3600)
        let told = try Self.visits(walk.fixes + later.fixes)
        try #require(told.count == 2)
        let stayed = try #require(Self.hours(told[0]))
        if isInferred { #expect(stayed > hours - 0.5 && stayed < hours + 1) } else { #expect(abs(stayed - 1) < 0.05) }
        #expect(abs(told[1].arrival.seconds(since: walk.now)) < 120)
    }

    /// Twenty times ten minutes in two months, at one place: silences of less than 72 hours each.
    @Test func `many silences are no better evidence than one`() throws {
        var walk = Walk(from: try Self.home(), at: Self.midnight)
        for _ in 0..<20 {
            walk.stay(seconds: 600)
            walk.pause(seconds: 70 * Self.hour)
        }
        let told = try Self.visits(walk.fixes)
        #expect(told.count > 1)
        for visit in told { #expect((Self.hours(visit) ?? 0) <= 2 * 20 / 6.0 + 72) }
    }

    /// A heartbeat each hour is time with data: three weeks at home are one visit.
    @Test func `a phone at rest that reports each hour is at one place for weeks`() throws {
        var walk = Walk(from: try Self.home(), at: Self.midnight)
        walk.everySeconds = Self.hour
        walk.stay(seconds: 21 * 24 * Self.hour)
        #expect(try Self.visits(walk.fixes).count == 1)
    }

    // MARK: Elapsed time

    @Test func `one fix and ten minutes of silence are a visit under way at the time of the read`() throws {
        let fix = Fix(timestamp: Self.midnight, coordinate: try Self.home(), horizontalAccuracy: 12)
        let timeline = try MemoryTimeline()
        try timeline.report([fix])
        let stored = timeline.visits[MemoryTimeline.person, default: []]
        try #require(stored.count == 1)
        #expect(stored[0].told(at: Self.midnight.adding(seconds: 599)) == nil)
        let told = try #require(stored[0].told(at: Self.midnight.adding(seconds: 600)))
        #expect(told.isProvisional)
        #expect(told.departure == nil)
        #expect(told.firstReported == Self.midnight.adding(seconds: 600))
        // Three days later there is no evidence, and its duration would be 0.
        #expect(stored[0].told(at: Self.midnight.adding(seconds: 72 * Self.hour + 1)) == nil)
    }

    @Test func `after 72 hours of silence, an open visit ended when the person was last seen`() throws {
        var walk = Walk(from: try Self.home(), at: Self.midnight)
        walk.stay(seconds: 3600)
        let stored = try #require(try Self.visits(walk.fixes).first)
        let last = try #require(walk.fixes.last?.timestamp)
        #expect(stored.told(at: last.adding(seconds: 71 * Self.hour))?.departure == nil)
        let told = try #require(stored.told(at: last.adding(seconds: 73 * Self.hour)))
        #expect(told.departure == last)
        #expect(told.isProvisional)
    }

    // MARK: Reported visits

    private static func event(_ report: VisitReport) -> (StreamID, Timestamp, PrincipalID, Event) {
        (
            .track(MemoryTimeline.person), report.timestamp.adding(seconds: 1), MemoryTimeline.device.principal,
            .sightingReported(device: MemoryTimeline.device, .visit, .open(.visit(report)))
        )
    }

    private static func report(
        _ coordinate: Coordinate, from arrival: Int64?, to departure: Int64?, at told: Int64? = nil
    ) -> VisitReport {
        VisitReport(
            timestamp: midnight.adding(seconds: told ?? (departure ?? arrival ?? 0) + 60), coordinate: coordinate,
            horizontalAccuracy: 20, arrival: arrival.map { midnight.adding(seconds: $0) },
            departure: departure.map { midnight.adding(seconds: $0) })
    }

    @Test func `a reported visit of twenty days has the reported times`() throws {
        let timeline = try MemoryTimeline()
        try timeline.record([Self.event(Self.report(try Self.home(), from: 0, to: 20 * 24 * Self.hour))])
        let told = timeline.visits[MemoryTimeline.person, default: []]
        try #require(told.count == 1)
        #expect(told[0].arrival == Self.midnight)
        #expect(told[0].departure == Self.midnight.adding(seconds: 20 * 24 * Self.hour))
    }

    @Test func `reports extend a visit over silence, and end it at the reported departure`() throws {
        let home = try Self.home()
        let away = Geodesic.direct(from: home, initialAzimuth: 10, distanceMeters: 5000)
        var walk = Walk(from: home, at: Self.midnight.adding(seconds: 300))
        walk.stay(seconds: 600)
        walk.pause(seconds: 100 * Self.hour)
        walk.stay(seconds: 600)
        walk.pause(seconds: 8 * Self.hour)
        let back = walk.now
        var later = Walk(from: away, at: back, seed: 2)
        later.stay(seconds: 3600)
        let departure = 104 * Self.hour
        let timeline = try MemoryTimeline()
        try timeline.report(walk.fixes + later.fixes)
        try timeline.record([
            Self.event(Self.report(home, from: 0, to: nil, at: 120)),
            Self.event(Self.report(home, from: 0, to: departure)),
        ])
        let told = timeline.visits[MemoryTimeline.person, default: []]
        try #require(told.count == 2)
        #expect(abs(told[0].arrival.seconds(since: Self.midnight)) <= 300)
        #expect(told[0].departure == Self.midnight.adding(seconds: departure))
    }

    /// The device reports the arrival five minutes after its fixes show it, and the departure too early.
    @Test func `dense fixes override a report`() throws {
        let home = try Self.home()
        let away = Geodesic.direct(from: home, initialAzimuth: 10, distanceMeters: 5000)
        var walk = Walk(from: away, at: Self.midnight)
        walk.everySeconds = 30
        walk.go(to: home, seconds: 900)
        walk.stay(seconds: 7200)
        walk.go(to: away, seconds: 900)
        walk.stay(seconds: 1800)
        let plain = try Self.visits(walk.fixes)
        let timeline = try MemoryTimeline()
        try timeline.report(walk.fixes)
        try timeline.record([Self.event(Self.report(home, from: 600, to: 7800))])
        #expect(timeline.visits[MemoryTimeline.person, default: []].map(\.arrival) == plain.map(\.arrival))
        #expect(timeline.visits[MemoryTimeline.person, default: []].map(\.departure) == plain.map(\.departure))
    }

    @Test func `a report that contradicts itself or is about the future is ignored`() throws {
        let home = try Self.home()
        let day = 24 * Self.hour
        for (from, to, told) in [(day, Int64(0), day), (0, 3 * day, day)] {
            let timeline = try MemoryTimeline()
            try timeline.record([Self.event(Self.report(home, from: from, to: to, at: told))])
            #expect(timeline.visits[MemoryTimeline.person, default: []].isEmpty)
        }
    }

    @Test func `older rules ignore reports`() throws {
        let timeline = try MemoryTimeline(try #require(VisitRules.version(5)))
        try timeline.record([Self.event(Self.report(try Self.home(), from: 0, to: 9000))])
        #expect(timeline.visits[MemoryTimeline.person, default: []].isEmpty)
    }

    // MARK: Laws

    /// The data of an app that uses only Core Location's visits.
    private static func reports(of days: Itinerary) -> [VisitReport] {
        days.stays.flatMap { stay -> [VisitReport] in
            func moment(_ time: Double) -> Timestamp { Timestamp(milliseconds: Int64(time * 1000)) }
            let arrival = moment(stay.arrival)
            var reports = [
                VisitReport(
                    timestamp: arrival.adding(seconds: 150), coordinate: stay.coordinate, horizontalAccuracy: 30,
                    arrival: arrival, departure: nil)
            ]
            if let departure = stay.departure {
                reports.append(
                    VisitReport(
                        timestamp: moment(departure).adding(seconds: 90), coordinate: stay.coordinate,
                        horizontalAccuracy: 30, arrival: arrival, departure: moment(departure)))
            }
            return reports
        }
    }

    private static func content(_ timeline: MemoryTimeline) -> [String] {
        timeline.visits[MemoryTimeline.person, default: []].map { visit in
            "\(visit.id) \(visit.arrival.milliseconds) \(visit.departure?.milliseconds ?? 0) \(visit.fixes) "
                + "\(visit.coordinate.latitude) \(visit.coordinate.longitude) \(visit.horizontalAccuracy) "
                + "\(visit.lastSeen?.milliseconds ?? 0) \(visit.tellableFrom?.milliseconds ?? 0)"
        } + timeline.crossings[MemoryTimeline.person, default: []].map { "\($0.kind) \($0.time.milliseconds)" }
    }

    @Test(arguments: ["asked", "significant change", "adaptive, switched off"])
    func `fixes and reports give the same result in any order, together or one by one`(name: String) throws {
        let phone = try #require(Phone.all.first { $0.name == name })
        let days = try HistoryTests.days(2, count: 2)
        let circle = try Circle(center: days.home, radiusMeters: 150)
        var dice = SplitMix(11)
        // Every third fix, and after the first day four days of silence.
        var events = phone.fixes(of: days, seed: 3).enumerated().filter { $0.offset % 3 == 0 }.map {
            fix -> (StreamID, Timestamp, PrincipalID, Event) in
            var fix = fix.element
            let late = Double(fix.timestamp.milliseconds) / 1000 > days.start + 86_400
            if late { fix.timestamp = fix.timestamp.adding(seconds: 4 * 86_400) }
            fix.receivedAt = fix.timestamp.adding(seconds: 2)
            return (
                .track(MemoryTimeline.person), fix.timestamp, MemoryTimeline.device.principal,
                .fixReported(device: MemoryTimeline.device, answering: nil, .open(fix))
            )
        }
        events += Self.reports(of: days).filter {
            Double($0.timestamp.milliseconds) / 1000 < days.start + 86_400
        }.map(Self.event)
        func content(_ batches: [[(StreamID, Timestamp, PrincipalID, Event)]]) throws -> [String] {
            let timeline = try MemoryTimeline()
            try timeline.record([
                (
                    .audit(MemoryTimeline.person), Timestamp(milliseconds: 0), .operator,
                    .regionAdded(RegionID(rawValue: 1), .open(Region(identifier: "home", circle: circle)))
                )
            ])
            for batch in batches { try timeline.record(batch) }
            return Self.content(timeline)
        }
        let expected = try content([events.sorted { $0.1 < $1.1 }])
        #expect(expected.count > 4)
        #expect(try content([events.shuffled(using: &dice)]) == expected)
        #expect(try content(events.shuffled(using: &dice).map { [$0] }) == expected)
        #expect(try content([events, events]) == expected)
    }

    /// Days with no data except the device's visits.
    @Test func `a device's visits alone show where its person stayed`() throws {
        let days = try HistoryTests.days(1, count: 3)
        let timeline = try MemoryTimeline()
        for report in Self.reports(of: days) { try timeline.record([Self.event(report)]) }
        var score = HistoryTests.Score()
        score.add(HistoryTests.told(timeline), against: days)
        #expect(score.f1 >= 0.95)
    }

    /// Files of loggers that people switched on and off, as many as are present.
    @Test(.enabled(if: Repository.fixtures != nil, "WHEREABOUTS_FIXTURES names no folder with recorded files."))
    func `no visit from a logger's file is longer than its data allows`() throws {
        let folder = try #require(Repository.fixtures)
        let names = ["korita-zbevnica.gpx", "cerknicko-jezero.gpx", "garmin-connect-run.gpx"]
        var fixes: [Fix] = []
        for name in names {
            fixes += try Self.points(ofGPX: String(decoding: contents(ofFile: "\(folder)/\(name)"), as: UTF8.self))
        }
        #expect(fixes.count == 513 + 296 + 206)
        // Two years of one logger: the same hikes again, days and months later.
        let again = [3.5, 40, 514].flatMap { days in
            fixes.map { fix in
                Fix(
                    timestamp: fix.timestamp.adding(seconds: Int64(days * 86_400)), coordinate: fix.coordinate,
                    horizontalAccuracy: nil)
            }
        }
        let timeline = try MemoryTimeline()
        try timeline.report(fixes + again)
        let times = (fixes + again).map(\.timestamp).sorted()
        let told = timeline.visits[MemoryTimeline.person, default: []].filter { $0.departure != nil }
        #expect(!told.isEmpty)
        for visit in told {
            let departure = try #require(visit.departure)
            let during = times.filter { $0 >= visit.arrival && $0 <= departure }
            let data = zip(during, during.dropFirst()).map { $1.seconds(since: $0) }.filter { $0 <= 7200 }.reduce(0, +)
            #expect(departure.seconds(since: visit.arrival) <= 2 * data + 72 * 3600)
        }
    }

    /// The track points of a file with a time, read no further than a test needs.
    private static func points(ofGPX text: String) throws -> [Fix] {
        try text.split(separator: "<trkpt ").dropFirst().compactMap { point -> Fix? in
            func value(_ start: String, _ end: Character) -> Substring? {
                point.firstRange(of: start).map { point[$0.upperBound...].prefix { $0 != end } }
            }
            guard let latitude = value("lat=\"", "\"").flatMap({ Double($0) }),
                let longitude = value("lon=\"", "\"").flatMap({ Double($0) }), let time = value("<time>", "<"),
                let day = CalendarDay(String(time.prefix(10)))
            else { return nil }
            let clock = time.dropFirst(11).prefix(8).split(separator: ":").compactMap { Int64($0) }
            let seconds = day.number * 86_400 + clock[0] * 3600 + clock[1] * 60 + clock[2]
            return Fix(
                timestamp: Timestamp(milliseconds: seconds * 1000),
                coordinate: try Coordinate(latitude: latitude, longitude: longitude),
                horizontalAccuracy: nil)
        }
    }
}
