import Geodesy
import Whereabouts

/// The visits of fixes that were opened on this computer, by the folds of the service, with the rows in memory.
///
/// The result is that of an import: the fixes have no time of receipt.
struct LocalTimeline {
    private static let person = PersonID(rawValue: 2)

    /// The visits, by arrival, as an answer at `now` shows them.
    ///
    /// - Parameter fixes: In any order, each with the name of its device.
    /// - Throws: ``ToolError/data(_:)`` if PROJ fails.
    static func visits(
        of fixes: [(device: String?, fix: Fix)], at now: Timestamp
    ) throws(ToolError) -> [Visit] {
        var devices: [String: DeviceID] = [:]
        let events = fixes.sorted { $0.fix.timestamp < $1.fix.timestamp }.enumerated().map { index, opened in
            let name = opened.device ?? ""
            let device = devices[name] ?? DeviceID(rawValue: Int64(devices.count) + 3)
            devices[name] = device
            return RecordedEvent(
                number: Int64(index) + 1, stream: .track(person), version: Int64(index) + 1, recordedAt: now,
                actor: .operator, correlation: RequestID(high: 0, low: 0), cause: 0,
                event: .fixReported(device: device, answering: nil, .open(opened.fix)))
        }
        let rows = Rows()
        do {
            var fold = try TimelineFold()
            try fold.fold(events[...], reading: rows).forEach(rows.apply)
            rows.add(events)
            try fold.settle(reading: rows).forEach(rows.apply)
        } catch { throw .data("The visits cannot be computed here: PROJ does not work.") }
        return rows.visits.compactMap { $0.told(at: now) }
    }

    /// The rows of one person.
    private final class Rows: TimelineRows {
        /// Memory does not fail.
        struct Failure: Error {}

        private var fixes: [StoredFix] = []
        private var restarts: [Restart] = []
        private var crossings: [Crossing] = []
        private var leads: [Lead] = []
        private(set) var visits: [Visit] = []
        private var newest: Timestamp?

        func add(_ events: [RecordedEvent]) {
            for recorded in events {
                guard case .fixReported(let device, _, .open(let fix)) = recorded.event else { continue }
                fixes.append(
                    StoredFix(
                        device: device, timestamp: fix.timestamp, coordinate: fix.coordinate,
                        horizontalAccuracy: fix.horizontalAccuracy, receivedAt: recorded.receipt(of: fix)))
            }
            fixes.sort { ($0.timestamp, $0.device) < ($1.timestamp, $1.device) }
        }

        func apply(_ change: TimelineChange) {
            switch change {
            case .visit(_, let old, let new):
                visits.removeAll { $0.arrival == old?.arrival }
                if let new { visits.append(new) }
                visits.sort { $0.arrival < $1.arrival }
            case .crossing(_, let old, let new):
                crossings.removeAll { $0 == old }
                if let new { crossings.append(new) }
                crossings.sort {
                    ($0.time, $0.region.rawValue, $0.kind.rawValue) < ($1.time, $1.region.rawValue, $1.kind.rawValue)
                }
            case .lead(_, let lead, let isThere):
                leads.removeAll { $0 == lead }
                if isThere { leads.append(lead) }
                leads.sort { ($0.from, $0.device) < ($1.from, $1.device) }
            case .restart(_, let restart):
                restarts.removeAll { $0.closed == restart.closed }
                restarts.append(restart)
            case .restartsVoid(_, let after, let through):
                restarts.removeAll { restart in
                    (after.map { restart.closed > $0 } ?? true) && (through.map { restart.closed <= $0 } ?? true)
                }
            case .newestReceipt(_, let moment): newest = moment
            // The regions of another person are not known here.
            case .region: break
            }
        }

        func eachFix(
            of _: PersonID, from: Timestamp?, _ body: (StoredFix) throws(Failure) -> Bool
        ) throws(Failure) {
            for fix in fixes where from.map({ fix.timestamp >= $0 }) ?? true {
                guard try body(fix) else { return }
            }
        }

        func newestReceipt(of _: PersonID) -> Timestamp? { newest }

        func latestReceipt(of _: PersonID) -> Timestamp? { fixes.map { $0.receivedAt ?? $0.timestamp }.max() }

        func regions(of _: PersonID) -> [WatchedRegion] { [] }

        func leads(of _: PersonID, from: Timestamp?) -> [Lead] {
            leads.filter { lead in from.map { lead.from >= $0 } ?? true }
        }

        func restart(of _: PersonID, closedBefore moment: Timestamp?) -> Restart? {
            restarts.filter { restart in moment.map { restart.closed < $0 } ?? true }.max { $0.closed < $1.closed }
        }

        func restart(of _: PersonID, closedAt moment: Timestamp) -> Restart? { restarts.first { $0.closed == moment } }

        func visits(of _: PersonID, arrivingFrom from: Timestamp?, before: Timestamp?) -> [Visit] {
            visits.filter { visit in
                (from.map { visit.arrival >= $0 } ?? true) && (before.map { visit.arrival < $0 } ?? true)
            }
        }

        func crossings(
            of _: PersonID, from: Timestamp?, confirmedAfter after: Timestamp?, through: Timestamp?
        ) -> [Crossing] {
            crossings.filter { crossing in
                (from.map { crossing.time >= $0 } ?? true) && (after.map { crossing.confirmed > $0 } ?? true)
                    && (through.map { crossing.confirmed <= $0 } ?? true)
            }
        }
    }
}
