import Geodesy
import TestSupport
import Testing

@testable import Whereabouts
@testable import WhereaboutsTests

/// The rules judged by people whose days are known: their places, ways and clients are drawn from a seed.
@Suite struct HistoryTests {
    /// Derived visits compared with true stays, paired best first by the share of their common time.
    struct Score {
        var stays = 0
        var told = 0
        var paired = 0
        /// With at least eight tenths of their common time shared.
        var pairedClosely = 0
        var arrivalErrors: [Double] = []
        var placeErrors: [Double] = []
        var covered = 0
        var surplus = 0

        /// The harmonic mean of the share of derived visits that were stays and the share of stays that were derived.
        var f1: Double { stays + told == 0 ? 1 : 2 * Double(paired) / Double(stays + told) }

        /// The mean of that and of its closer sister.
        var quality: Double { stays + told == 0 ? 1 : Double(paired + pairedClosely) / Double(stays + told) }

        mutating func add(_ visits: [Told], against days: Itinerary) {
            stays += days.stays.count
            told += visits.count
            var pairs: [(share: Double, stay: Int, visit: Int)] = []
            for (i, stay) in days.stays.enumerated() {
                for (j, visit) in visits.enumerated() {
                    let (a, b) = (stay.departure ?? days.end, visit.departure ?? days.end)
                    let common = min(a, b) - max(stay.arrival, visit.arrival)
                    guard common > 0 else { continue }
                    let share = common / (max(a, b) - min(stay.arrival, visit.arrival))
                    guard Geodesic.distanceMeters(from: stay.coordinate, to: visit.coordinate) <= 500 else { continue }
                    pairs.append((share, i, j))
                }
            }
            pairs.sort { ($1.share, $0.stay, $0.visit) < ($0.share, $1.stay, $1.visit) }
            var (usedStays, usedVisits): (Set<Int>, Set<Int>) = ([], [])
            for pair in pairs where pair.share >= 0.5 {
                guard !usedStays.contains(pair.stay), !usedVisits.contains(pair.visit) else { continue }
                usedStays.insert(pair.stay)
                usedVisits.insert(pair.visit)
                if pair.share >= 0.8 { pairedClosely += 1 }
                let (stay, visit) = (days.stays[pair.stay], visits[pair.visit])
                let distance = Geodesic.distanceMeters(from: stay.coordinate, to: visit.coordinate)
                if pair.stay > 0 { arrivalErrors.append(abs(visit.arrival - stay.arrival)) }
                placeErrors.append(distance)
                if distance <= visit.accuracy { covered += 1 }
            }
            paired += usedStays.count
            // A stay is in pieces when several visits cover parts of it.
            for stay in days.stays {
                let parts = visits.count { visit in
                    min(stay.departure ?? days.end, visit.departure ?? days.end) - max(stay.arrival, visit.arrival)
                        >= max(60, 0.1 * ((stay.departure ?? days.end) - stay.arrival))
                }
                surplus += max(0, parts - 1)
            }
        }
    }

    struct Told {
        let arrival: Double
        let departure: Double?
        let coordinate: Coordinate
        let accuracy: Double
    }

    static let homes: [(latitude: Double, longitude: Double)] = [
        (52.52, 13.4), (-16.8, 179.9995), (0.001, -78.4), (89.985, 30),
    ]

    static func days(_ person: Int, count: Int = 2) throws -> Itinerary {
        let home = homes[person % homes.count]
        return Itinerary(
            home: try Coordinate(latitude: home.latitude, longitude: home.longitude),
            start: 1_780_272_000 + Double(person) * 604_800, days: count, seed: 9000 + UInt64(person))
    }

    static func told(_ fixes: [Fix], _ rules: VisitRules = .newest) throws -> [Told] {
        let timeline = try MemoryTimeline(rules)
        try timeline.report(fixes)
        return told(timeline)
    }

    static func told(_ timeline: MemoryTimeline) -> [Told] {
        timeline.visits[MemoryTimeline.person, default: []].map { visit in
            Told(
                arrival: Double(visit.arrival.milliseconds) / 1000,
                departure: visit.departure.map { Double($0.milliseconds) / 1000 }, coordinate: visit.coordinate,
                accuracy: visit.horizontalAccuracy)
        }
    }

    static func score(_ phone: Phone, _ rules: VisitRules = .newest, people: Int) throws -> Score {
        var score = Score()
        for person in 0..<people {
            let days = try days(person)
            score.add(try told(phone.fixes(of: days, seed: 500 + UInt64(person)), rules), against: days)
        }
        return score
    }

    /// If a client reports often enough, nine of ten stays are found, unbroken, and accurate to some meters and
    /// seconds. The floors are the minimum that the rules must reach; the floor is lower for a phone that only answers
    /// questions.
    @Test(arguments: [
        ("10 s", 0.95), ("30 s", 0.95), ("30 s, drifting", 0.9), ("30 s, spikes", 0.9), ("5 min", 0.9),
        ("adaptive", 0.95), ("battery saver", 0.9), ("adaptive, switched off", 0.85), ("adaptive, offline", 0.9),
        ("asked", 0.75), ("visits", 0.95),
    ])
    func `stays are found`(name: String, floor: Double) throws {
        let phone = try #require(Phone.all.first { $0.name == name })
        let score = try Self.score(phone, people: name == "10 s" ? 1 : name == "30 s" ? 2 : 4)
        #expect(score.f1 >= floor)
        #expect(score.surplus * 12 <= score.stays)
        let samplings: [String: Double] = ["5 min": 150, "asked": 150, "battery saver": 60]
        let sampling = samplings[name] ?? 15
        #expect(median(score.arrivalErrors) <= sampling)
        #expect(median(score.placeErrors) <= 12)
        let covered = Double(score.covered) / Double(max(1, score.paired))
        #expect(covered >= 0.55)
    }

    /// A stay is as long as its fixes stay within 200 m of the first and lasts at least ten minutes, until the next fix
    /// outside (Li et al. 2008, DOI 10.1145/1463434.1463477): the rule for phones that report nothing but cells.
    private func anchored(_ fixes: [Fix]) -> [Told] {
        var found: [Told] = []
        var start = 0
        while start < fixes.count {
            var next = start + 1
            while next < fixes.count,
                Geodesic.distanceMeters(from: fixes[start].coordinate, to: fixes[next].coordinate) <= 200
            {
                next += 1
            }
            guard next < fixes.count, fixes[next].timestamp.seconds(since: fixes[start].timestamp) >= 600 else {
                start += 1
                continue
            }
            found.append(
                Told(
                    arrival: Double(fixes[start].timestamp.milliseconds) / 1000,
                    departure: Double(fixes[next].timestamp.milliseconds) / 1000, coordinate: fixes[start].coordinate,
                    accuracy: 200))
            start = next
        }
        return found
    }

    @Test func `significant changes alone tell no less than the anchor rule finds in them`() throws {
        var (ours, anchor) = (Score(), Score())
        for person in 0..<24 {
            let days = try Self.days(person)
            let fixes = Phone.significantChange.fixes(of: days, seed: 500 + UInt64(person))
                .sorted { $0.timestamp < $1.timestamp }
            ours.add(try Self.told(fixes), against: days)
            anchor.add(anchored(fixes), against: days)
        }
        // A hundredth is less than the random variation with so many stays.
        #expect(ours.quality >= anchor.quality - 0.01)
    }

    /// The results depend only on the set of fixes: in the order of time or arrival, shuffled, twice, one by one.
    @Test(arguments: ["30 s, spikes", "adaptive, offline", "asked", "visits", "significant change", "1 s"])
    func `the order and the repetition of fixes change nothing`(name: String) throws {
        let phone = try #require(Phone.all.first { $0.name == name })
        let days = try Self.days(1, count: 2)
        var fixes = phone.fixes(of: days, seed: 7)
        // Enough to leave home and come somewhere, and few enough to fold one by one.
        if fixes.count > 1500 {
            let noon = Timestamp(milliseconds: Int64(days.start * 1000) + 7 * 3_600_000)
            fixes = Array(fixes.sorted { $0.timestamp < $1.timestamp }.filter { $0.timestamp >= noon }.prefix(1500))
        }
        let circle = try Circle(center: days.home, radiusMeters: 120)
        var dice = SplitMix(3)
        func content(_ batches: [[Fix]], engineBytesMax: Int = TimelineFold.engineBytesMax) throws -> [String] {
            let timeline = try MemoryTimeline(engineBytesMax: engineBytesMax)
            try timeline.record([
                (
                    .audit(MemoryTimeline.person), Timestamp(milliseconds: 0), .operator,
                    .regionAdded(RegionID(rawValue: 1), .open(Region(identifier: "home", circle: circle)))
                )
            ])
            for batch in batches { try timeline.report(batch) }
            return timeline.visits[MemoryTimeline.person, default: []].map { visit in
                "\(visit.id) \(visit.arrival.milliseconds) \(visit.departure?.milliseconds ?? 0) \(visit.fixes) "
                    + "\(visit.horizontalAccuracy) \(visit.coordinate.latitude) \(visit.coordinate.longitude)"
            } + timeline.crossings[MemoryTimeline.person, default: []].map { "\($0.kind) \($0.time.milliseconds)" }
        }
        let expected = try content([fixes.sorted { $0.timestamp < $1.timestamp }])
        #expect(!expected.isEmpty)
        #expect(try content([fixes]) == expected)
        #expect(try content([fixes.shuffled(using: &dice), fixes]) == expected)
        #expect(try content(fixes.map { [$0] }) == expected)
        let shuffled = fixes.shuffled(using: &dice)
        let batches = stride(from: 0, to: fixes.count, by: 97).map { Array(shuffled[$0...].prefix(97)) }
        #expect(try content(batches) == expected)
        // With each batch, the state is made again from the rows.
        #expect(try content(batches, engineBytesMax: 0) == expected)
    }

    /// A loop of 600 m at 1.1 m/s, three times round: no stay, however long.
    @Test func `a slow walk round a park is no visit`() throws {
        let home = try Coordinate(latitude: 47.07, longitude: 15.44)
        let park = Geodesic.direct(from: home, initialAzimuth: 30, distanceMeters: 500)
        var walk = Walk(from: home, at: VisitDerivationTests.midnight)
        walk.everySeconds = 30
        walk.stay(seconds: 3600)
        for corner in 0...24 {
            walk.go(
                to: Geodesic.direct(from: park, initialAzimuth: Double(corner % 8) * 45, distanceMeters: 95),
                seconds: corner == 0 ? 380 : 66)
        }
        walk.go(to: home, seconds: 380)
        walk.stay(seconds: 3600)
        #expect(try Self.told(walk.fixes).count == 2)
    }

    /// Five minutes 600 m off, gone and back within 30 s: a wrong base station or access point, however sure the phone.
    @Test func `a false spot neither makes a visit nor ends one`() throws {
        let home = try Coordinate(latitude: 47.07, longitude: 15.44)
        var walk = Walk(from: home, at: VisitDerivationTests.midnight)
        walk.everySeconds = 30
        walk.accuracy = 25
        walk.stay(seconds: 3600)
        let elsewhere = Geodesic.direct(from: home, initialAzimuth: 200, distanceMeters: 600)
        var fixes = walk.fixes
        for step in 0..<10 {
            fixes.append(
                Fix(
                    timestamp: walk.now.adding(seconds: Int64(step) * 30), coordinate: elsewhere,
                    horizontalAccuracy: 40))
        }
        var later = Walk(from: home, at: walk.now.adding(seconds: 300), seed: 2)
        later.everySeconds = 30
        later.stay(seconds: 3600)
        let told = try Self.told(fixes + later.fixes)
        #expect(told.count == 1)
        #expect(told.first?.departure == nil)
    }

    /// One vague fix beside home after an hour of silence, and one when the person drives off.
    @Test func `a stay goes on over silence and a vague fix beside it`() throws {
        let home = try Coordinate(latitude: 47.07, longitude: 15.44)
        var walk = Walk(from: home, at: VisitDerivationTests.midnight)
        walk.accuracy = 40
        walk.everySeconds = 300
        walk.stay(seconds: 7200)
        walk.pause(seconds: 3600)
        let beside = Geodesic.direct(from: home, initialAzimuth: 90, distanceMeters: 215)
        let vague = Fix(timestamp: walk.now, coordinate: beside, horizontalAccuracy: 120)
        walk.pause(seconds: 1200)
        let before = walk.fixes.count
        walk.go(to: Geodesic.direct(from: home, initialAzimuth: 0, distanceMeters: 9000), seconds: 900)
        let told = try Self.told(walk.fixes[..<before] + [vague] + walk.fixes[before...])
        #expect(told.count { $0.departure != nil } == 1)
    }

    /// A median over those stays of which the phone says when they were.
    @Test func `a visit is told within three and a half minutes, its end within two`() throws {
        var (arrivals, departures): ([Double], [Double]) = ([], [])
        let phone = try #require(Phone.all.first { $0.name == "30 s" })
        for person in 0..<2 {
            let days = try Self.days(person)
            let timeline = try MemoryTimeline()
            for fix in phone.fixes(of: days, seed: 500 + UInt64(person)) { try timeline.report([fix]) }
            for visit in timeline.visits[MemoryTimeline.person, default: []] {
                let arrival = Double(visit.arrival.milliseconds) / 1000
                guard let stay = days.stays.dropFirst().first(where: { abs($0.arrival - arrival) < 120 }) else {
                    continue
                }
                arrivals.append(Double(visit.firstReported.milliseconds) / 1000 - stay.arrival)
                guard let told = visit.departureReported, let left = stay.departure else { continue }
                let gone = days.point(at: left).meters(to: days.point(at: left + 60))
                if gone > 120 { departures.append(Double(told.milliseconds) / 1000 - left) }
            }
        }
        #expect(arrivals.count >= 8)
        #expect(departures.count >= 3)
        #expect(median(arrivals) <= 210)
        #expect(median(departures) <= 120)
    }
}
