import Geodesy

/// A stay found by its core, and the cluster's fixes on the way there and away.
struct CoreStay {
    var stay: Stay
    let core: StayCore
}

extension StayCluster {
    /// The stay of a closed cluster by its core; `nil` if the cluster was travel or too short.
    ///
    /// A cluster without outsiders was closed by silence and ends at its last fix.
    func coreStay(after trail: [TrackPoint], followsStay: Bool, _ rules: VisitRules) -> CoreStay? {
        // Most clusters are a few fixes of travel: no edge can extend a stay beyond the time around it.
        let around = (exit.outsiders.first ?? lastInsider).seconds(since: trail.last ?? seed)
        guard max(around, Double(carriedUntil - seed.time) / 1000) >= VisitRules.minimumDwellSeconds
        else { return nil }
        var found = openCoreStay(after: trail, followsStay: followsStay, rules)
        let core = found.core
        let outside = Array(core.wayOut) + exit.outsiders.prefix(VisitRules.edgeFixes)
        found.stay.departure = departure(of: found, outside, rules)
        found.stay.isOpen = false
        let dwell = Double(found.stay.departure - found.stay.arrival) / 1000
        guard dwell >= VisitRules.minimumDwellSeconds else { return nil }
        if samples.interior != nil { return isMostlyWalked ? nil : found }
        let inside = core.inside
        let observed = max(
            inside[inside.endIndex - 1].seconds(since: inside[inside.startIndex]),
            Double(found.stay.lastSeen - inside[inside.startIndex].time) / 1000)
        if observed < VisitRules.observedSeconds {
            let around = (outside.first ?? lastInsider).seconds(since: core.approach.last ?? trail.last ?? seed)
            if dwell < inferredShare(inside) * around || dwell < VisitRules.inferredSeconds { return nil }
        }
        // Only vague fixes for minutes: a false spot at the end of a way, or a cell.
        if observed < VisitRules.teleportSeconds, inside.count > VisitRules.firmCount,
            inside.allSatisfy({ $0.accuracy >= VisitRules.teleportAccuracy })
        {
            return nil
        }
        if isStroll(inside) { return nil }
        // A person who left and returned was on the way in between, even if no fix inside shows it.
        let times = inside[inside.startIndex].time...inside[inside.endIndex - 1].time
        var path = PathTally(inside[inside.startIndex])
        for fix in isSettled ? inside : young[...] where times.contains(fix.time) { path.add(fix) }
        return path.stillSeconds < VisitRules.stillShare * path.seconds ? nil : found
    }

    private func departure(of found: CoreStay, _ outside: [TrackPoint], _ rules: VisitRules) -> Int64 {
        let (stay, last) = (found.stay, found.core.inside[found.core.inside.endIndex - 1])
        guard let next = outside.first else { return stay.lastSeen }
        let away = CoreEdge(of: found.core, from: last, through: outside[...])
        let latest = max(stay.arrival, next.time - away.milliseconds)
        if last.report == .departure { return stay.lastSeen }
        return rules.silence.departure(of: stay, before: next.time, latest: latest)
    }

    /// The share of the time around a stay that it must fill if it was hardly seen.
    private func inferredShare(_ inside: ArraySlice<TrackPoint>) -> Double {
        let accuracy = inside.reduce(.infinity) { min($0, $1.accuracy) }
        let better = VisitRules.openSkyAccuracy - accuracy
        let slope = better > 0 ? VisitRules.openSkyShare : VisitRules.indoorShare
        let share = VisitRules.inferredShare + slope * better
        return min(VisitRules.mostInferredShare, max(VisitRules.leastInferredShare, share))
    }

    /// The stay as if it went on.
    func openCoreStay(after trail: [TrackPoint], followsStay: Bool, _ rules: VisitRules) -> CoreStay {
        let core = StayCore(samples, before: exit.outsiders.first, fixes: mean.count, rules)
        let first = core.inside[core.inside.startIndex]
        var arrival = first.time
        let before = (followsStay ? [] : trail) + core.approach
        if let last = before.last, isReached(first, from: last, rules) {
            let here = CoreEdge(of: core, from: first, through: before.reversed()[...])
            arrival = max(last.time + 1, last.time + here.milliseconds)
        }
        let last = core.inside.last
        let seen = max(last?.time ?? arrival, arrival)
        var stay = Stay(seed: seed, mean: core.mean, arrival: arrival, departure: seen, isOpen: true, lastSeen: seen)
        stay.dataSeconds = dataSeconds
        if last == lastInsider, carriedUntil > seen, carriedUntil < exit.outsiders.first?.time ?? .max {
            stay.dataSeconds += Double(carriedUntil - seen) / 1000
            (stay.lastSeen, stay.departure) = (carriedUntil, carriedUntil)
        }
        // The device reported that it left, and nothing shows its return.
        if last == lastInsider, last?.report == .departure { stay.isOpen = false }
        return CoreStay(stay: stay, core: core)
    }

    /// Whether a fix outside is recent enough to show when the place was reached.
    private func isReached(_ first: TrackPoint, from outside: TrackPoint, _ rules: VisitRules) -> Bool {
        first.report != .arrival && rules.silence.connectsPlaces(first.seconds(since: outside))
    }

    /// Whether phone and world disagreed for a few minutes: in and out by jumps over a detour with vague fixes between,
    /// or over a distance that cannot have been travelled.
    func isFalseSpot(after entry: TrackPoint?, _ rules: VisitRules) -> Bool {
        guard samples.interior == nil, let entry, !exit.waiting.isEmpty,
            observedSeconds < VisitRules.teleportSeconds
        else { return false }
        let count = fixesAtFalseSpot(after: entry, rules)
        let last = count > 0 ? exit.waiting[count - 1] : lastInsider
        return isFalseSpot(after: entry, until: last, before: exit.waiting[count])
    }

    /// How many of the waiting fixes still belong to the spot if it is false: those before the jump back.
    func fixesAtFalseSpot(after entry: TrackPoint?, _ rules: VisitRules) -> Int {
        guard rules.falseSpots == .atJumpBack, let entry else { return 0 }
        var before = lastInsider
        let away = entry.point.chordMeters(to: mean.center) / VisitRules.teleportDetour
        for (index, fix) in exit.waiting.enumerated() {
            if isJump(before, fix), fix.distance(to: entry) < away { return index }
            guard fix.distance(to: before) <= VisitRules.leavingSpread + fix.accuracy else { break }
            before = fix
        }
        return 0
    }

    private func isFalseSpot(after entry: TrackPoint, until last: TrackPoint, before exit: TrackPoint) -> Bool {
        // For minutes nothing but vague fixes: a false spot at the end of a way, or a cell.
        if young.count > VisitRules.firmCount, young.allSatisfy({ $0.accuracy >= VisitRules.teleportAccuracy }) {
            return true
        }
        if entry.distance(to: exit) < VisitRules.joinDistance, isJump(entry, seed), isJump(last, exit),
            entry.distance(to: seed) > VisitRules.teleportReturnSpeed * seed.seconds(since: entry),
            last.distance(to: exit) > VisitRules.teleportReturnSpeed * exit.seconds(since: last)
        {
            return true
        }
        let there = entry.distance(to: seed)
        let back = last.distance(to: exit)
        guard there + back > VisitRules.teleportDetour * entry.distance(to: exit) else { return false }
        if isImpossible(entry, seed), isImpossible(last, exit) { return true }
        guard median(young.map(\.accuracy)) >= VisitRules.teleportAccuracy else { return false }
        return isJump(entry, seed) && isJump(last, exit)
    }

    private func isImpossible(_ a: TrackPoint, _ b: TrackPoint) -> Bool {
        let distance = a.distance(to: b) - a.accuracy - b.accuracy
        return distance > VisitRules.spikeLeg && distance > VisitRules.spikeSpeed * b.seconds(since: a)
    }
}

/// The duration of the way between a core and the nearest fix outside.
struct CoreEdge {
    let milliseconds: Int64

    /// - Parameters:
    ///   - inside: The fix of the core next to the edge.
    ///   - fixes: The fixes outside, the nearest first, away from the place in time; not empty.
    init(of core: StayCore, from inside: TrackPoint, through fixes: ArraySlice<TrackPoint>) {
        let nearest = fixes[fixes.startIndex]
        let center = core.mean.center
        let distance = nearest.point.chordMeters(to: center)
        let window = abs(inside.seconds(since: nearest))
        var seen = 0.0
        let path = fixes.prefix(VisitRules.edgeFixes)
        if let furthest = path.last, path.count > 1 {
            let length = zip(path, path.dropFirst()).reduce(0) { $0 + $1.0.distance(to: $1.1) }
            let seconds = abs(furthest.seconds(since: nearest))
            if seconds > 0 { seen = VisitRules.pathFactor * length / seconds }
        }
        let guess = min(VisitRules.fastestGuess, VisitRules.walkingSpeed + distance / VisitRules.distancePerSecond)
        let speed = seen >= VisitRules.slowestSeen ? min(seen, VisitRules.spikeSpeed) : guess
        let travel = VisitRules.pathFactor * distance / speed
        // The fix inside may still be a few steps from where the person comes to rest.
        let rest = max(0, inside.point.chordMeters(to: center) - VisitRules.coreAccuracies * inside.accuracy) / speed
        milliseconds = Int64((min(travel, window + rest) * 1000).rounded())
    }
}
