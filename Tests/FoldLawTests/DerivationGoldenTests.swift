import Geodesy
import Glibc
import TestSupport
import Testing

@testable import Whereabouts
@testable import WhereaboutsTests

/// The results of every version of the rules for made-up histories, kept as files. A change of a version's results,
/// even by one threshold, requires a new version instead.
///
/// `WHEREABOUTS_WRITE_GOLDEN=1` writes the file of a version that has none; an existing one is never overwritten.
@Suite struct DerivationGoldenTests {
    private static let midnight = VisitDerivationTests.midnight

    private struct History {
        let name: String
        var fixes: [(device: DeviceID, fix: Fix)] = []
        var reports: [VisitReport] = []
        var regions: [Area] = []
    }

    private static let phones = [
        "30 s, drifting", "30 s, spikes", "adaptive", "asked", "battery saver", "significant change",
    ]

    private static func histories() throws -> [History] {
        var all: [History] = []
        for name in phones {
            let phone = try #require(Phone.all.first { $0.name == name })
            let person = name == "significant change" ? 5 : 1
            let days = try HistoryTests.days(
                person, count: name == "significant change" ? 6 : name.hasPrefix("30") ? 1 : 2)
            var history = History(name: name)
            history.fixes = phone.fixes(of: days, seed: 40 + UInt64(person)).map { (MemoryTimeline.device, $0) }
            history.regions = try [0.0, 120].map { meters in
                .circle(
                    try Circle(
                        center: Geodesic.direct(from: days.home, initialAzimuth: 70, distanceMeters: meters),
                        radiusMeters: 150))
            }
            all.append(history)
        }
        return all + [try stops(), try edge(), try twoDevices(), try silences()]
    }

    /// Stops of 140 s, 141 s … 200 s between ways of 1.5 km.
    private static func stops() throws -> History {
        var walk = Walk(from: try Coordinate(latitude: 48.2, longitude: 16.35), at: midnight)
        walk.everySeconds = 7
        for (index, seconds) in (140...200).enumerated() {
            let next = Geodesic.direct(from: walk.place, initialAzimuth: Double(index) * 40, distanceMeters: 1500)
            walk.go(to: next, seconds: 300)
            walk.stay(seconds: Int64(seconds))
        }
        return History(name: "stops", fixes: walk.fixes.map { (MemoryTimeline.device, $0) })
    }

    /// To and fro over the edge of a region, at several speeds and accuracies.
    private static func edge() throws -> History {
        let middle = try Coordinate(latitude: 48.2, longitude: 16.35)
        var history = History(name: "edge", regions: [.circle(try Circle(center: middle, radiusMeters: 300))])
        var walk = Walk(from: middle, at: midnight)
        for turn in 0..<40 {
            walk.everySeconds = Int64(5 + turn % 7 * 6)
            walk.accuracy = Double(8 + turn % 9 * 9)
            walk.scatterMeters = walk.accuracy / 2
            let meters = turn % 2 == 0 ? Double(320 + turn % 5 * 60) : Double(280 - turn % 6 * 40)
            walk.go(
                to: Geodesic.direct(from: middle, initialAzimuth: Double(turn) * 3, distanceMeters: meters),
                seconds: Int64(120 + turn % 4 * 90))
        }
        history.fixes = walk.fixes.map { (MemoryTimeline.device, $0) }
        return history
    }

    /// A phone that is carried, and a tablet that stays at home and is carried later.
    private static func twoDevices() throws -> History {
        let days = try HistoryTests.days(2, count: 1)
        let phone = try #require(Phone.all.first { $0.name == "adaptive" })
        let tablet = DeviceID(rawValue: MemoryTimeline.device.rawValue + 1)
        var walk = Walk(from: days.home, at: Timestamp(milliseconds: Int64(days.start * 1000)))
        walk.everySeconds = 900
        walk.stay(seconds: 20 * 3600)
        for index in 0..<6 {
            walk.everySeconds = 120
            walk.go(
                to: Geodesic.direct(from: walk.place, initialAzimuth: Double(index) * 50, distanceMeters: 2000),
                seconds: 900)
            walk.stay(seconds: 1200)
        }
        let own = phone.fixes(of: days, seed: 4).map { (device: MemoryTimeline.device, fix: $0) }
        return History(name: "two devices", fixes: own + walk.fixes.map { (tablet, $0) })
    }

    /// Silences of 10 to 100 hours, at one place and between two.
    private static func silences() throws -> History {
        var walk = Walk(from: try Coordinate(latitude: 48.2, longitude: 16.35), at: midnight)
        walk.everySeconds = 300
        for hours in [10, 23, 25, 40, 71, 73, 100] {
            walk.stay(seconds: 7200)
            walk.pause(seconds: Int64(hours) * 3600)
            walk.stay(seconds: 7200)
            let far = Geodesic.direct(from: walk.place, initialAzimuth: Double(hours), distanceMeters: 4000)
            walk.go(to: far, seconds: 900)
            walk.stay(seconds: 7200)
            walk.pause(seconds: Int64(hours) * 3600)
            walk.go(to: Geodesic.direct(from: far, initialAzimuth: 10, distanceMeters: 3000), seconds: 900)
        }
        return History(name: "silences", fixes: walk.fixes.map { (MemoryTimeline.device, $0) })
    }

    private static func folded(_ history: History, _ rules: VisitRules) throws -> MemoryTimeline {
        let timeline = try MemoryTimeline(rules)
        try timeline.record(
            history.regions.enumerated().map { index, area in
                (
                    .audit(MemoryTimeline.person), Timestamp(milliseconds: 0), .operator,
                    .regionAdded(
                        RegionID(rawValue: Int64(index + 1)), .open(Region(identifier: "r\(index)", area: area)))
                )
            })
        var events: [(StreamID, Timestamp, PrincipalID, Event)] = history.fixes.sorted {
            ($0.fix.timestamp, $0.device) < ($1.fix.timestamp, $1.device)
        }.map { device, fix in
            (
                .track(MemoryTimeline.person), fix.timestamp.adding(seconds: 1), MemoryTimeline.device.principal,
                .fixReported(device: device, answering: nil, .open(fix))
            )
        }
        for report in history.reports {
            let moment = report.timestamp.adding(seconds: 1)
            events.insert(
                (
                    .track(MemoryTimeline.person), moment, MemoryTimeline.device.principal,
                    .sightingReported(device: MemoryTimeline.device, .visit, .open(.visit(report)))
                ), at: events.firstIndex { $0.1 > moment } ?? events.count)
        }
        try timeline.record(events)
        return timeline
    }

    /// One line for the input, so that a changed history is not mistaken for changed rules; then one for each visit,
    /// crossing and lead: times in ms, places in 10⁻⁶ degrees, accuracies in decimeters.
    private static func lines(_ history: History, _ timeline: MemoryTimeline) -> [String] {
        func micro(_ degrees: Double) -> Int64 { Int64((degrees * 1e6).rounded()) }
        let hash = Self.hash(
            history.fixes.flatMap { _, fix in
                [
                    fix.timestamp.milliseconds, micro(fix.coordinate.latitude), micro(fix.coordinate.longitude),
                    Int64(fix.horizontalAccuracy ?? -1),
                ]
            })
        let start = history.fixes.map(\.fix.timestamp.milliseconds).min() ?? 0
        func since(_ moment: Timestamp?) -> String { moment.map { "\($0.milliseconds - start)" } ?? "-" }
        return ["= \(history.name): \(history.fixes.count) fixes, \(String(hash, radix: 16))"]
            + timeline.visits[MemoryTimeline.person, default: []].map { visit in
                "V \(since(visit.arrival)) \(since(visit.departure)) \(micro(visit.coordinate.latitude)) "
                    + "\(micro(visit.coordinate.longitude)) \(Int((visit.horizontalAccuracy * 10).rounded())) \(visit.fixes)"
            }
            + timeline.crossings[MemoryTimeline.person, default: []].map { crossing in
                "X \(crossing.region.rawValue)\(crossing.kind == .enter ? "+" : "-") \(since(crossing.time)) "
                    + since(crossing.confirmed)
            }
            + timeline.leads[MemoryTimeline.person, default: []].map { "L \(since($0.from)) \($0.device.rawValue)" }
    }

    /// FNV-1a, by words.
    private static func hash(_ words: some Sequence<Int64>) -> UInt64 {
        words.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64(bitPattern: $1)) &* 0x100_0000_01b3 }
    }

    /// The history drawn from a seed in one line: the size of the input, the numbers of derived visits, crossings and
    /// leads, and a hash of all results, including those that only answers at a moment use.
    private static func line(_ seed: UInt64, _ rules: VisitRules) throws -> String {
        let made = try MadeHistory(seed: seed)
        let history = History(name: "\(seed)", fixes: made.fixes, reports: made.reports, regions: made.regions)
        let timeline = try folded(history, rules)
        let lines = Self.lines(history, timeline)
        func count(_ letter: String) -> Int { lines.count { $0.hasPrefix(letter) } }
        let moments: [Int64] = timeline.visits[MemoryTimeline.person, default: []].flatMap { visit -> [Int64] in
            [visit.lastSeen?.milliseconds ?? -1, visit.tellableFrom?.milliseconds ?? -1]
        }
        let text: [Int64] = lines.dropFirst().joined(separator: "\n").utf8.map { Int64($0) }
        let hash = Self.hash(text + moments)
        return "\(lines[0].dropFirst(2)): \(count("V")) \(count("X")) \(count("L")) \(String(hash, radix: 16))"
    }

    @Test(arguments: VisitRules.all.map(\.version))
    func `close to its thresholds a version of the rules decides as it always did`(version: Int64) throws {
        let rules = try #require(VisitRules.version(version))
        try Self.check(MadeHistory.seeds.map { try Self.line($0, rules) }, rules, file: "decided")
    }

    @Test(arguments: VisitRules.all.map(\.version))
    func `a version of the rules derives what it always did`(version: Int64) throws {
        let rules = try #require(VisitRules.version(version))
        let derived = try Self.histories().flatMap { Self.lines($0, try Self.folded($0, rules)) }
        try Self.check(derived, rules, file: "derived")
        #expect(derived.count { $0.hasPrefix("V") } > 60)
        #expect(derived.count { $0.hasPrefix("X") } > 25)
    }

    private static func check(_ derived: [String], _ rules: VisitRules, file name: String) throws {
        let file = "\(Repository.root)/Tests/Golden/\(name)-by-rules-\(rules.version).txt"
        guard access(file, F_OK) == 0 else {
            if getenv("WHEREABOUTS_WRITE_GOLDEN") != nil {
                try write(Array((derived.joined(separator: "\n") + "\n").utf8), to: file)
            }
            Issue.record("Rules \(rules.version) have no golden output: run this test with WHEREABOUTS_WRITE_GOLDEN=1.")
            return
        }
        let golden = String(decoding: try contents(ofFile: file), as: UTF8.self).split(separator: "\n").map(String.init)
        var history = ""
        for (before, now) in zip(golden, derived) {
            if now.hasPrefix("= ") { history = now }
            guard before != now else { continue }
            Issue.record(
                """
                Rules \(rules.version) derive something else than they did (\(history)): "\(now)" and not "\(before)". A changed \
                threshold or rule is a new version in VisitRules.all; this one keeps what it had.
                """)
            return
        }
        #expect(golden.count == derived.count)
    }
}
