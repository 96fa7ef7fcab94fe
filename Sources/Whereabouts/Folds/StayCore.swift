import Geodesy

/// The fixes of a cluster from which its stay is found, in constant memory: its beginning, its end, and sums of the
/// rest.
struct StaySamples {
    /// The first fixes inside, at most ``VisitRules/keptFixes``.
    private(set) var head: [TrackPoint]
    /// The last fixes that are not in ``head``, at most as many.
    private(set) var tail: [TrackPoint] = []
    /// The sums of the fixes between, weighted by dwell.
    private(set) var interior: WeightedMean?
    /// The last kept fix before ``tail``.
    private(set) var beforeTail: TrackPoint

    init(_ first: TrackPoint) {
        head = [first]
        beforeTail = first
    }

    init(head: [TrackPoint], tail: [TrackPoint], interior: WeightedMean?, beforeTail: TrackPoint) {
        (self.head, self.tail, self.interior, self.beforeTail) = (head, tail, interior, beforeTail)
    }

    var all: [TrackPoint] { head + tail }

    /// Takes the next fix inside. Of fixes closer in time than ``VisitRules/keptSpacing``, the newest remains.
    mutating func add(_ fix: TrackPoint) {
        if tail.isEmpty, head.count < VisitRules.keptFixes {
            if head.count > 1, fix.seconds(since: head[head.count - 2]) < VisitRules.keptSpacing {
                head[head.count - 1] = fix
            } else {
                head.append(fix)
            }
            beforeTail = fix
            return
        }
        let last = tail.count - 1
        if last > 0, fix.seconds(since: tail[last - 1]) < VisitRules.keptSpacing {
            tail[last] = fix
            return
        }
        tail.append(fix)
        guard tail.count > VisitRules.keptFixes else { return }
        let oldest = tail.removeFirst()
        let dwell = Self.dwell(of: oldest, after: beforeTail, before: tail[0])
        if interior == nil { interior = WeightedMean(origin: head[0].point) }
        interior?.add(oldest, dwell: dwell)
        beforeTail = oldest
    }

    /// The seconds that a fix represents. A fix followed by silence is at the place; one preceded by silence may be the
    /// first of the way on.
    static func dwell(of fix: TrackPoint, after last: TrackPoint?, before next: TrackPoint?) -> Double {
        let before = last.map { min(VisitRules.longestDwell, fix.seconds(since: $0)) } ?? 0
        let after = next.map { min(VisitRules.longestDwell, $0.seconds(since: fix)) } ?? 0
        return 1 + VisitRules.dwellBefore * before + after
    }
}

/// The place itself within a cluster, without the approach and the way out.
struct StayCore {
    /// The place; the count is that of the core's fixes among the samples.
    private(set) var mean: WeightedMean
    /// The fixes before the core, those from its first to its last, and those after.
    let approach, inside, wayOut: ArraySlice<TrackPoint>

    /// - Parameter exit: The first fix after the samples, if any.
    init(_ samples: StaySamples, before exit: TrackPoint?, fixes count: Int64, _ rules: VisitRules) {
        let fixes = samples.all
        var dwells = [Double](repeating: 0, count: fixes.count)
        for index in fixes.indices {
            // The interior is between head and tail: that step is unknown, and not needed.
            let before = index > 0 ? fixes[index - 1] : nil
            let after = index + 1 < fixes.count ? fixes[index + 1] : exit
            dwells[index] = StaySamples.dwell(of: fixes[index], after: before, before: after)
        }
        if rules.weightsOfFew.isCounted(fixes.count) {
            dwells = Self.dwellsOfFew(fixes, before: exit)
        }
        var center: GeocentricPoint
        if let interior = samples.interior {
            center = interior.center
        } else {
            center = Self.medoid(fixes, dwells).point
        }
        var radius = 0.0
        // A stay is written with its seed as the origin of its sums.
        var mean = WeightedMean(origin: fixes[0].point)
        for _ in 0..<VisitRules.coreRounds {
            let distances = fixes.map { $0.point.chordMeters(to: center) }
            radius = max(VisitRules.coreRadius, VisitRules.coreMedians * Self.median(distances, dwells))
            mean = samples.interior ?? WeightedMean(origin: fixes[0].point)
            for index in fixes.indices
            where distances[index] <= radius + VisitRules.coreAccuracies * fixes[index].accuracy {
                mean.add(fixes[index], dwell: dwells[index])
            }
            if mean.weight > 0 { center = mean.center }
        }
        if !(mean.weight > 0) { mean.add(fixes[0]) }
        let isInside = { (fix: TrackPoint) in
            fix.point.chordMeters(to: center) <= radius + VisitRules.coreAccuracies * fix.accuracy
        }
        // A person who is quiet at a fix is not on the way, even if the fix is off the place.
        let isQuiet = { (index: Int) in
            guard let next = index + 1 < fixes.count ? fixes[index + 1] : exit else { return false }
            let quiet = next.seconds(since: fixes[index])
            guard quiet > VisitRules.quietSeconds else { return false }
            // A phone that moved before the silence had already left.
            let isLeaving =
                index + 1 == fixes.count && index > 0 && rules.silence.isWayOut(quiet)
                && fixes[index].seconds(since: fixes[index - 1]) <= VisitRules.wayOutFixSeconds
            return !isLeaving
        }
        let first = fixes.indices.first { isInside(fixes[$0]) || isQuiet($0) } ?? 0
        let last = fixes.indices.last { isInside(fixes[$0]) || isQuiet($0) } ?? fixes.count - 1
        self.mean = mean
        self.mean.count = max(1, count - Int64(first + fixes.count - 1 - last))
        approach = fixes[..<first]
        inside = fixes[first...last]
        wayOut = fixes[(last + 1)...]
    }

    /// The seconds that each of few fixes represents. One followed by hours of silence is the place, and the last one
    /// before the next fixes is the way out. None represents more than ``VisitRules/longestDwell``.
    private static func dwellsOfFew(_ fixes: [TrackPoint], before exit: TrackPoint?) -> [Double] {
        let dwells = fixes.indices.map { index in
            let after = index + 1 < fixes.count ? fixes[index + 1] : exit
            let before = index > 0 ? fixes[index].seconds(since: fixes[index - 1]) : 0
            return 1 + VisitRules.dwellBefore * min(VisitRules.longestDwell, before)
                + min(VisitRules.longestQuiet, after.map { $0.seconds(since: fixes[index]) } ?? 0)
        }
        let scale = min(1, VisitRules.longestDwell / (dwells.max() ?? 1))
        return dwells.map { $0 * scale }
    }

    /// The fix nearest to the others, weighted by dwell.
    private static func medoid(_ fixes: [TrackPoint], _ dwells: [Double]) -> TrackPoint {
        var best = (fix: fixes[0], sum: Double.infinity)
        for fix in fixes {
            var sum = 0.0
            for index in fixes.indices {
                let other = fixes[index]
                sum += dwells[index] * fix.distance(to: other) / (other.accuracy + VisitRules.weightFloor)
                if sum >= best.sum { break }
            }
            sum *= fix.accuracy + VisitRules.weightFloor
            if sum < best.sum { best = (fix, sum) }
        }
        return best.fix
    }

    /// The value below which half of the weight is.
    private static func median(_ values: [Double], _ weights: [Double]) -> Double {
        let order = values.indices.sorted { values[$0] < values[$1] }
        let half = weights.reduce(0, +) / 2
        var sum = 0.0
        for index in order {
            sum += weights[index]
            if sum >= half { return values[index] }
        }
        return 0
    }
}
