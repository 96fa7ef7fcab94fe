import Geodesy

/// Derives one person's visits and crossings from usable fixes, given in order of time, one for each time.
///
/// It is a value: a copy continues separately. Provisional answers and late fixes use copies. Cost: O(1) for each fix,
/// amortized; memory for some minutes of fixes, whatever the length of a stay.
struct VisitDerivation {
    let transform: GeocentricTransform
    let rules: VisitRules

    // Stage 0: devices.
    var lead = DeviceLead()
    var taken = Taken()
    private var held = Held()

    // Stage 1: spikes.
    var spikes = Spikes()

    // Stage 2: clusters. The open one, and what it follows.
    var cluster: StayCluster?
    var approach = Approach()

    // Stage 3.
    var ended = Ended()
    /// The places of earlier stays; empty if the rules remember none.
    var memory = PlaceMemory()

    // Stage 4.
    var crossings: CrossingDerivation
    private(set) var finished = Finished()

    /// The newest fix taken.
    struct Taken {
        /// Its time and device.
        var newest = Int64.min
        var device = DeviceID(rawValue: .min)
        /// The lead up to which ``VisitDerivation/lead`` has seen the fixes that are yet to be given again after a restart.
        var leadThrough: Lead?
    }

    /// The state that waits for the next fix.
    private struct Held {
        /// The most precise fix of one slot of time, until a fix of a later slot comes (``VisitRules/slotSeconds``).
        var candidate: TrackPoint?
        /// A reported moment of a visit, held until the next fix or moment: fixes close to it replace it.
        var report: TrackPoint?
    }

    /// The last accepted fix, and one that may prove to be a spike.
    struct Spikes {
        var previous: TrackPoint?
        fileprivate(set) var suspect: TrackPoint?
        /// A fix before ``suspect`` that may be a spike together with it; only if the rules know pairs of spikes.
        fileprivate var first: TrackPoint?
    }

    /// The way to the open cluster.
    struct Approach {
        /// Up to three accepted fixes before its seed.
        var trail: [TrackPoint] = []
        var followsStay = false
        /// The fix last given to the cluster.
        var lastFed: TrackPoint?
        /// The last fix of a false spot that the seed of the open cluster comes from.
        fileprivate var falseSpot: TrackPoint?
        /// The time before which silence has ended everything.
        var beganAnew = Int64.min
    }

    /// A closed stay that the next one may still join, and the fixes of travel since.
    struct Ended {
        var stay: Stay?
        var between: [TrackPoint] = []
    }

    /// The stays that no later fix in order can change, since the last ``takeOutput()``.
    struct Finished {
        fileprivate(set) var stays: [Stay] = []
        /// The restart points.
        fileprivate(set) var boundaries: [Restart] = []
        /// Whether something visible has begun or ended.
        fileprivate(set) var hasNews = false
    }

    init(regions: [WatchedRegion], _ rules: VisitRules, _ transform: GeocentricTransform) {
        (self.rules, self.transform) = (rules, transform)
        crossings = CrossingDerivation(regions: regions, rules, transform)
    }

    /// The points that it has on the heap.
    var pointsHeld: Int {
        approach.trail.count + ended.between.count + lead.pointsHeld + (cluster?.pointsHeld ?? 0)
    }

    // MARK: In

    /// Whether a fix is later than all before, or from a later device at the time of the last.
    func isNext(_ fix: TrackPoint, of device: DeviceID) -> Bool {
        fix.time > taken.newest || (fix.time == taken.newest && device > taken.device)
    }

    /// Takes the next fix.
    mutating func add(_ fix: TrackPoint, of device: DeviceID) {
        precondition(isNext(fix, of: device), "Fixes are derived in the order of their time.")
        (taken.newest, taken.device) = (fix.time, device)
        guard isFollowed(fix, of: device) else { return }
        if fix.report != nil {
            if let waiting = held.candidate {
                held.candidate = nil
                take(waiting)
            }
            return hold(fix)
        }
        if let waiting = held.candidate {
            if fix.isInSlot(of: waiting) {
                if fix.accuracy < waiting.accuracy { held.candidate = fix }
                return
            }
            take(waiting)
            markInside(before: fix)
        }
        held.candidate = fix
    }

    private mutating func isFollowed(_ fix: TrackPoint, of device: DeviceID) -> Bool {
        if let seen = taken.leadThrough {
            // No device took the lead in this time (``markBoundary(seed:)``).
            let here = Lead(from: Timestamp(milliseconds: fix.time), device: device)
            if !Lead.precedes(seen, here) { return device == lead.leader }
            taken.leadThrough = nil
        }
        let leads = lead.found.count
        let isFollowed = lead.follows(fix, of: device)
        if lead.found.count > leads { finished.hasNews = true }
        return isFollowed
    }

    private mutating func hold(_ report: TrackPoint) {
        releaseReport(before: report)
        held.report = report
    }

    /// Takes the held moment, unless fixes shortly before and after it show where the device was.
    private mutating func releaseReport(before next: TrackPoint) {
        guard let report = held.report else { return }
        held.report = nil
        let silence = VisitRules.reportSilenceSeconds
        if next.report == nil, next.seconds(since: report) <= silence, let before = spikes.suspect ?? spikes.previous,
            before.report == nil, report.seconds(since: before) <= silence
        {
            return
        }
        takeInOrder(report)
    }

    private mutating func take(_ fix: TrackPoint) {
        releaseReport(before: fix)
        takeInOrder(fix)
    }

    private mutating func takeInOrder(_ fix: TrackPoint) {
        if let first = spikes.first, let second = spikes.suspect {
            spikes.first = nil
            if let before = spikes.previous, first.isSpike(with: second, after: before, before: fix) {
                // Both fixes are spikes.
                spikes.suspect = nil
            } else {
                accept(first)
            }
        }
        if let doubtful = spikes.suspect {
            if let before = spikes.previous, doubtful.isSpike(after: before, before: fix) {
                // The fix is a spike.
                spikes.suspect = nil
            } else if let before = spikes.previous, rules.spikes.mayBePair(doubtful, after: before, with: fix) {
                (spikes.first, spikes.suspect) = (doubtful, fix)
                return
            } else {
                spikes.suspect = nil
                accept(doubtful)
            }
        }
        if let before = spikes.previous, fix.isFar(from: before) {
            spikes.suspect = fix
        } else {
            accept(fix)
        }
    }

    private mutating func accept(_ fix: TrackPoint) {
        if isSilenceTooLong(before: fix) || cameBack(at: fix) { endInSilence(before: fix) }
        spikes.previous = fix
        guard feed(fix) else { return }
        feedAll(close())
    }

    /// Whether the silence before the fix is too long to connect it with the fixes before.
    private func isSilenceTooLong(before fix: TrackPoint) -> Bool {
        guard let last = approach.lastFed, let cluster else { return false }
        let from = max(last.time, cluster.carriedUntil)
        if rules.silence.ends(after: Double(fix.time - from) / 1000) { return true }
        return cluster.isOverdrawn(by: fix)
    }

    /// Whether the device reported that it left and returned, and no fix shows where it was in between.
    private func cameBack(at fix: TrackPoint) -> Bool {
        guard fix.report == .arrival, let cluster, cluster.lastInsider.report == .departure else { return false }
        return fix.seconds(since: cluster.lastInsider) > VisitRules.reportSilenceSeconds
    }

    /// Ends the open cluster and stay at their last evidence, so that the next fix begins new ones.
    private mutating func endInSilence(before fix: TrackPoint) {
        while let closed = cluster {
            if !closed.exit.waiting.isEmpty {
                feedAll(close())
                continue
            }
            cluster = nil
            finished.hasNews = true
            if let found = closed.coreStay(after: approach.trail, followsStay: approach.followsStay, rules) {
                keep(found)
            } else {
                travel(closed.young)
            }
        }
        seal()
        approach = Approach(beganAnew: fix.time)
        markBoundary(seed: fix)
    }

    /// Feeds the fixes that waited for a cluster to close. They begin the next one and may close that too.
    mutating func feedAll(_ waiting: [TrackPoint]) {
        var queue = waiting
        var next = 0
        while next < queue.count {
            if feed(queue[next]) {
                queue = close() + queue[(next + 1)...]
                next = 0
            } else {
                next += 1
            }
        }
    }

    /// Gives an accepted fix to the open cluster, or opens one with it. Returns `true` if the cluster closes.
    private mutating func feed(_ fix: TrackPoint) -> Bool {
        defer { approach.lastFed = fix }
        guard let before = approach.lastFed, cluster != nil else {
            cluster = StayCluster(seed: fix, rules)
            return false
        }
        let observed = cluster?.observedSeconds ?? 0
        let closes = cluster?.closes(with: fix, after: before) ?? false
        if observed < VisitRules.ongoingSeconds, let now = cluster?.observedSeconds, now >= VisitRules.ongoingSeconds {
            finished.hasNews = true
        }
        return closes
    }

    // MARK: Stage 3

    /// Closes the cluster and returns the waiting fixes, beginning with its first outsider.
    mutating func close() -> [TrackPoint] {
        guard let closed = cluster else { preconditionFailure("Only an open cluster closes.") }
        cluster = nil
        // A shorter one was no visit yet. On the way, nearly each fix opens one and closes it.
        if closed.observedSeconds >= VisitRules.ongoingSeconds { finished.hasNews = true }
        approach.lastFed = closed.exit.before
        let waiting = closed.exit.waiting
        let gone = closeByCore(closed)
        return gone == 0 ? waiting : Array(waiting[gone...])
    }

    /// Returns how many of the waiting fixes belong to a false spot.
    private mutating func closeByCore(_ closed: StayCluster) -> Int {
        let seed = closed.exit.waiting[0]
        let entry = approach.falseSpot ?? approach.trail.last
        if closed.isFalseSpot(after: entry, rules) {
            // The cluster is a false spot.
            approach.falseSpot = closed.lastInsider
            return closed.fixesAtFalseSpot(after: entry, rules)
        }
        approach.falseSpot = nil
        if let found = closed.coreStay(after: approach.trail, followsStay: approach.followsStay, rules) {
            keep(found)
            approach.followsStay = ended.between.isEmpty
            approach.trail = approach.followsStay ? [closed.lastInsider] : ended.between.suffix(3)
            markBoundary(seed: seed)
        } else {
            let isLeaving = ended.stay != nil
            travel(closed.young)
            approach.trail = Array((approach.trail + closed.young).suffix(3))
            approach.followsStay = false
            let span = VisitRules.restartSpanSeconds * 1000
            guard ended.stay == nil else { return 0 }
            // Once a stay is left for good, nothing depends on it any more: a late fix in it is derived up to here.
            if isLeaving || closed.seed.time / span != seed.time / span { markBoundary(seed: seed) }
        }
        return 0
    }

    /// Keeps a closed stay: joined with the pending one if both are one stay, otherwise as the next.
    private mutating func keep(_ found: CoreStay) {
        finished.hasNews = true
        if let earlier = ended.stay, earlier.isJoined(by: found.stay, rules) {
            ended.stay = earlier.joined(with: found.stay)
        } else {
            seal()
            for fix in found.core.approach { cross(fix) }
            ended.stay = found.stay
        }
        ended.between = Array(found.core.wayOut)
    }

    /// Takes fixes that belong to no stay.
    private mutating func travel(_ fixes: [TrackPoint]) {
        guard let earlier = ended.stay else {
            for fix in fixes { cross(fix) }
            return
        }
        ended.between += fixes
        let center = earlier.mean.center
        let isOver = fixes.contains { fix in
            fix.point.chordMeters(to: center) > VisitRules.joinExcursion + fix.accuracy
        }
        if isOver || ended.between.count > VisitRules.mostBetween { seal() }
    }

    /// Makes the pending stay final.
    private mutating func seal() {
        if var stay = ended.stay {
            rules.places.settle(&stay, &memory)
            finished.stays.append(stay)
            crossings.add(stay, transform)
            finished.hasNews = true
            ended.stay = nil
        }
        for fix in ended.between { cross(fix) }
        ended.between = []
    }

    /// Adds a fix of travel to the track whose crossings are looked for.
    private mutating func cross(_ fix: TrackPoint) {
        let known = crossings.found.count
        crossings.add(.fix(fix))
        if crossings.found.count > known { finished.hasNews = true }
    }

    /// Marks a restart point in a long stay, so that a late fix in it costs the rest of the stay, not all of it.
    private mutating func markInside(before next: TrackPoint) {
        guard let cluster, cluster.mean.count % VisitRules.restartFixes == 0 else { return }
        guard cluster.isRestartable, cluster.lastInsider == approach.lastFed, spikes.suspect == nil,
            approach.falseSpot == nil,
            held.report == nil
        else { return }
        markBoundary(seed: next)
    }

    private mutating func markBoundary(seed: TrackPoint) {
        // One device has led since the seed, so the state says whose fixes to give again.
        guard taken.leadThrough == nil, lead.takenAt < seed.time else { return }
        finished.boundaries.append(
            Restart(
                seed: Timestamp(milliseconds: seed.time), closed: Timestamp(milliseconds: taken.newest),
                state: encoded())
        )
    }

    // MARK: Out

    /// The lead up to which the leading device is known; `nil` before the first fix.
    var ledThrough: Lead? {
        taken.leadThrough
            ?? (taken.newest == .min ? nil : Lead(from: Timestamp(milliseconds: taken.newest), device: taken.device))
    }

    mutating func takeLeads() { lead.takeOutput() }

    /// The stays and crossings since the last ``takeOutput()``, the final ones first, as they are at `now`, the receipt
    /// of the person's newest event.
    func output(now: Int64) -> (stays: [Stay], crossings: [FoundCrossing]) {
        guard held.candidate != nil || spikes.suspect != nil || held.report != nil else {
            return outputWithoutSuspect(now: now)
        }
        // The newest fix is used until its successor decides otherwise.
        var provisional = self
        if let candidate = held.candidate {
            provisional.held.candidate = nil
            provisional.take(candidate)
        }
        if let report = provisional.held.report {
            provisional.held.report = nil
            provisional.takeInOrder(report)
        }
        if let first = provisional.spikes.first {
            provisional.spikes.first = nil
            provisional.accept(first)
        }
        if let suspect = provisional.spikes.suspect {
            provisional.spikes.suspect = nil
            provisional.accept(suspect)
        }
        return provisional.outputWithoutSuspect(now: now)
    }

    /// Clears ``Finished/hasNews`` once the caller has read the news.
    mutating func takeNews() { finished.hasNews = false }

    /// Drops the final results that ``output(now:)`` returned.
    mutating func takeOutput() {
        finished = Finished()
        crossings.takeOutput()
        lead.takeOutput()
    }

    /// Every stay from here on that is not sealed arrives at or after this time; every sealed one arrived before.
    var earliestArrival: Int64 { ended.stay?.arrival ?? approach.trail.last.map { $0.time + 1 } ?? approach.beganAnew }
}
