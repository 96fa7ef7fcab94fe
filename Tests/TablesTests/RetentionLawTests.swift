import Geodesy
import SQLite
import TestSupport
import Testing

@testable import Projections
@testable import Tables
@testable import Whereabouts

/// After the keys of old reports are destroyed, the tables and the standing are what a refold gives, which can no longer
/// open those reports: the live service keeps nothing that the log has lost.
@Suite struct RetentionLawTests {
    static let seeds: [UInt64] = [21, 22, 23, 33, 44, 58]

    /// A log of two persons with fixes, reported visits, withdrawn fixes and an import of old fixes, in which retention
    /// destroys the keys of one person twice; and the same log as a refold sees it.
    private struct Scene {
        let person = History.persons[0]
        let live: MemoryLog
        let refolded: [RecordedEvent]
        /// The numbers of the events whose keys are destroyed.
        let gone: NumberSet

        /// - Parameter cuts: After which shares of the reports keys are destroyed, and of which share before that.
        init(seed: UInt64, cuts: [(at: Double, of: Double)]) throws {
            let reports = try History.reports(seed: seed, hours: 20)
            var log = MemoryLog()
            var dice = SplitMix(seed)
            var standing = Standing()
            var known = 0
            for person in History.persons {
                log.add(.personAdded(person, handle: .erased), to: .audit(person), at: History.start)
            }
            for device in Set(reports.map(\.device)).sorted(by: { $0.rawValue < $1.rawValue }) {
                guard let person = reports.first(where: { $0.device == device })?.person else { continue }
                log.add(.deviceAdded(device, of: person, handle: .erased), to: .audit(person), at: History.start)
            }
            for event in try History.log(reports).events {
                if case .regionAdded = event.event { log.add(event.event, to: event.stream, at: event.recordedAt) }
            }
            // A tenth of the reports comes late, as an import does: its time is older than its number says.
            var late: [Report] = []
            var gone = NumberSet()
            for (index, report) in reports.enumerated() {
                if dice.chance(0.1) { late.append(report) } else { log.add(report) }
                if dice.chance(0.02), !late.isEmpty { log.add(late.removeFirst()) }
                if index % 30 == 7 { Self.visit(report, in: &log) }
                if dice.chance(0.02), let last = log.events.last, case .fixReported = last.event { log.withdraw(last) }
                for cut in cuts where index == Int(cut.at * Double(reports.count - 1)) {
                    let last = Int64(cut.of * Double(log.events.count))
                    gone.insert(1...max(1, last))
                    while known < log.events.count {
                        standing.fold(log.events[known])
                        known += 1
                    }
                    let applied = AppliedRetention(
                        keyClass: .track, days: 1, before: report.fix.timestamp, keys: [Int64(index + 1)], numbers: gone
                    )
                    log.add(
                        .retentionApplied(applied, standing.kept(of: person, without: gone).map { .open($0) }),
                        to: .audit(person), at: report.fix.receivedAt ?? report.fix.timestamp)
                }
            }
            (live, self.gone) = (log, gone)
            let person = person
            refolded = log.events.map { event in
                guard event.stream.person == person, gone.contains(event.number) else { return event }
                switch event.event {
                case .fixReported(let device, let query, _):
                    return event.saying(.fixReported(device: device, answering: query, .erased))
                case .sightingReported(let device, let kind, _):
                    return event.saying(.sightingReported(device: device, kind, .erased))
                case .retentionApplied(let applied, _): return event.saying(.retentionApplied(applied, .erased))
                default: return event
                }
            }
        }

        private static func visit(_ report: Report, in log: inout MemoryLog) {
            let time = report.fix.timestamp
            let visit = VisitReport(
                timestamp: time, coordinate: report.fix.coordinate, horizontalAccuracy: 30,
                arrival: time.adding(seconds: -2400), departure: time)
            log.add(
                .sightingReported(device: report.device, .visit, .open(.visit(visit))), to: .track(report.person),
                at: (report.fix.receivedAt ?? time).adding(seconds: 60))
        }
    }

    /// Once in the middle; twice, of which the second destroys the key that sealed what the first one kept; everything.
    static let cuts: [[(at: Double, of: Double)]] = [
        [(0.5, 0.3)], [(0.3, 0.2), (0.8, 0.6)], [(0.6, 0.55), (0.61, 1)], [(1, 1)],
    ]

    @Test(arguments: seeds, cuts.indices)
    func `the timeline after retention is what a refold of the remaining reports gives`(
        seed: UInt64, cuts: Int
    ) throws {
        let scene = try Scene(seed: seed, cuts: Self.cuts[cuts])
        let refolded = try Folded<TimelineTable>(scene.refolded, batch: 100)
        for (batch, forgetting) in [(1, false), (40, true), (5000, false)] {
            let live = try Folded<TimelineTable>(scene.live.events, batch: batch, forgetting: forgetting)
            let (one, other) = (Set(try live.rows()), Set(try refolded.rows()))
            let differences = one.symmetricDifference(other).sorted().prefix(5)
            #expect(differences.isEmpty, "\(differences)")
            #expect(live.file.fingerprint == refolded.file.fingerprint)
        }
    }

    @Test(arguments: seeds, cuts.indices)
    func `the newest locations after retention are what a refold gives`(seed: UInt64, cuts: Int) throws {
        let scene = try Scene(seed: seed, cuts: Self.cuts[cuts])
        let refolded = try Folded<CurrentTable>(scene.refolded, batch: 100)
        for batch in [1, 40, 5000] {
            let live = try Folded<CurrentTable>(scene.live.events, batch: batch)
            #expect(try live.rows() == refolded.rows())
            #expect(live.file.fingerprint == refolded.file.fingerprint)
        }
    }

    @Test(arguments: seeds, cuts.indices)
    func `the standing after retention is what a refold gives`(seed: UInt64, cuts: Int) throws {
        let scene = try Scene(seed: seed, cuts: Self.cuts[cuts])
        var (live, refolded) = (Standing(), Standing())
        for event in scene.live.events { live.fold(event) }
        for event in scene.refolded { refolded.fold(event) }
        #expect(live.persons[scene.person] == refolded.persons[scene.person])
        for device in live.persons[scene.person]?.devices ?? [] {
            #expect(live.devices[device] == refolded.devices[device])
        }
        #expect(live == refolded)
    }

    /// The event of the destruction keeps the newest places, so that the service need not read the track again.
    @Test(arguments: seeds, cuts.indices)
    func `no fix whose key is destroyed stays in the standing as the newest one`(seed: UInt64, cuts: Int) throws {
        let scene = try Scene(seed: seed, cuts: Self.cuts[cuts])
        var standing = Standing()
        var gone = NumberSet()
        var destructions = 0
        for event in scene.live.events {
            standing.fold(event)
            guard case .retentionApplied(let applied, _) = event.event else { continue }
            destructions += 1
            for range in applied.numbers.ranges { gone.insert(range) }
            let newest = try #require(standing.persons[scene.person]).newest
            for number in [newest.fix?.number, newest.beforePause?.number].compactMap({ $0 }) {
                #expect(!gone.contains(number))
            }
            for device in standing.persons[scene.person]?.devices ?? [] {
                let usable = standing.devices[device]?.reports.usable?.number
                #expect(usable.map { !gone.contains($0) } ?? true)
            }
        }
        #expect(destructions == Self.cuts[cuts].count)
    }

    /// What a destruction changes is no news, neither alone nor together with later events of the same batch.
    @Test(arguments: seeds) func `the news do not depend on whether a batch ends with a destruction`(seed: UInt64)
        throws
    {
        let scene = try Scene(seed: seed, cuts: [(0.5, 0.45)])
        let events = scene.live.events
        let end = try #require(events.firstIndex { if case .retentionApplied = $0.event { true } else { false } })
        let (whole, parts) = (try Folded<TimelineTable>(), try Folded<TimelineTable>())
        for part in [events[..<(end - 5)], events[(end - 5)...]] { try whole.fold(Array(part)) }
        for part in [events[..<(end - 5)], events[(end - 5)...end], events[(end + 1)...]] {
            try parts.fold(Array(part))
        }
        let told: [StaticString] = [
            "SELECT person, number, is_withdrawn, id, arrival_ms FROM told_visit ORDER BY 1, 2, 3, 4, 5",
            "SELECT person, number, is_withdrawn, kind, time_ms FROM told_crossing ORDER BY 1, 2, 3, 4, 5",
        ]
        for sql in told {
            let (one, other) = (try Self.numbers(sql, whole), try Self.numbers(sql, parts))
            #expect(one == other && !one.isEmpty)
        }
    }

    private static func numbers(_ sql: StaticString, _ folded: Folded<TimelineTable>) throws -> [[Int64]] {
        try folded.file.connection.cached(sql) { (statement) throws(SQLiteError) in
            var rows: [[Int64]] = []
            while try statement.step() { rows.append((0..<5).map { statement.int(at: $0) }) }
            return rows
        }
    }

    /// News are outside the fingerprint, so the laws above do not look at them.
    @Test(arguments: seeds) func `no news tells of a place that is gone`(seed: UInt64) throws {
        let scene = try Scene(seed: seed, cuts: [(1, 1)])
        let live = try Folded<TimelineTable>(scene.live.events, batch: 40)
        for table in [
            "SELECT count(*) FROM told_visit WHERE person = ?", "SELECT count(*) FROM told_crossing WHERE person = ?",
            "SELECT count(*) FROM restart WHERE person = ?", "SELECT count(*) FROM fix WHERE person = ?",
            "SELECT count(*) FROM withdrawn WHERE person = ?", "SELECT count(*) FROM reported WHERE person = ?",
            "SELECT count(*) FROM visit WHERE person = ?",
        ] as [StaticString] {
            let rows = try live.file.connection.cached(table) { (statement) throws(SQLiteError) -> Int64 in
                try statement.bind(scene.person.rawValue, at: 1)
                return try statement.step() ? statement.int(at: 0) : 0
            }
            #expect(rows == 0, "\(table)")
        }
        // The neighbour, to whom the numbers are nothing, keeps everything.
        #expect(try live.rows().count > 50)
    }
}
