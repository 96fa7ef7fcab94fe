import Geodesy

/// Derives one person's visits and crossings from usable fixes given in the order of their time, each moment once.
///
/// A value: a copy goes on by itself, which is how a provisional answer is computed and how a late fix is worked in.
/// Cost: O(1) a fix, amortised; memory for some minutes of fixes, whatever the length of a stay.
struct VisitDerivation {
    let transform: GeocentricTransform
    let rules: VisitRules

    // Stage 0: devices.
    var lead = DeviceLead()
    /// Up to here ``lead`` has seen the fixes that are yet to be given again after a restart.
    var leadThrough: Lead?

    /// Of the fixes of one slot of time the most precise, until a fix of a later slot comes; where the rules judge the path.
    private var candidate: TrackPoint?

    // Stage 1: spikes. The last accepted fix, and one that may turn out to be a spike.
    var previous: TrackPoint?
    private(set) var suspect: TrackPoint?
    /// Time and device of the newest fix taken in.
    var newest = Int64.min
    var newestDevice = DeviceID(rawValue: .min)

    // Stage 2: clusters. The open one, and up to three accepted fixes before its seed.
    var cluster: StayCluster?
    var trail: [TrackPoint] = []
    var followsStay = false
    /// Silence has ended everything before this moment.
    var beganAnew = Int64.min

    /// A reported moment of a visit, held until the next fix or moment: fixes close to it replace it.
    private var heldReport: TrackPoint?
    /// The last fix of a false spot that the seed of the open cluster comes from.
    private var falseSpot: TrackPoint?
    /// The fix last given to the cluster.
    var lastFed: TrackPoint?

    // Stage 3: a closed stay that the next may still join, and the fixes of travel since.
    var pending: Stay?
    var between: [TrackPoint] = []

    // Stage 4.
    var crossings: CrossingDerivation

    /// Stays that no later fix in order can change, since the last ``takeOutput()``.
    private(set) var sealedStays: [Stay] = []
    /// Points at which the derivation may be restarted, since the last ``takeOutput()``.
    private(set) var boundaries: [Restart] = []
    /// Whether something that is told has begun or ended since the last ``takeOutput()``.
    private(set) var hasNews = false

    init(regions: [WatchedRegion], _ rules: VisitRules, _ transform: GeocentricTransform) {
        (self.rules, self.transform) = (rules, transform)
        crossings = CrossingDerivation(regions: regions, transform)
    }

    // MARK: In

    /// Whether a fix is later than all before, or of a later device at the moment of the last.
    func isNext(_ fix: TrackPoint, of device: DeviceID) -> Bool {
        fix.time > newest || (fix.time == newest && device > newestDevice)
    }

    /// Takes the next fix.
    mutating func add(_ fix: TrackPoint, of device: DeviceID) {
        precondition(isNext(fix, of: device), "Fixes are derived in the order of their time.")
        (newest, newestDevice) = (fix.time, device)
        if rules.oneDeviceLeads, !isFollowed(fix, of: device) { return }
        guard rules.judgesPath else { return take(fix) }
        if fix.report != nil {
            if let waiting = candidate {
                candidate = nil
                take(waiting)
            }
            return hold(fix)
        }
        if let waiting = candidate {
            if fix.isInSlot(of: waiting) {
                if fix.accuracy < waiting.accuracy { candidate = fix }
                return
            }
            take(waiting)
            markInside(before: fix)
        }
        candidate = fix
    }

    private mutating func isFollowed(_ fix: TrackPoint, of device: DeviceID) -> Bool {
        if let seen = leadThrough {
            // Nobody took the lead in this time (``markBoundary(seed:)``).
            let here = Lead(from: Timestamp(milliseconds: fix.time), device: device)
            if !Lead.precedes(seen, here) { return device == lead.leader }
            leadThrough = nil
        }
        let leads = lead.found.count
        let isFollowed = lead.follows(fix, of: device)
        if lead.found.count > leads { hasNews = true }
        return isFollowed
    }

    private mutating func hold(_ report: TrackPoint) {
        releaseReport(before: report)
        heldReport = report
    }

    /// Takes the held moment, unless fixes shortly before and after it show where the device was.
    private mutating func releaseReport(before next: TrackPoint) {
        guard let report = heldReport else { return }
        heldReport = nil
        let silence = VisitRules.reportSilenceSeconds
        if next.report == nil, next.seconds(since: report) <= silence, let before = suspect ?? previous,
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
        if let doubtful = suspect {
            suspect = nil
            if let before = previous, doubtful.isSpike(after: before, before: fix, rules) {
                // Never happened.
            } else {
                accept(doubtful)
            }
        }
        if let before = previous, fix.isFar(from: before) {
            suspect = fix
        } else {
            accept(fix)
        }
    }

    private mutating func accept(_ fix: TrackPoint) {
        if rules.limitsSilence, isSilenceTooLong(before: fix) || cameBack(at: fix) { endInSilence(before: fix) }
        previous = fix
        guard feed(fix) else { return }
        feedAll(close())
    }

    /// Whether the silence before the fix is too long to connect the fix with what came before.
    private func isSilenceTooLong(before fix: TrackPoint) -> Bool {
        guard let last = lastFed, let cluster else { return false }
        let from = max(last.time, cluster.carriedUntil)
        if Double(fix.time - from) / 1000 > VisitRules.samePlaceSilenceSeconds { return true }
        return cluster.isOverdrawn(by: fix)
    }

    /// Whether the device reported that it left and came back, and no fix shows where it was in between.
    private func cameBack(at fix: TrackPoint) -> Bool {
        guard fix.report == .arrival, let cluster, cluster.lastInsider.report == .departure else { return false }
        return fix.seconds(since: cluster.lastInsider) > VisitRules.reportSilenceSeconds
    }

    /// Ends the open cluster and stay at their last evidence, so that the next fix begins anew.
    private mutating func endInSilence(before fix: TrackPoint) {
        while let closed = cluster {
            if !closed.waiting.isEmpty {
                feedAll(close())
                continue
            }
            cluster = nil
            hasNews = true
            if let found = closed.coreStay(after: trail, followsStay: followsStay, rules) {
                keep(found)
            } else {
                travel(closed.young)
            }
        }
        seal()
        (trail, followsStay, lastFed, falseSpot, beganAnew) = ([], false, nil, nil, fix.time)
        markBoundary(seed: fix)
    }

    /// Feeds the fixes that waited for a cluster to close. They start the next one and may close that too.
    private mutating func feedAll(_ waiting: [TrackPoint]) {
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

    /// Gives an accepted fix to the open cluster, or opens one with it; `true` when the cluster closes.
    private mutating func feed(_ fix: TrackPoint) -> Bool {
        defer { lastFed = fix }
        guard let before = lastFed, cluster != nil else {
            cluster = StayCluster(seed: fix, rules)
            return false
        }
        let observed = cluster?.observedSeconds ?? 0
        let closes = cluster?.closes(with: fix, after: before) ?? false
        if observed < VisitRules.ongoingSeconds, let now = cluster?.observedSeconds, now >= VisitRules.ongoingSeconds {
            hasNews = true
        }
        return closes
    }

    // MARK: Stage 3

    /// Closes the cluster and returns what waited, beginning with its first outsider.
    private mutating func close() -> [TrackPoint] {
        guard let closed = cluster else { preconditionFailure("Only an open cluster closes.") }
        cluster = nil
        hasNews = true
        lastFed = closed.beforeOutsiders
        let waiting = closed.waiting
        if rules.findsCore {
            closeByCore(closed)
        } else if let stay = closed.stay(after: trail, followsStay: followsStay, rules),
            !closed.isTeleport(after: trail)
        {
            if let earlier = pending, earlier.isJoined(by: stay, rules) {
                pending = earlier.joined(with: stay)
                between = []
            } else {
                seal()
                pending = stay
            }
            trail = [closed.lastInsider]
            followsStay = true
            markBoundary(seed: waiting[0])
        } else if !closed.isTeleport(after: trail) {
            travel(closed.young)
            trail = Array((trail + closed.young).suffix(3))
            followsStay = false
            let span = VisitRules.restartSpanSeconds * 1000
            if pending == nil, closed.seed.time / span != waiting[0].time / span { markBoundary(seed: waiting[0]) }
        }
        return waiting
    }

    private mutating func closeByCore(_ closed: StayCluster) {
        let seed = closed.waiting[0]
        if closed.isFalseSpot(after: falseSpot ?? trail.last, rules) {
            // Nobody was there.
            falseSpot = closed.lastInsider
            return
        }
        falseSpot = nil
        if let found = closed.coreStay(after: trail, followsStay: followsStay, rules) {
            keep(found)
            followsStay = between.isEmpty
            trail = followsStay ? [closed.lastInsider] : between.suffix(3)
            markBoundary(seed: seed)
        } else {
            let isLeaving = pending != nil
            travel(closed.young)
            trail = Array((trail + closed.young).suffix(3))
            followsStay = false
            let span = VisitRules.restartSpanSeconds * 1000
            guard pending == nil else { return }
            // Once a stay is left for good, nothing depends on it any more: a late fix in it is worked in by here.
            if isLeaving || closed.seed.time / span != seed.time / span { markBoundary(seed: seed) }
        }
    }

    /// Keeps a closed stay: joined with the pending one if both are one stay, else as the next.
    private mutating func keep(_ found: CoreStay) {
        if let earlier = pending, earlier.isJoined(by: found.stay, rules) {
            pending = earlier.joined(with: found.stay)
        } else {
            seal()
            for fix in found.core.approach { crossings.add(.fix(fix)) }
            pending = found.stay
        }
        between = Array(found.core.wayOut)
    }

    /// Fixes that belong to no stay.
    private mutating func travel(_ fixes: [TrackPoint]) {
        guard let earlier = pending else {
            for fix in fixes { crossings.add(.fix(fix)) }
            return
        }
        between += fixes
        let center = earlier.mean.center
        let isOver = fixes.contains { fix in
            (!rules.judgesPath && fix.time - earlier.departure > Int64(VisitRules.joinGapSeconds * 1000))
                || fix.point.chordMeters(to: center) > VisitRules.joinExcursion + fix.accuracy
        }
        if isOver || between.count > VisitRules.mostBetween { seal() }
    }

    /// What is pending becomes final.
    private mutating func seal() {
        if let stay = pending {
            sealedStays.append(stay)
            crossings.add(stay, transform)
            pending = nil
        }
        for fix in between { crossings.add(.fix(fix)) }
        between = []
    }

    /// Marks where a long stay can be taken up in its middle: a late fix in it costs what comes after, not all of it.
    private mutating func markInside(before next: TrackPoint) {
        guard let cluster, cluster.mean.count % VisitRules.restartFixes == 0, rules.oneDeviceLeads else { return }
        guard cluster.isRestartable, cluster.lastInsider == lastFed, suspect == nil, falseSpot == nil,
            heldReport == nil
        else { return }
        markBoundary(seed: next)
    }

    private mutating func markBoundary(seed: TrackPoint) {
        // From the seed on one device led, so that the state says whose fixes to give again.
        guard leadThrough == nil, lead.takenAt < seed.time else { return }
        boundaries.append(
            Restart(seed: Timestamp(milliseconds: seed.time), closed: Timestamp(milliseconds: newest), state: encoded())
        )
    }

    // MARK: Out

    /// Until when who leads has been found out; `nil` before the first fix.
    var ledThrough: Lead? {
        leadThrough ?? (newest == .min ? nil : Lead(from: Timestamp(milliseconds: newest), device: newestDevice))
    }

    mutating func takeLeads() { lead.takeOutput() }

    /// The stays since the last ``takeOutput()``, first the ones that are final, and the crossings likewise, as they look
    /// at `now`, the receipt of the person's newest event.
    func output(now: Int64) -> (stays: [Stay], crossings: [FoundCrossing]) {
        guard candidate != nil || suspect != nil || heldReport != nil else { return outputWithoutSuspect(now: now) }
        // The newest fix counts until its successor says otherwise.
        var provisional = self
        if let candidate {
            provisional.candidate = nil
            provisional.take(candidate)
        }
        if let report = provisional.heldReport {
            provisional.heldReport = nil
            provisional.takeInOrder(report)
        }
        if let suspect = provisional.suspect {
            provisional.suspect = nil
            provisional.accept(suspect)
        }
        return provisional.outputWithoutSuspect(now: now)
    }

    private func outputWithoutSuspect(now: Int64) -> (stays: [Stay], crossings: [FoundCrossing]) {
        var stays = sealedStays
        let open = openStay(now: now)
        if let earlier = pending, let open, earlier.isJoined(by: open, rules) {
            stays.append(earlier.joined(with: open))
        } else {
            if let earlier = pending { stays.append(earlier) }
            if let open { stays.append(open) }
        }
        let told = stays.dropFirst(sealedStays.count).filter { $0.tellableFrom == nil }
        return (stays, provisionalCrossings(after: told[...], told.contains { $0.isOpen } ? open : nil))
    }

    private func provisionalCrossings(after stays: ArraySlice<Stay>, _ open: Stay?) -> [FoundCrossing] {
        if crossings.isIdle { return [] }
        var ahead = crossings
        let isJoined = pending != nil && open != nil && stays.count == 1
        if let first = stays.first, pending != nil { ahead.add(first, transform) }
        if !isJoined {
            for fix in between { ahead.add(.fix(fix)) }
            if let open {
                ahead.add(open, transform)
            } else if let cluster {
                for fix in cluster.young { ahead.add(.fix(fix)) }
            }
        }
        return ahead.found
    }

    private func openStay(now: Int64) -> Stay? {
        guard let cluster else { return nil }
        let quiet = Int64(VisitRules.ongoingSilenceSeconds * 1000)
        let isSeen =
            cluster.observedSeconds >= VisitRules.ongoingSeconds
            || Double(cluster.carriedUntil - cluster.seed.time) / 1000 >= VisitRules.ongoingSeconds
        let silentFrom = cluster.outsiders.isEmpty ? newest + quiet : .max
        let isTold = isSeen || now >= silentFrom
        // A visit that silence alone will show is kept with its moment, for answers after that moment.
        guard isTold || (rules.limitsSilence && silentFrom < .max) else { return nil }
        guard rules.findsCore else { return cluster.openStay(after: trail, followsStay: followsStay) }
        var stay = cluster.openCoreStay(after: trail, followsStay: followsStay, rules)?.stay
        if !isTold { stay?.tellableFrom = silentFrom }
        return stay
    }

    /// Clears ``hasNews`` after the caller has looked at the news.
    mutating func takeNews() { hasNews = false }

    /// Forgets what ``output(now:)`` gave as final.
    mutating func takeOutput() {
        sealedStays = []
        crossings.takeOutput()
        lead.takeOutput()
        boundaries = []
        hasNews = false
    }

    /// Every stay derived from here on that is not sealed yet arrives at or after this moment, every sealed one before.
    var earliestArrival: Int64 { pending?.arrival ?? trail.last.map { $0.time + 1 } ?? beganAnew }
}
