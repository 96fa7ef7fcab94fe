package import Geodesy

/// Folds fixes and regions into visits and crossings.
///
/// What results is a function of the *set* of a person's fixes and of the region events: fixes may arrive in any order,
/// one by one or in batches. Fixes in the order of their time cost O(1) each; a late one is worked in at the next
/// ``settle(reading:)`` by deriving again from a restart point before it until the state is the one it was, or to the
/// end. Engines of the persons seen lately are kept in memory, at most ``mostEngines``; others come back from their rows.
package struct TimelineFold {
    /// Persons kept in memory: some 10 to 100 KiB each.
    package static let mostEngines = 2048

    private let rules: VisitRules
    private let transform: GeocentricTransform
    private var engines: [PersonID: TimelineEngine] = [:]
    private var unsettled: [TimelineEngine] = []
    private var clock: UInt64 = 0

    /// - Throws: only if PROJ is broken.
    package init(_ rules: VisitRules = .newest) throws(GeodesyError) {
        self.rules = rules
        transform = try GeocentricTransform()
    }

    /// Folds events in the order of their numbers. Their fixes must not be among `rows` yet when this is called, and
    /// must be when the next call to this or to ``settle(reading:)`` is made. ``Event/personErased(_:)`` is the
    /// caller's: it ends a batch there, deletes and calls ``forget(_:)``.
    ///
    /// - Returns: what can be told at once; the rest comes from ``settle(reading:)``.
    package mutating func fold<Rows: TimelineRows>(
        _ batch: ArraySlice<RecordedEvent>, reading rows: Rows
    ) throws(Rows.Failure) -> [TimelineChange] {
        var changes: [TimelineChange] = []
        for event in batch {
            switch event.event {
            case .fixReported(let device, _, .open(let fix)):
                guard let person = event.stream.person else { continue }
                let engine = try engine(of: person, rows, &changes)
                let receipt = event.receipt(of: fix)
                engine.reported = receipt ?? event.recordedAt
                engine.take(
                    StoredFix(
                        device: device, timestamp: fix.timestamp, coordinate: fix.coordinate,
                        horizontalAccuracy: fix.horizontalAccuracy, receivedAt: receipt), &changes)
            case .sightingReported(let device, _, .open(.visit(let report))):
                guard rules.limitsSilence, let person = event.stream.person else { continue }
                let engine = try engine(of: person, rows, &changes)
                engine.reported = event.recordedAt
                for moment in StoredFix.moments(of: report, device: device, receivedAt: event.recordedAt) {
                    engine.take(moment, &changes)
                }
            case .regionAdded(let id, .open(let region)):
                guard let person = event.stream.person else { continue }
                let engine = try engine(of: person, rows, &changes)
                engine.reported = event.recordedAt
                engine.watch(WatchedRegion(id: id, region: region, removedAt: nil), &changes)
            case .regionRemoved(let id):
                guard let person = event.stream.person else { continue }
                let engine = try engine(of: person, rows, &changes)
                engine.reported = event.recordedAt
                engine.unwatch(id, at: event.recordedAt, &changes)
            default: continue
            }
        }
        return changes
    }

    /// Works late fixes in and brings provisional rows up to date; before each commit.
    package mutating func settle<Rows: TimelineRows>(reading rows: Rows) throws(Rows.Failure) -> [TimelineChange] {
        var changes: [TimelineChange] = []
        for engine in unsettled {
            if engine.isDirty { try engine.rework(rows, &changes) }
            engine.settle(&changes)
        }
        unsettled = []
        evict()
        return changes
    }

    /// Drops what is in memory about the person, whose rows have been deleted.
    package mutating func forget(_ person: PersonID) {
        engines[person] = nil
        unsettled.removeAll { $0.person == person }
    }

    /// Drops everything in memory.
    package mutating func forget() {
        engines = [:]
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
        engine.lastUse = clock
        if !engine.isUnsettled {
            engine.isUnsettled = true
            unsettled.append(engine)
        }
        return engine
    }

    /// Keeps the half used last when there are too many.
    private mutating func evict() {
        guard engines.count > Self.mostEngines else { return }
        let kept = engines.values.sorted { $0.lastUse > $1.lastUse }.prefix(Self.mostEngines / 2)
        engines = Dictionary(uniqueKeysWithValues: kept.map { ($0.person, $0) })
    }
}
