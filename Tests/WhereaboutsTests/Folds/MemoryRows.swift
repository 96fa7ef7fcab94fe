import Geodesy

@testable import Whereabouts

/// The timeline's rows in memory, and the fold that writes them: `TimelineTable` without SQLite.
final class MemoryTimeline: TimelineRows {
    struct Stored {
        let person: PersonID
        let fix: StoredFix
    }
    private var fixes: [Stored] = []
    private var receipts: [PersonID: Timestamp] = [:]
    private var watched: [PersonID: [WatchedRegion]] = [:]
    private(set) var restarts: [PersonID: [Restart]] = [:]
    private(set) var visits: [PersonID: [Visit]] = [:]
    private(set) var crossings: [PersonID: [Crossing]] = [:]
    private(set) var leads: [PersonID: [Lead]] = [:]
    /// How many fixes the fold has read back.
    private(set) var fixesRead = 0
    private var fold: TimelineFold
    private var number: Int64 = 0

    static let person = PersonID(rawValue: 2)
    static let device = DeviceID(rawValue: 3)

    init(_ rules: VisitRules = .newest, engineBytesMax: Int = TimelineFold.engineBytesMax) throws {
        fold = TimelineFold(rules, engineBytesMax: engineBytesMax)
    }

    /// Folds the reports of the device, each fix received a second after its time unless it says otherwise.
    func report(_ fixes: [Fix], recordedAt: Timestamp? = nil, actor: PrincipalID = device.principal) throws {
        try report(fixes.map { (Self.device, $0) }, recordedAt: recordedAt, actor: actor)
    }

    /// The same of several devices.
    func report(
        _ fixes: [(device: DeviceID, fix: Fix)], recordedAt: Timestamp? = nil, actor: PrincipalID = device.principal
    ) throws {
        try record(
            fixes.map { device, fix in
                (
                    .track(Self.person), recordedAt ?? fix.timestamp.adding(seconds: 1), actor,
                    .fixReported(device: device, answering: nil, .open(fix))
                )
            })
    }

    func record(_ events: [(StreamID, Timestamp, PrincipalID, Event)]) throws {
        let batch = events.map { stream, moment, actor, event in
            number += 1
            return RecordedEvent(
                number: number, stream: stream, version: number, recordedAt: moment, actor: actor,
                correlation: RequestID(high: 0, low: 0), cause: 0, event: event)
        }
        let changes = try fold.fold(batch[...], reading: self)
        for event in batch {
            guard let person = event.stream.person else { continue }
            if case .sightingReported(let device, _, .open(.visit(let report))) = event.event {
                for moment in StoredFix.moments(of: report, device: device, receivedAt: event.recordedAt) {
                    fixes.append(Stored(person: person, fix: moment))
                }
            }
            guard case .fixReported(let device, _, .open(let fix)) = event.event else { continue }
            fixes.append(
                Stored(
                    person: person,
                    fix: StoredFix(
                        device: device, timestamp: fix.timestamp, coordinate: fix.coordinate,
                        horizontalAccuracy: fix.horizontalAccuracy,
                        receivedAt: event.receipt(of: fix))))
        }
        changes.forEach(apply)
        try fold.settle(reading: self).forEach(apply)
    }

    private func apply(_ change: TimelineChange) {
        switch change {
        case .visit(let person, let old, let new):
            visits[person, default: []].removeAll { $0.arrival == old?.arrival }
            if let new { visits[person, default: []].append(new) }
            visits[person]?.sort { $0.arrival < $1.arrival }
        case .crossing(let person, let old, let new):
            crossings[person, default: []].removeAll { $0 == old }
            if let new { crossings[person, default: []].append(new) }
            crossings[person]?.sort(by: Crossing.precedes)
        case .region(let person, let region):
            watched[person, default: []].removeAll { $0.id == region.id }
            watched[person, default: []].append(region)
        case .lead(let person, let lead, let isThere):
            leads[person, default: []].removeAll { $0 == lead }
            if isThere { leads[person, default: []].append(lead) }
            leads[person]?.sort(by: Lead.precedes)
        case .restart(let person, let restart):
            restarts[person, default: []].removeAll { $0.closed == restart.closed }
            restarts[person, default: []].append(restart)
        case .restartsVoid(let person, let after, let through):
            restarts[person]?.removeAll { restart in
                (after.map { restart.closed > $0 } ?? true) && (through.map { restart.closed <= $0 } ?? true)
            }
        case .newestReceipt(let person, let moment): receipts[person] = moment
        }
    }

    // MARK: TimelineRows

    /// Memory does not fail. Not `Never`, on whose account the compiler (6.3.1) fails to make the witness of `eachFix`.
    struct Failure: Error {}

    func eachFix(of person: PersonID, from: Timestamp?, _ body: (StoredFix) throws(Failure) -> Bool) throws(Failure) {
        let ordered = fixes.filter { stored in
            stored.person == person && (from.map { stored.fix.timestamp >= $0 } ?? true)
        }.sorted { ($0.fix.timestamp, $0.fix.device) < ($1.fix.timestamp, $1.fix.device) }
        for stored in ordered {
            fixesRead += 1
            guard try body(stored.fix) else { return }
        }
    }

    func newestReceipt(of person: PersonID) -> Timestamp? { receipts[person] }

    func latestReceipt(of person: PersonID) -> Timestamp? {
        fixes.filter { $0.person == person }.map { $0.fix.receivedAt ?? $0.fix.timestamp }.max()
    }

    func regions(of person: PersonID) -> [WatchedRegion] { watched[person] ?? [] }

    func leads(of person: PersonID, from: Timestamp?) -> [Lead] {
        (leads[person] ?? []).filter { lead in from.map { lead.from >= $0 } ?? true }
    }

    func restart(of person: PersonID, closedBefore moment: Timestamp?) -> Restart? {
        restarts[person]?.filter { restart in moment.map { restart.closed < $0 } ?? true }.max { $0.closed < $1.closed }
    }

    func restart(of person: PersonID, closedAt moment: Timestamp) -> Restart? {
        restarts[person]?.first { $0.closed == moment }
    }

    func visits(of person: PersonID, arrivingFrom from: Timestamp?, before: Timestamp?) -> [Visit] {
        (visits[person] ?? []).filter { visit in
            (from.map { visit.arrival >= $0 } ?? true) && (before.map { visit.arrival < $0 } ?? true)
        }
    }

    func crossings(
        of person: PersonID, from: Timestamp?, confirmedAfter after: Timestamp?, through: Timestamp?
    ) -> [Crossing] {
        (crossings[person] ?? []).filter { crossing in
            (from.map { crossing.time >= $0 } ?? true) && (after.map { crossing.confirmed > $0 } ?? true)
                && (through.map { crossing.confirmed <= $0 } ?? true)
        }
    }
}
