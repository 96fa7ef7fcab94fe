import Geodesy
import Whereabouts

/// The timeline's rows of one person, in memory.
final class LocalRows: TimelineRows {
    /// Memory does not fail. The type is not `Never`, because Swift 6.3 crashes with it.
    struct Failure: Error {}

    /// By time, device and place, twins included.
    private var fixes: [StoredFix] = []
    private var restarts: [Restart] = []
    private var leads: [Lead] = []
    private var regions: [WatchedRegion] = []
    private(set) var crossings: [Crossing] = []
    private(set) var visits: [Visit] = []
    private var newest: Timestamp?

    func add(_ events: ArraySlice<RecordedEvent>) {
        for recorded in events {
            guard case .fixReported(let device, _, .open(let fix)) = recorded.event else { continue }
            let stored = StoredFix(
                device: device, timestamp: fix.timestamp, coordinate: fix.coordinate,
                horizontalAccuracy: fix.horizontalAccuracy, receivedAt: recorded.receipt(of: fix))
            // Most come in order.
            let place = fixes.lastIndex { Self.key($0) <= Self.key(stored) }
            fixes.insert(stored, at: place.map { $0 + 1 } ?? 0)
        }
    }

    private static func key(_ fix: StoredFix) -> (Timestamp, DeviceID, Double, Double) {
        (fix.timestamp, fix.device, fix.coordinate.latitude, fix.coordinate.longitude)
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
        case .region(_, let region):
            regions.removeAll { $0.id == region.id }
            regions.append(region)
        }
    }

    // MARK: For answers

    /// The fixes of the device that led at their time, of twins the most accurate one.
    ///
    /// - Parameter limit: The most fixes of all devices.
    func followedFixes(from: Timestamp?, to: Timestamp?, limit: Int) -> [StoredFix] {
        let leads = Leads(leads)
        var found: [StoredFix] = []
        var count = 0
        for fix in fixes[index(of: from)...] {
            if let to, fix.timestamp >= to { break }
            if let last = found.last, Self.key(last) == Self.key(fix) {
                if Self.isBetter(fix, than: last) { found[found.count - 1] = fix }
                continue
            }
            count += 1
            if count > limit { break }
            found.append(fix)
        }
        return found.filter { leads.leads($0.device, at: $0.timestamp) }
    }

    private static func isBetter(_ fix: StoredFix, than other: StoredFix) -> Bool {
        func meters(_ fix: StoredFix) -> Double { fix.horizontalAccuracy.flatMap { $0 < 0 ? nil : $0 } ?? .infinity }
        return meters(fix) < meters(other)
    }

    /// The last entry into the region of an exit, up to it.
    func entry(before exit: Crossing) -> Timestamp? {
        crossings.last { $0.region == exit.region && $0.kind == .enter && $0.time <= exit.time }?.time
    }

    /// The index of the first fix from `from` on.
    private func index(of from: Timestamp?) -> Int {
        guard let from else { return 0 }
        var (low, high) = (0, fixes.count)
        while low < high {
            let middle = (low + high) / 2
            if fixes[middle].timestamp < from { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: For the fold

    func eachFix(of _: PersonID, from: Timestamp?, _ body: (StoredFix) throws(Failure) -> Bool) throws(Failure) {
        for fix in fixes[index(of: from)...] {
            guard try body(fix) else { return }
        }
    }

    func newestReceipt(of _: PersonID) -> Timestamp? { newest }

    func latestReceipt(of _: PersonID) -> Timestamp? { fixes.map { $0.receivedAt ?? $0.timestamp }.max() }

    func regions(of _: PersonID) -> [WatchedRegion] { regions.sorted { $0.id < $1.id } }

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
