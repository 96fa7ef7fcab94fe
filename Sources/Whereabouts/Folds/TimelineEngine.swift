import Geodesy

/// The memory of the timeline's fold about one person. All of it can be made again from the rows.
final class TimelineEngine {
    let person: PersonID
    private let rules: VisitRules
    private let transform: GeocentricTransform
    private var derivation: VisitDerivation
    private var regions: [WatchedRegion] = []
    private var written = Written()
    private var newest = Newest()
    private var snapshots = Snapshots()
    private var stale = Stale()

    /// The rows as written that ``derivation`` may still change.
    private struct Written {
        var visits: [Visit] = []
        var crossings: [Crossing] = []
        var leads: [Lead] = []
        var receipt = Int64.min
    }

    /// The newest fix, and the receipt of the person's newest one, which is the derivation's `now`.
    private struct Newest {
        var fix: Seen?
        var receipt = Int64.min
    }

    /// Copies of ``derivation`` from ``fixes`` to twice as many fixes ago, for fixes that are a little late.
    private struct Snapshots {
        /// Whether they are taken: from the first late fix on. Most persons have none, and a copy takes some 3 KiB.
        var areTaken = false
        /// At most two, the older one first.
        private(set) var all: [VisitDerivation] = []
        /// The fixes since the newer one.
        private var since = 0

        /// The fixes within which two devices that report in turn stay, or one that repeats its last minutes.
        static let fixes = 64

        /// Counts a fix, and takes a copy of the state after it if enough have come since the last one.
        mutating func note(_ derivation: VisitDerivation) {
            since += 1
            guard areTaken, since >= Self.fixes else { return }
            if all.count == 2 { all.removeFirst() }
            var copy = derivation
            copy.takeOutput()
            all.append(copy)
            since = 0
        }

        /// Begins again, from a state if it is one after all fixes before.
        mutating func begin(with state: VisitDerivation?) {
            all = areTaken ? state.map { [$0] } ?? [] : []
            since = 0
        }
    }

    /// What ``derivation`` does not have.
    private struct Stale {
        /// The times of the fixes that it has not seen: late ones, and all after the first of these.
        var unseen: ClosedRange<Int64>?
        /// Set when the fix with the newest receipt may be withdrawn: the receipt must be looked up again.
        var isReceiptGone = false
        /// Set when the regions change: everything derived from this time on must be derived again.
        var from: Int64?
    }

    /// When the newest event about the person was received or recorded. New rows get this time of report.
    var reported = Timestamp(milliseconds: 0)
    var notes = Notes()

    /// What the fold notes about it.
    struct Notes {
        var isUnsettled = false
        var lastUse: UInt64 = 0
        /// The memory when it was last counted.
        var bytes = 0
    }

    /// A usable fix with its device. Rules without a leading device use the same device for all.
    private struct Seen: Equatable {
        let point: TrackPoint
        let device: DeviceID

        init?(_ fix: StoredFix, _ rules: VisitRules, _ transform: GeocentricTransform) {
            guard rules.reports.uses(fix), let point = TrackPoint(fix, transform) else {
                return nil
            }
            self.point = point
            device = fix.device
        }
    }

    /// The receipt of the fix that first showed a visit, and of the one that first showed its departure.
    private struct Receipts {
        var told: [UInt64: Timestamp] = [:]
        var departed: [UInt64: Timestamp] = [:]
    }

    init(_ person: PersonID, _ rules: VisitRules, _ transform: GeocentricTransform) {
        (self.person, self.rules, self.transform) = (person, rules, transform)
        derivation = VisitDerivation(regions: [], rules, transform)
    }

    /// About the memory that it takes. Of what it has on the heap, the points of the derivation count.
    var bytes: Int {
        let copies = 1 + snapshots.all.count
        return MemoryLayout<VisitDerivation>.stride * copies
            + MemoryLayout<TrackPoint>.stride * derivation.pointsHeld * copies + Self.otherBytes
    }

    /// The rows and the newest fix, and what the allocator adds.
    private static let otherBytes = 1024

    var isDirty: Bool { stale.unseen != nil || stale.from != nil }

    // MARK: Events

    func take(_ fix: StoredFix, _ changes: inout [TimelineChange]) {
        // A report is about the past, so only its receipt is the present time.
        let receipt = fix.report == nil ? fix.receivedAt ?? fix.timestamp : fix.receivedAt
        if let receipt, rules.reports.uses(fix) {
            newest.receipt = max(newest.receipt, receipt.milliseconds)
        }
        guard let seen = Seen(fix, rules, transform) else { return }
        if isDirty {
            saw(seen.point.time)
        } else if derivation.isNext(seen.point, of: seen.device) {
            feed(seen)
            if derivation.finished.hasNews { tell(&changes) }
        } else if seen != newest.fix {
            saw(seen.point.time)
        }
    }

    /// Notes that a fix was removed from the rows, or put back.
    func revise(_ fix: StoredFix, isWithdrawal: Bool) {
        let receipt = (fix.receivedAt ?? fix.timestamp).milliseconds
        if isWithdrawal {
            stale.isReceiptGone = stale.isReceiptGone || receipt >= newest.receipt
        } else {
            newest.receipt = max(newest.receipt, receipt)
        }
        saw(fix.timestamp.milliseconds)
    }

    private func saw(_ time: Int64) {
        stale.unseen = stale.unseen.map { min($0.lowerBound, time)...max($0.upperBound, time) } ?? time...time
    }

    func watch(_ region: WatchedRegion, _ changes: inout [TimelineChange]) {
        regions.append(region)
        stale.from = .min
        changes.append(.region(person, region))
    }

    func unwatch(_ id: RegionID, at moment: Timestamp, _ changes: inout [TimelineChange]) {
        guard let index = regions.firstIndex(where: { $0.id == id && $0.removedAt == nil }) else { return }
        regions[index].removedAt = moment
        stale.from = min(stale.from ?? .max, moment.milliseconds)
        changes.append(.region(person, regions[index]))
    }

    /// Updates provisional rows.
    func settle(_ changes: inout [TimelineChange]) {
        notes.isUnsettled = false
        if newest.receipt != written.receipt {
            let receipt = newest.receipt == .min ? nil : Timestamp(milliseconds: newest.receipt)
            changes.append(.newestReceipt(person, receipt))
            written.receipt = newest.receipt
        }
        tell(&changes)
    }

    // MARK: Deriving

    private func feed(_ fix: Seen) {
        newest.fix = fix
        derivation.add(fix.point, of: fix.device)
        snapshots.note(derivation)
    }

    /// Compares the derived rows with the written ones, and takes over the difference.
    private func tell(_ changes: inout [TimelineChange], _ receipts: Receipts = Receipts()) {
        tellLeads(&changes)
        let output = derivation.output(now: newest.receipt)
        if output.stays.isEmpty && output.crossings.isEmpty && written.visits.isEmpty && written.crossings.isEmpty {
            if derivation.finished.hasNews || !derivation.finished.boundaries.isEmpty { sealed(&changes) }
            return
        }
        let told = change(
            written.visits, to: output.stays.map { Visit($0, of: person, reported: reported, rules, transform) },
            receipts,
            &changes)
        let crossed = change(written.crossings, to: output.crossings.map { Crossing($0, reported: reported) }, &changes)
        written.visits = Array(told.dropFirst(derivation.finished.stays.count))
        // Sorted by time; the sealed ones are sorted by confirmation and may be among them. Their confirmation does not tell
        // them apart: a visit may have arrived before the newest fix that is sealed.
        let final = Set(derivation.crossings.found)
        written.crossings = final.isEmpty ? crossed : crossed.filter { !final.contains(FoundCrossing($0)) }
        sealed(&changes)
    }

    private func tellLeads(_ changes: inout [TimelineChange]) {
        if written.leads.isEmpty && derivation.lead.found.isEmpty { return }
        let (old, new) = (Set(written.leads), Set(derivation.lead.found))
        for lead in written.leads where !new.contains(lead) { changes.append(.lead(person, lead, isThere: false)) }
        for lead in derivation.lead.found where !old.contains(lead) {
            changes.append(.lead(person, lead, isThere: true))
        }
        written.leads = []
        derivation.takeLeads()
    }

    private func sealed(_ changes: inout [TimelineChange]) {
        for restart in derivation.finished.boundaries { changes.append(.restart(person, restart)) }
        derivation.takeOutput()
    }

    private func change(
        _ old: [Visit], to new: [Visit], _ receipts: Receipts, _ changes: inout [TimelineChange]
    ) -> [Visit] {
        let known = Dictionary(old.map { ($0.id, $0) }) { first, _ in first }
        let new = new.map { visit in
            var visit = visit
            if let told = receipts.told[visit.id] { visit.firstReported = told }
            if visit.departure != nil, let departed = receipts.departed[visit.id] { visit.departureReported = departed }
            guard let before = known[visit.id], before.tellableFrom == nil else { return visit }
            visit.firstReported = before.firstReported
            if visit.departure != nil, let reported = before.departureReported { visit.departureReported = reported }
            return visit
        }
        merge(old, new, precedes: { $0.arrival < $1.arrival }, same: { $0.saysTheSame(as: $1) }) { old, new in
            changes.append(.visit(person, old: old, new: new))
        }
        return new
    }

    private func change(_ old: [Crossing], to new: [Crossing], _ changes: inout [TimelineChange]) -> [Crossing] {
        var new = new.sorted(by: Crossing.precedes)
        merge(old, new, precedes: Crossing.precedes, same: { $0.saysTheSame(as: $1) }) { old, new in
            changes.append(.crossing(person, old: old, new: new))
        }
        // A row that is written again keeps its first time of report.
        var next = 0
        for index in new.indices {
            while next < old.count, Crossing.precedes(old[next], new[index]) { next += 1 }
            if next < old.count, old[next].saysTheSame(as: new[index]) { new[index].reported = old[next].reported }
        }
        return new
    }

    /// Compares two sorted lists and gives every difference: removed, added, changed.
    private func merge<Row>(
        _ old: [Row], _ new: [Row], precedes: (Row, Row) -> Bool, same: (Row, Row) -> Bool, _ give: (Row?, Row?) -> Void
    ) {
        var (i, j) = (0, 0)
        while i < old.count || j < new.count {
            if j == new.count || (i < old.count && precedes(old[i], new[j])) {
                give(old[i], nil)
                i += 1
            } else if i == old.count || precedes(new[j], old[i]) {
                give(nil, new[j])
                j += 1
            } else {
                if !same(old[i], new[j]) { give(old[i], new[j]) }
                i += 1
                j += 1
            }
        }
    }

    // MARK: Rows

    /// Loads the state from the rows, as of before the batch.
    func load<Rows: TimelineRows>(_ rows: Rows, _ changes: inout [TimelineChange]) throws(Rows.Failure) {
        regions = try rows.regions(of: person)
        derivation = VisitDerivation(regions: regions, rules, transform)
        guard let receipt = try rows.newestReceipt(of: person) else { return }
        newest.receipt = receipt.milliseconds
        written.receipt = newest.receipt
        let restart = try rows.restart(of: person, closedBefore: nil)
        let start = derived(from: restart)
        try derive(from: start.state, keeping: start.closed, stopping: nil, rows, &changes)
    }

    /// Derives with the fixes that the derivation has not seen.
    func rework<Rows: TimelineRows>(_ rows: Rows, _ changes: inout [TimelineChange]) throws(Rows.Failure) {
        snapshots.areTaken = true
        if stale.isReceiptGone {
            newest.receipt = try rows.latestReceipt(of: person)?.milliseconds ?? .min
            stale.isReceiptGone = false
        }
        let first = min(stale.unseen?.lowerBound ?? .max, stale.from ?? .max)
        let snapshot = stale.from == nil ? snapshots.all.last { $0.taken.newest < first } : nil
        // A change of regions is derived to the end: an equal state of the other regions does not show that of the new
        // one.
        let last = stale.from == nil ? stale.unseen?.upperBound : nil
        stale.unseen = nil
        stale.from = nil
        if let snapshot {
            let newest = snapshot.taken.newest == .min ? nil : Timestamp(milliseconds: snapshot.taken.newest)
            return try derive(from: snapshot, keeping: newest, stopping: last, rows, &changes)
        }
        let restart = first == .min ? nil : try rows.restart(of: person, closedBefore: Timestamp(milliseconds: first))
        let start = derived(from: restart)
        try derive(from: start.state, keeping: start.closed, stopping: last, rows, &changes)
    }

    /// The derivation at a restart point, and when that was closed. A point that cannot be read is skipped: its row is
    /// damaged, and deriving from the beginning has the same result.
    private func derived(from restart: Restart?) -> (state: VisitDerivation, closed: Timestamp?) {
        if let restart, let state = try? VisitDerivation(restart: restart, regions: regions, rules, transform) {
            return (state, restart.closed)
        }
        return (VisitDerivation(regions: regions, rules, transform), nil)
    }

    /// Derives from `start` on and compares with the written rows: to the end, or until a boundary after `last` at
    /// which the state equals the earlier one. Restart points closed up to `kept` remain.
    private func derive<Rows: TimelineRows>(
        from start: VisitDerivation, keeping kept: Timestamp?, stopping last: Int64?, _ rows: Rows,
        _ changes: inout [TimelineChange]
    ) throws(Rows.Failure) {
        let before = (derivation: derivation, newest: newest.fix, visits: written.visits, crossings: written.crossings)
        let isFresh = start.taken.newest == .min
        let firstArrival = start.earliestArrival
        let confirmed = start.crossings.confirmedThrough
        let earliestCrossing = start.crossings.earliestTime
        // Other devices may have fixes at the time of the newest one.
        let from = isFresh ? nil : Timestamp(milliseconds: start.taken.newest)
        let ledThrough = start.ledThrough
        derivation = start
        // A restart point has seen fixes after its seed, so it is not the state after the fixes before.
        snapshots.begin(with: (kept?.milliseconds ?? .min) == start.taken.newest ? start : nil)
        var converged: Restart?
        var candidate: Seen?
        var candidateStored: StoredFix?
        var receipts = Receipts()
        // Fixes that come together are processed one by one, so that each visit has the receipt of the fix that showed
        // it.
        func noteReceipt(of fix: StoredFix) {
            guard derivation.finished.hasNews, let receipt = fix.receivedAt else { return }
            // Visits that are final by now have been noted before.
            var latest = derivation
            latest.takeOutput()
            for stay in latest.output(now: receipt.milliseconds).stays where stay.tellableFrom == nil {
                let id = stay.id(of: person)
                if receipts.told[id] == nil { receipts.told[id] = receipt }
                if stay.isOpen {
                    receipts.departed[id] = nil
                } else if receipts.departed[id] == nil {
                    receipts.departed[id] = receipt
                }
            }
            derivation.takeNews()
        }
        try rows.eachFix(of: person, from: from) { stored throws(Rows.Failure) in
            guard let fix = Seen(stored, rules, transform), start.isNext(fix.point, of: fix.device) else { return true }
            guard let waiting = candidate else {
                (candidate, candidateStored) = (fix, stored)
                return true
            }
            if fix.point.time == waiting.point.time, fix.device == waiting.device {
                if fix.point.precedesAtSameMoment(waiting.point) { (candidate, candidateStored) = (fix, stored) }
                return true
            }
            let waitingStored = candidateStored
            (candidate, candidateStored) = (fix, stored)
            let boundaries = derivation.finished.boundaries.count
            feed(waiting)
            if let waitingStored { noteReceipt(of: waitingStored) }
            // The fixes from the seed on are still to be given again, so all unseen ones must be before it.
            if let last, derivation.finished.boundaries.count > boundaries,
                let boundary = derivation.finished.boundaries.last,
                boundary.seed.milliseconds > last,
                try rows.restart(of: person, closedAt: boundary.closed) == boundary
            {
                converged = boundary
                return false
            }
            return true
        }
        if converged == nil, let candidate {
            feed(candidate)
            if let candidateStored { noteReceipt(of: candidateStored) }
        }

        func time(_ milliseconds: Int64) -> Timestamp? {
            milliseconds == .min ? nil : Timestamp(milliseconds: milliseconds)
        }
        // At the boundary either may be the lowest time, which is not the same as no end.
        let endArrival = converged.map { _ in Timestamp(milliseconds: derivation.earliestArrival) }
        let endConfirmed = converged.map { _ in Timestamp(milliseconds: derivation.crossings.confirmedThrough) }
        written.visits = try rows.visits(of: person, arrivingFrom: time(firstArrival), before: endArrival)
        written.crossings = try rows.crossings(
            of: person, from: time(earliestCrossing), confirmedAfter: time(confirmed),
            through: endConfirmed)
        let ledTo = converged.flatMap { _ in derivation.ledThrough }
        written.leads = try rows.leads(of: person, from: ledThrough?.from).filter { lead in
            (ledThrough.map { Lead.precedes($0, lead) } ?? true) && !(ledTo.map { Lead.precedes($0, lead) } ?? false)
        }
        tellLeads(&changes)
        changes.append(.restartsVoid(person, closedAfter: kept, through: converged?.closed))
        guard converged != nil else { return tell(&changes, receipts) }

        let stays = derivation.finished.stays.map { Visit($0, of: person, reported: reported, rules, transform) }
        _ = change(written.visits, to: stays, receipts, &changes)
        let found = derivation.crossings.found.map { Crossing($0, reported: reported) }
        _ = change(written.crossings, to: found, &changes)
        sealed(&changes)
        // After the boundary, nothing has changed, including the engine.
        (derivation, newest.fix, written.visits, written.crossings) = (
            before.derivation, before.newest, before.visits, before.crossings
        )
        snapshots.begin(with: nil)
    }
}

extension FoundCrossing {
    fileprivate init(_ crossing: Crossing) {
        self.init(
            region: crossing.region, kind: crossing.kind, time: crossing.time.milliseconds,
            confirmed: crossing.confirmed.milliseconds)
    }
}

extension Crossing {
    init(_ found: FoundCrossing, reported: Timestamp) {
        self.init(
            region: found.region, kind: found.kind, time: Timestamp(milliseconds: found.time),
            confirmed: Timestamp(milliseconds: found.confirmed), reported: reported)
    }
}
