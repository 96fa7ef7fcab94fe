import Cryptography
import Envelopes
import TestSupport
import Testing

@testable import Projections
@testable import Tables
@testable import Whereabouts
@testable import WhereaboutsTests

/// A projection is a function of the log, and of fixes not even of their order.
@Suite struct ProjectionLawTests {
    static let seeds: [UInt64] = Array(1...6)

    @Test(arguments: seeds) func `trickled, batched and restarted folds agree`(seed: UInt64) throws {
        let log = try History.log(Self.withLateness(try History.reports(seed: seed), seed))
        try agree(CurrentTable.self, log.events)
        try agree(TimelineTable.self, log.events)
        try agree(StreamIndexTable.self, log.events)
    }

    private func agree<P: Projection>(_: P.Type, _ events: [RecordedEvent]) throws {
        let batched = try Folded<P>(events)
        let rows = try batched.rows()
        #expect(!rows.isEmpty)
        for (batch, forgetting) in [(1, false), (7, true), (500, false), (500, true)] {
            let other = try Folded<P>(events, batch: batch, forgetting: forgetting)
            #expect(
                other.file.fingerprint == batched.file.fingerprint, "batches of \(batch), forgetting: \(forgetting)")
            expectSame(try other.rows(), rows)
        }
    }

    @Test(arguments: seeds) func `shuffled and doubled reports make the same current fixes and timeline`(
        seed: UInt64
    ) throws {
        let reports = try History.reports(seed: seed)
        let ordered = try History.log(reports)
        var dice = SplitMix(seed)
        var late = try History.log(Self.withLateness(reports, seed))
        // The same again, as a writer that forgot would let through.
        for report in reports where dice.chance(0.2) { late.add(report) }
        let shuffled = try History.log(reports.shuffled(using: &dice))
        try agree(CurrentTable.self, ordered, [late, shuffled])
        try agree(TimelineTable.self, ordered, [late, shuffled])
    }

    private func agree<P: Projection>(_: P.Type, _ log: MemoryLog, _ others: [MemoryLog]) throws {
        let ordered = try Folded<P>(log.events, batch: 100)
        let rows = try ordered.rows()
        for other in others {
            for batch in [40, 1000] {
                let folded = try Folded<P>(other.events, batch: batch)
                #expect(folded.file.fingerprint == ordered.file.fingerprint)
                expectSame(try folded.rows(), rows)
            }
        }
    }

    @Test func `one fix at a time in random order makes the same timeline`() throws {
        let reports = try History.reports(seed: 9, hours: 12)
        var dice = SplitMix(9)
        let ordered = try Folded<TimelineTable>(try History.log(reports).events)
        let shuffled = try Folded<TimelineTable>(try History.log(reports.shuffled(using: &dice)).events, batch: 1)
        expectSame(try shuffled.rows(), try ordered.rows())
    }

    @Test(arguments: seeds.prefix(3)) func `a region makes the same crossings whenever it is added`(
        seed: UInt64
    ) throws {
        let reports = try History.reports(seed: seed)
        let first = try History.log(reports).events
        let regions = first.filter { if case .regionAdded = $0.event { true } else { false } }
        let fixes = first.filter { if case .fixReported = $0.event { true } else { false } }
        let early = try Folded<TimelineTable>(regions + fixes, batch: 50)
        let middle = try Folded<TimelineTable>(
            Array(fixes.prefix(fixes.count / 2)) + regions + fixes.dropFirst(fixes.count / 2), batch: 50)
        let last = try Folded<TimelineTable>(fixes + regions, batch: 50)
        expectSame(try middle.rows(), try early.rows())
        expectSame(try last.rows(), try early.rows())
        #expect(try early.rows().contains { $0.hasPrefix("crossing") })
    }

    @Test(arguments: seeds.prefix(3)) func `live after erasing is refolded after erasing`(seed: UInt64) throws {
        let person = History.persons[0]
        var log = try History.log(Self.withLateness(try History.reports(seed: seed), seed))
        log.add(.personErased(person), to: .audit(person), at: History.start.adding(seconds: 900_000))
        try agreeAfterErasing(CurrentTable.self, log, person)
        try agreeAfterErasing(TimelineTable.self, log, person)
        try agreeAfterErasing(StreamIndexTable.self, log, person)
    }

    private func agreeAfterErasing<P: Projection>(_: P.Type, _ log: MemoryLog, _ person: PersonID) throws {
        let live = try Folded<P>(log.events, batch: 300)
        let refolded = try Folded<P>(log.afterErasing(person), batch: 300)
        expectSame(try live.rows(), try refolded.rows())
        #expect(live.file.fingerprint == refolded.file.fingerprint)
        #expect(try !live.rows().contains { $0.contains("person \(person.rawValue) ") })
    }

    /// A client that applies the feed items in order knows the current visits and crossings, for all batches.
    @Test(arguments: seeds) func `what was told of visits and crossings comes to what there is`(seed: UInt64) throws {
        let log = try History.log(Self.withLateness(try History.reports(seed: seed), seed))
        var hasWithdrawn = false
        for batch in [1, 40, 5000] {
            let timeline = try Folded<TimelineTable>(log.events, batch: batch)
            for person in History.persons {
                let told = try TimelineReader.told(
                    of: person, after: 0, limit: .max, corrected: VisitCorrections(), nil, in: timeline.file.connection)
                #expect(told.map(\.number) == told.map(\.number).sorted())
                hasWithdrawn = hasWithdrawn || told.contains(where: \.isWithdrawn)
                var visits: [UInt64: [Timestamp?]] = [:]
                var crossings: Set<String> = []
                for item in told {
                    switch item.what {
                    case .visit(let visit):
                        #expect(!item.isWithdrawn || visits[visit.id] != nil)
                        visits[visit.id] = item.isWithdrawn ? nil : [visit.arrival, visit.departure]
                    case .crossing(let named):
                        let name = Self.name(named.crossing)
                        #expect(crossings.contains(name) == item.isWithdrawn)
                        if item.isWithdrawn { crossings.remove(name) } else { crossings.insert(name) }
                    }
                }
                // The feed has no item for a visit that only silence will confirm; answers compute those.
                let known = try timeline.projection.visits(of: person, arrivingFrom: nil, before: nil)
                    .filter { $0.tellableFrom == nil }
                #expect(visits == Dictionary(known.map { ($0.id, [$0.arrival, $0.departure]) }) { a, _ in a })
                let crossed = try timeline.projection.crossings(
                    of: person, from: nil, confirmedAfter: nil, through: nil)
                #expect(crossings == Set(crossed.map(Self.name)))
                let again = try TimelineReader.told(
                    of: person, after: told[told.count / 2].number, limit: .max, corrected: VisitCorrections(), nil,
                    in: timeline.file.connection)
                #expect(again.map(\.number) == told.map(\.number).filter { $0 > told[told.count / 2].number })
            }
        }
        #expect(hasWithdrawn)
    }

    private static func name(_ crossing: Crossing) -> String {
        "\(crossing.region.rawValue) \(crossing.kind.word) \(crossing.time.milliseconds)"
    }

    private func expectSame(_ a: [String], _ b: [String], _ location: SourceLocation = #_sourceLocation) {
        let differences = Set(a).symmetricDifference(b).sorted().prefix(6).map {
            (a.contains($0) ? "one: " : "other: ") + $0
        }
        #expect(differences == [], sourceLocation: location)
    }

    /// In debug builds, a table stops at a kind that says it concerns the table, if the table has no case for it.
    @Test(arguments: EventKind.allCases) func `the tables have a case for each kind that concerns them`(
        kind: EventKind
    ) throws {
        let concerns = kind.fact?.concerns ?? []
        for recorded in try AnyEvent.some(of: kind) {
            let (current, timeline) = (try Folded<CurrentTable>([recorded]), try Folded<TimelineTable>([recorded]))
            #expect(try current.rows().isEmpty || concerns.contains(.current))
            #expect(try timeline.rows().isEmpty || concerns.contains(.timeline))
        }
    }

    /// A table that is folded alone gets only the events that concern it.
    @Test func `each table is the same without the events that do not concern it`() throws {
        let person = History.persons[0]
        var log = try History.log(try History.reports(seed: 4, hours: 12))
        let fixes = log.events.filter { if case .fixReported = $0.event { $0.stream.person == person } else { false } }
        let fix = try #require(fixes.last)
        let time = fix.recordedAt
        guard case .fixReported(let device, _, .open(let reported)) = fix.event else {
            Issue.record("The fix is not open.")
            return
        }
        for kind in EventKind.allCases {
            for other in try AnyEvent.some(of: kind)
            where other.event.concerns.isDisjoint(with: [.current, .timeline, .envelopes]) {
                log.add(other.event, to: other.stream.person == nil ? .house : .audit(person), at: time)
            }
        }
        let key = Curve25519.KeyAgreement.PrivateKey()
        let envelope = try AnswerEnvelope(
            sealing: TieredFix(exact: reported), from: EnvelopeDevice(rawValue: 1), answering: QueryID(high: 0, low: 1),
            as: Identifier128(high: 0, low: 2), for: [key.publicKey], signedBy: Ed25519PrivateKey())
        for number in 3...4 as ClosedRange<UInt64> {
            let sealed = SealedFix(identity: Identifier128(high: 0, low: number), envelope: envelope.bytes)
            log.add(.sealedFixReported(device: device, answering: nil, .open(sealed)), to: .track(person), at: time)
        }
        log.withdraw(fix)
        try expectConcerned(log.events)
        var numbers = NumberSet()
        numbers.insert(1...fixes[fixes.count / 2].number)
        let sealed = try #require(
            log.events.last { if case .sealedFixReported = $0.event { true } else { false } })
        numbers.insert(sealed.number...sealed.number)
        let applied = AppliedRetention(keyClass: .track, days: 1, before: time, keys: [1], numbers: numbers)
        log.add(.retentionApplied(applied, nil), to: .audit(person), at: time)
        try expectConcerned(log.events)
        log.add(.personErased(person), to: .audit(person), at: time)
        try expectConcerned(log.events)
    }

    private func expectConcerned(_ events: [RecordedEvent]) throws {
        try expectConcerned(CurrentTable.self, events)
        try expectConcerned(TimelineTable.self, events)
        try expectConcerned(EnvelopeTable.self, events)
    }

    private func expectConcerned<P: Projection>(_: P.Type, _ events: [RecordedEvent]) throws {
        let passedOver = EventKinds(concerningNoneOf: try #require(P.concerns))
        let concerned = events.filter { !passedOver.contains(number: $0.event.kind.rawValue) }
        #expect(concerned.count < events.count)
        let (alone, beside) = (try Folded<P>(concerned), try Folded<P>(events))
        expectSame(try alone.rows(), try beside.rows())
        #expect(alone.file.fingerprint == beside.file.fingerprint)
    }

    /// Offline stretches: some spans of fixes arrive later, each as a shuffled batch.
    static func withLateness(_ reports: [Report], _ seed: UInt64) -> [Report] {
        var dice = SplitMix(seed &+ 100)
        var arriving: [Report] = []
        var held: [Report] = []
        var isOffline = false
        for report in reports.sorted(by: { $0.fix.timestamp < $1.fix.timestamp }) {
            if dice.chance(0.01) {
                isOffline.toggle()
                if !isOffline {
                    arriving += held.shuffled(using: &dice)
                    held = []
                }
            }
            if isOffline, dice.chance(0.8) { held.append(report) } else { arriving.append(report) }
        }
        return arriving + held.shuffled(using: &dice)
    }
}
