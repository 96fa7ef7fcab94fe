import SQLite
import TestSupport
import Testing

@testable import Projections
@testable import Tables
@testable import Whereabouts

/// A withdrawn fix counts as never reported, and a restored one as never withdrawn, with any events in between and in
/// any order.
@Suite struct RevisionLawTests {
    /// In the history of seed 21 a visit confirms a crossing before the newest fix that is final; in that of seed 33 a device
    /// leads from the moment at which the fold derives again.
    static let seeds: [UInt64] = [21, 22, 23, 33]

    @Test(arguments: seeds) func `withdrawn fixes leave a timeline as if they had never been reported`(
        seed: UInt64
    ) throws {
        var scene = try Scene(seed: seed)
        let (log, withdrawn) = scene.log(of: scene.reports, withdrawing: 0.1, restoring: 0)
        try #require(withdrawn.count > 20)
        let without = try scene.log(ofAllBut: withdrawn)
        let never = try Folded<TimelineTable>(without.events, batch: 100)
        for (batch, forgetting) in [(1, false), (40, false), (40, true), (5000, false)] {
            let folded = try Folded<TimelineTable>(log.events, batch: batch, forgetting: forgetting)
            expectSame(try folded.rows().filter { !$0.hasPrefix("withdrawn") }, try never.rows())
            #expect(try folded.rows().filter { $0.hasPrefix("withdrawn") }.count == withdrawn.count)
        }
    }

    @Test(arguments: seeds) func `withdrawing and restoring leaves every table as before`(seed: UInt64) throws {
        var scene = try Scene(seed: seed)
        let before = scene.log(of: scene.reports, withdrawing: 0, restoring: 0).log
        let (log, withdrawn) = scene.log(of: scene.reports, withdrawing: 0.1, restoring: 1)
        #expect(withdrawn.isEmpty && log.events.count > before.events.count + 20)
        for batch in [1, 40, 5000] {
            #expect(
                try Folded<TimelineTable>(log.events, batch: batch).file.fingerprint
                    == Folded<TimelineTable>(before.events).file.fingerprint)
            #expect(
                try Folded<CurrentTable>(log.events, batch: batch).file.fingerprint
                    == Folded<CurrentTable>(before.events).file.fingerprint)
        }
    }

    @Test(arguments: seeds) func `the order in which fixes come and are withdrawn does not matter`(
        seed: UInt64
    ) throws {
        var scene = try Scene(seed: seed)
        let (sorted, withdrawn) = scene.log(of: scene.reports, withdrawing: 0.1, restoring: 0.3)
        var dice = SplitMix(seed)
        let shuffled = scene.log(of: scene.reports.shuffled(using: &dice), withdrawing: withdrawn)
        let late = scene.log(
            of: ProjectionLawTests.withLateness(scene.reports, seed), withdrawing: withdrawn)
        try agree(TimelineTable.self, sorted, [shuffled, late])
        try agree(CurrentTable.self, sorted, [shuffled, late])
    }

    private func agree<P: Projection>(_: P.Type, _ log: MemoryLog, _ others: [MemoryLog]) throws {
        let ordered = try Folded<P>(log.events)
        for other in others {
            for (batch, forgetting) in [(7, true), (40, false), (5000, false)] {
                let folded = try Folded<P>(other.events, batch: batch, forgetting: forgetting)
                expectSame(try folded.rows(), try ordered.rows())
                #expect(folded.file.fingerprint == ordered.file.fingerprint)
            }
        }
    }

    @Test(arguments: seeds) func `the newest fix that counts is the newest of those not withdrawn`(
        seed: UInt64
    ) throws {
        let scene = try Scene(seed: seed)
        // The last hours of everyone go, so that no device's newest fix counts.
        let end = try #require(scene.reports.map(\.fix.timestamp).max())
        let gone = Set(scene.reports.filter { $0.fix.timestamp > end.adding(seconds: -4 * 3600) }.map(Scene.Key.init))
        let log = scene.log(of: scene.reports, withdrawing: gone)
        let never = try Folded<CurrentTable>(try scene.log(ofAllBut: gone).events)
        let (current, timeline) = (try Folded<CurrentTable>(log.events), try Folded<TimelineTable>(log.events))
        var marked = 0
        for person in History.persons {
            let expected = try CurrentReader.fixes(of: person, in: never.file.connection).map(\.reported)
            var found: [ReportedFix] = []
            for newest in try CurrentReader.fixes(of: person, in: current.file.connection) {
                marked += newest.isWithdrawn ? 1 : 0
                let counted =
                    newest.isWithdrawn
                    ? try TimelineReader.newestUsable(
                        of: person, newest.reported.device, in: timeline.file.connection) : newest.reported
                if let counted { found.append(counted) }
            }
            #expect(found.map(\.fix) == expected.map(\.fix))
            #expect(found.map(\.device) == expected.map(\.device))
            #expect(!expected.isEmpty)
        }
        #expect(marked > 1)
    }

    @Test func `a person whose only fixes are withdrawn has no row but these, and none after erasing`() throws {
        let person = History.persons[0]
        let reports = try History.reports(seed: 3, hours: 5).filter { $0.person == person }
        var log = MemoryLog()
        for report in reports { log.add(report) }
        for event in log.events { log.withdraw(event) }
        let folded = try Folded<TimelineTable>(log.events, batch: 10)
        #expect(try folded.rows().allSatisfy { $0.hasPrefix("withdrawn") })
        #expect(try folded.rows().count > 10)
        log.add(.personErased(person), to: .audit(person), at: History.start)
        let erased = try Folded<TimelineTable>(log.events, batch: 10)
        #expect(try erased.rows().isEmpty)
        #expect(erased.file.fingerprint == Fingerprint())
        #expect(try Folded<CurrentTable>(log.events, batch: 10).file.fingerprint == Fingerprint())
    }

    @Test func `a withdrawal whose key is lost still counts`() throws {
        let reports = try History.reports(seed: 4, hours: 6)
        var log = MemoryLog()
        for report in reports { log.add(report) }
        let first = try #require(log.events.first)
        log.withdraw(first)
        let last = try #require(log.events.last)
        let lost =
            log.events.dropLast() + [
                last.saying(.fixesWithdrawn(try #require(last.revisedFixes), .keyLost))
            ]
        #expect(
            try Folded<TimelineTable>(Array(lost)).file.fingerprint
                == Folded<TimelineTable>(log.events).file.fingerprint)
    }

    /// A log of fixes and visits. Some moments are reported by two events.
    private static func visited(_ reports: [Report], isReported: (Int) -> Bool = { _ in true }) -> (MemoryLog, [Int]) {
        var (log, visits): (MemoryLog, [Int]) = (MemoryLog(), [])
        for (index, report) in reports.enumerated() {
            log.add(report)
            guard index % 30 == 7 else { continue }
            let time = report.fix.timestamp
            for copy in 0..<(index % 60 == 7 ? 2 : 1) where isReported(index + copy) {
                let visit = VisitReport(
                    timestamp: time.adding(seconds: Int64(copy)), coordinate: report.fix.coordinate,
                    horizontalAccuracy: 30, arrival: time.adding(seconds: -2400), departure: time)
                visits.append(log.events.count)
                log.add(
                    .sightingReported(device: report.device, .visit, .open(.visit(visit))), to: .track(report.person),
                    at: (report.fix.receivedAt ?? time).adding(seconds: 60))
            }
        }
        return (log, visits)
    }

    @Test(arguments: seeds) func `withdrawn visits leave a timeline as if they had never been reported`(
        seed: UInt64
    ) throws {
        let reports = try History.reports(seed: seed, hours: 20)
        let (all, visits) = Self.visited(reports)
        try #require(visits.count > 10)
        var undone = all
        for visit in visits { undone.revise(visit: all.events[visit], isWithdrawal: true) }
        // One of two events that report the same moment: it still counts.
        var half = all
        for visit in visits where all.events[visit - 1].event.kind == .visitReported {
            half.revise(visit: all.events[visit], isWithdrawal: true)
        }
        try #require(half.events.count > all.events.count)
        let never = try Folded<TimelineTable>(Self.visited(reports) { _ in false }.0.events)
        let whole = try Folded<TimelineTable>(all.events)
        #expect(try whole.rows() != never.rows())
        for batch in [1, 40, 5000] {
            let folded = try Folded<TimelineTable>(undone.events, batch: batch, forgetting: batch == 40)
            expectSame(try folded.rows().filter { !$0.hasPrefix("withdrawn") }, try never.rows())
            #expect(try folded.rows().contains { $0.hasPrefix("withdrawn reported") })
            let less = try Folded<TimelineTable>(half.events, batch: batch)
            expectSame(try less.rows().filter { !$0.hasPrefix("withdrawn") }, try whole.rows())
            var redone = undone
            for visit in visits { redone.revise(visit: all.events[visit], isWithdrawal: false) }
            let again = try Folded<TimelineTable>(redone.events, batch: batch)
            expectSame(try again.rows(), try whole.rows())
            #expect(again.file.fingerprint == whole.file.fingerprint)
        }
    }

    /// Reports with logs of them in which fixes are withdrawn and restored.
    struct Scene {
        /// A report's content; twins of one device, time and place differ.
        struct Key: Hashable {
            let device: DeviceID
            let fix: Fix

            init(_ report: Report) { (device, fix) = (report.device, report.fix.content) }
        }

        let reports: [Report]
        private let regions: [RecordedEvent]
        private var dice: SplitMix

        init(seed: UInt64) throws {
            reports = try History.reports(seed: seed, hours: 20)
            regions = try History.log(reports).events.filter { event in
                if case .regionAdded = event.event { true } else { false }
            }
            dice = SplitMix(seed)
        }

        private var start: MemoryLog {
            var log = MemoryLog()
            for event in regions { log.add(event.event, to: event.stream, at: event.recordedAt) }
            return log
        }

        /// The reports, some of which are withdrawn some time later, and some of these restored later still.
        mutating func log(
            of reports: [Report], withdrawing share: Double, restoring restored: Double
        ) -> (log: MemoryLog, withdrawn: Set<Key>) {
            var log = start
            var withdrawn: Set<Key> = []
            var waiting: [(at: Int, Key, RecordedEvent, isWithdrawal: Bool)] = []
            func settle(upTo index: Int, _ dice: inout SplitMix) {
                while let next = waiting.firstIndex(where: { $0.at <= index }) {
                    let (at, key, event, isWithdrawal) = waiting.remove(at: next)
                    log.withdraw(event, isWithdrawal: isWithdrawal)
                    if isWithdrawal { withdrawn.insert(key) } else { withdrawn.remove(key) }
                    if isWithdrawal, dice.chance(restored) {
                        waiting.append((at + Int.random(in: 0...300, using: &dice), key, event, false))
                    }
                }
            }
            for (index, report) in reports.enumerated() {
                log.add(report)
                if dice.chance(share), let event = log.events.last {
                    // Most are withdrawn at once or soon, some much later.
                    let delay = dice.chance(0.3) ? 0 : Int.random(in: 0...(dice.chance(0.3) ? 900 : 9), using: &dice)
                    waiting.append((index + delay, Key(report), event, true))
                }
                settle(upTo: index, &dice)
            }
            settle(upTo: .max - 1000, &dice)
            return (log, withdrawn)
        }

        /// The reports, of which these are withdrawn at the end.
        func log(of reports: [Report], withdrawing withdrawn: Set<Key>) -> MemoryLog {
            var log = start
            for report in reports {
                log.add(report)
                if withdrawn.contains(Key(report)), let event = log.events.last { log.withdraw(event) }
            }
            return log
        }

        /// The reports without these.
        func log(ofAllBut withdrawn: Set<Key>) throws -> MemoryLog {
            var log = start
            for report in reports where !withdrawn.contains(Key(report)) { log.add(report) }
            return log
        }
    }

    private func expectSame(_ a: [String], _ b: [String], _ location: SourceLocation = #_sourceLocation) {
        let differences = Set(a).symmetricDifference(b).sorted().prefix(6).map {
            (a.contains($0) ? "one: " : "other: ") + $0
        }
        #expect(differences == [], sourceLocation: location)
    }
}

extension MemoryLog {
    /// Withdraws or restores the visit of an event.
    fileprivate mutating func revise(visit event: RecordedEvent, isWithdrawal: Bool) {
        guard case .sightingReported(let device, _, .open(.visit(let visit))) = event.event,
            let person = event.stream.person, let arrival = visit.arrival, let last = events.last
        else { return }
        let visits = FixNumbers(device: device, numbers: event.number...event.number)
        let revision = FixRevision(time: arrival...(visit.departure ?? arrival), reason: "the wrong file")
        add(
            isWithdrawal ? .visitsWithdrawn(visits, .open(revision)) : .visitsRestored(visits, .open(revision)),
            to: .audit(person), at: last.recordedAt)
    }

    /// Withdraws or restores the fix of an event.
    mutating func withdraw(_ event: RecordedEvent, isWithdrawal: Bool = true) {
        guard case .fixReported(let device, _, .open(let fix)) = event.event, let person = event.stream.person else {
            return
        }
        let fixes = FixNumbers(device: device, numbers: event.number...event.number)
        let revision = FixRevision(time: fix.timestamp...fix.timestamp, reason: "wrong clock")
        add(
            isWithdrawal ? .fixesWithdrawn(fixes, .open(revision)) : .fixesRestored(fixes, .open(revision)),
            to: .audit(person), at: event.recordedAt.adding(seconds: 60), by: person.principal)
    }
}

extension RecordedEvent {
    fileprivate var revisedFixes: FixNumbers? {
        if case .fixesWithdrawn(let fixes, _) = event { fixes } else { nil }
    }
}
