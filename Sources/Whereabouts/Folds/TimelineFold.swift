import Geodesy

/// Folds fixes and regions into visits and crossings.
///
/// The result is a function of the *set* of a person's fixes that count and of the region events: fixes may arrive in any order,
/// one by one or in batches. Fixes in order of time cost O(1) each. A late fix is used at the next
/// ``settle(reading:)``, which derives again from a restart point before it, to the end or until the state equals the
/// earlier one. The engines of recent persons are in memory, some 4 to 16 KiB each; others are loaded from their rows.
package struct TimelineFold {
    /// The memory for engines: some ten thousand persons. A post of another person takes a third longer.
    package static let engineBytesMax = 64 << 20

    private let rules: VisitRules
    private let engineBytesMax: Int
    private let transform = GeocentricTransform()
    private var engines: [PersonID: TimelineEngine] = [:]
    private var unsettled: [TimelineEngine] = []
    private var engineBytes = 0
    private var clock: UInt64 = 0

    /// - Parameter engineBytesMax: The memory for engines, in bytes; with 0 none is kept from one call of
    ///   ``settle(reading:)`` to the next fix.
    package init(_ rules: VisitRules = .newest, engineBytesMax: Int = engineBytesMax) {
        (self.rules, self.engineBytesMax) = (rules, engineBytesMax)
    }

    /// Folds events in the order of their numbers. Their fixes must not be among `rows` yet when this is called, and
    /// must be at the next call of this or of ``settle(reading:)``. The caller handles ``Event/personErased(_:)``: it
    /// ends a batch there, deletes the rows and calls ``forget(_:)``.
    ///
    /// - Returns: The changes that are known at once; the others come from ``settle(reading:)``.
    package mutating func fold<Rows: TimelineRows>(
        _ batch: ArraySlice<RecordedEvent>, reading rows: Rows
    ) throws(Rows.Failure) -> [TimelineChange] {
        var changes: [TimelineChange] = []
        // By index into a span: a loop over the events would copy each of them.
        let events = batch.span
        for index in events.indices {
            let (stream, recordedAt) = (events[index].stream, events[index].recordedAt)
            switch events[index].event {
            case .fixReported(let device, _, .open(let fix)):
                guard let person = stream.person else { continue }
                let engine = try engine(of: person, rows, &changes)
                let receipt = events[index].receipt(of: fix)
                engine.reported = receipt ?? recordedAt
                engine.take(
                    StoredFix(
                        device: device, timestamp: fix.timestamp, coordinate: fix.coordinate,
                        horizontalAccuracy: fix.horizontalAccuracy, receivedAt: receipt), &changes)
            case .sightingReported(let device, _, .open(.visit(let report))):
                guard rules.reports.usesReports, let person = stream.person else { continue }
                let engine = try engine(of: person, rows, &changes)
                engine.reported = recordedAt
                for moment in StoredFix.moments(of: report, device: device, receivedAt: recordedAt) {
                    engine.take(moment, &changes)
                }
            case .regionAdded(let id, .open(let region)):
                guard let person = stream.person else { continue }
                let engine = try engine(of: person, rows, &changes)
                engine.reported = recordedAt
                engine.watch(WatchedRegion(id: id, region: region, removedAt: nil), &changes)
            case .regionRemoved(let id):
                guard let person = stream.person else { continue }
                let engine = try engine(of: person, rows, &changes)
                engine.reported = recordedAt
                engine.unwatch(id, at: recordedAt, &changes)
            // The key is gone; the caller handles the others.
            case .fixReported, .sightingReported(_, .visit, _), .regionAdded, .fixesWithdrawn, .fixesRestored,
                .visitsWithdrawn, .visitsRestored, .personErased, .retentionApplied:
                continue
            default: events[index].event.isPassedOver(by: .timeline)
            }
        }
        return changes
    }

    /// Notes that an event recorded at this time has removed fixes from the rows, or put them back.
    ///
    /// Everything from the first of them on is derived again at the next ``settle(reading:)``, as for late fixes.
    package mutating func revise<Rows: TimelineRows>(
        _ fixes: [StoredFix], of person: PersonID, isWithdrawal: Bool, at recordedAt: Timestamp, reading rows: Rows
    ) throws(Rows.Failure) -> [TimelineChange] {
        var changes: [TimelineChange] = []
        if fixes.isEmpty { return changes }
        let engine = try engine(of: person, rows, &changes)
        engine.reported = recordedAt
        for fix in fixes { engine.revise(fix, isWithdrawal: isWithdrawal) }
        return changes
    }

    /// Derives with late fixes and updates provisional rows. Called before each commit.
    package mutating func settle<Rows: TimelineRows>(reading rows: Rows) throws(Rows.Failure) -> [TimelineChange] {
        var changes: [TimelineChange] = []
        for engine in unsettled {
            if engine.isDirty { try engine.rework(rows, &changes) }
            engine.settle(&changes)
            let bytes = engine.bytes
            engineBytes += bytes - engine.notes.bytes
            engine.notes.bytes = bytes
        }
        unsettled = []
        evict()
        return changes
    }

    /// Drops the memory about a person whose rows have been deleted.
    package mutating func forget(_ person: PersonID) {
        engineBytes -= engines.removeValue(forKey: person)?.notes.bytes ?? 0
        unsettled.removeAll { $0.person == person }
    }

    /// Drops all memory.
    package mutating func forget() {
        engines = [:]
        engineBytes = 0
        unsettled = []
    }

    private mutating func engine<Rows: TimelineRows>(
        of person: PersonID, _ rows: Rows, _ changes: inout [TimelineChange]
    ) throws(Rows.Failure) -> TimelineEngine {
        clock += 1
        let engine: TimelineEngine
        if let known = engines[person] {
            engine = known
        } else {
            engine = TimelineEngine(person, rules, transform)
            try engine.load(rows, &changes)
            engines[person] = engine
        }
        engine.notes.lastUse = clock
        if !engine.notes.isUnsettled {
            engine.notes.isUnsettled = true
            unsettled.append(engine)
        }
        return engine
    }

    /// If the engines take too much memory, drops those that were used least recently, until they take half of it.
    private mutating func evict() {
        guard engineBytes > engineBytesMax else { return }
        for engine in engines.values.sorted(by: { $0.notes.lastUse < $1.notes.lastUse })
        where engineBytes > engineBytesMax / 2 {
            engines[engine.person] = nil
            engineBytes -= engine.notes.bytes
        }
    }
}
