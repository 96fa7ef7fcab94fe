package import Geodesy

/// What lies between two visits: a way somebody made, or a time of which nothing is known.
package struct Trip: Hashable, Sendable {
    package enum Mode: Int64, Sendable, CaseIterable {
        case walk, run, cycle, drive, train, flight
        package var word: String { String(describing: self) }
    }

    /// A way that was seen.
    package struct Way: Hashable, Sendable {
        /// Along the cleaned track, geodesic by geodesic.
        package let distanceMeters: Double
        package let mode: Mode
        /// How likely the mode is among all, 0…1, by the speeds seen.
        package let confidence: Double
        /// Fixes the way was made out from.
        package let fixes: Int64
    }

    package let start, end: Timestamp
    package let from, to: Coordinate
    /// `nil` for a time without data: where the person went in it is not known, and nothing is invented.
    package let way: Way?

    package init(start: Timestamp, end: Timestamp, from: Coordinate, to: Coordinate, way: Way?) {
        (self.start, self.end, self.from, self.to, self.way) = (start, end, from, to, way)
    }
}

/// Makes out ways and gaps between two visits from the fixes there. A function of what it is given; linear in the fixes.
package enum TripDerivation {
    /// Where a time between visits begins or ends: the departure from one, the arrival at the next.
    package struct Stop: Sendable {
        package let time: Timestamp
        package let coordinate: Coordinate
        /// Meters, of the visit.
        package let horizontalAccuracy: Double

        package init(time: Timestamp, coordinate: Coordinate, horizontalAccuracy: Double) {
            (self.time, self.coordinate, self.horizontalAccuracy) = (time, coordinate, horizontalAccuracy)
        }
    }

    fileprivate struct Point {
        let time: Timestamp
        let coordinate: Coordinate
        let accuracy: Double

        func meters(to other: Point) -> Double { Geodesic.distanceMeters(from: coordinate, to: other.coordinate) }
    }

    /// Longer than this between two fixes is a time without data: a tunnel is shorter, a heartbeat of a phone at rest
    /// longer.
    static let gapSeconds = 600.0
    /// Fixes vaguer than this say nothing about a way.
    static let worstAccuracy = 250.0
    /// A fix counts for the distance when it is further than this, and than its accuracy, from the last that did: else
    /// the errors of a phone at rest would add up to kilometers.
    static let stepMeters = 10.0
    /// What is shorter is no way.
    static let leastMeters = 60.0
    /// Slower than this was waiting.
    static let waitingSpeed = 0.3

    /// - Parameters:
    ///   - departure: where the visit before was left; `nil` when the time begins without one.
    ///   - arrival: likewise at the end.
    ///   - fixes: those between, in the order of their time; invalid ones are left out here.
    package static func trips(from departure: Stop?, to arrival: Stop?, fixes: [StoredFix]) -> [Trip] {
        var points: [Point] = []
        if let departure { points.append(Point(departure)) }
        for fix in fixes {
            guard let point = Point(fix) else { continue }
            if let last = points.last, point.time <= last.time { continue }
            if let arrival, point.time >= arrival.time { break }
            points.append(point)
        }
        if let arrival, points.last.map({ $0.time < arrival.time }) ?? true { points.append(Point(arrival)) }
        points = withoutSpikes(points)

        var found: [Trip] = []
        var start = 0
        var lastEnd: Point?
        for index in points.indices {
            let isLast = index + 1 == points.count
            guard isLast || points[index + 1].time.seconds(since: points[index].time) > gapSeconds else { continue }
            let part = points[start...index]
            start = index + 1
            // A single fix in a long silence is no way and ends none; at the border of a visit it is the visit.
            let isBorder = (part.startIndex == 0 && departure != nil) || (isLast && arrival != nil)
            guard part.count > 1 || isBorder || lastEnd == nil else { continue }
            if let before = lastEnd, let first = part.first {
                found.append(
                    Trip(
                        start: before.time, end: first.time, from: before.coordinate, to: first.coordinate, way: nil))
            }
            lastEnd = part.last
            if let trip = trip(along: part) { found.append(trip) }
        }
        return found
    }

    private static func trip(along part: ArraySlice<Point>) -> Trip? {
        guard let first = part.first, let last = part.last, part.count > 1 else { return nil }
        var steps: [(meters: Double, seconds: Double)] = []
        var kept = first
        for point in part.dropFirst() {
            let meters = kept.meters(to: point)
            guard meters >= max(stepMeters, point.accuracy) || point.time == last.time else { continue }
            steps.append((meters, point.time.seconds(since: kept.time)))
            kept = point
        }
        let distance = steps.reduce(0) { $0 + $1.meters }
        guard distance >= leastMeters else { return nil }
        let (mode, confidence) = mode(of: steps)
        return Trip(
            start: first.time, end: last.time, from: first.coordinate, to: last.coordinate,
            way: Trip.Way(
                distanceMeters: distance, mode: mode, confidence: confidence, fixes: Int64(part.count)))
    }

    /// There and back again faster than anybody travels, or by a detour of many times the way (``VisitRules``).
    private static func withoutSpikes(_ points: [Point]) -> [Point] {
        guard points.count > 2 else { return points }
        var kept = [points[0]]
        for index in 1..<(points.count - 1) {
            let (before, here, after) = (kept[kept.count - 1], points[index], points[index + 1])
            let there = before.meters(to: here) - before.accuracy - here.accuracy
            let back = here.meters(to: after) - here.accuracy - after.accuracy
            let isFar = there > VisitRules.spikeLeg && back > VisitRules.spikeLeg
            let direct = VisitRules.spikeDetour * before.meters(to: after) + VisitRules.spikeDetourSlack
            let isFast =
                there > VisitRules.spikeSpeed * here.time.seconds(since: before.time)
                || back > VisitRules.spikeSpeed * after.time.seconds(since: here.time)
            let isSoon = after.time.seconds(since: before.time) < VisitRules.spikeReturnSeconds
            if isFar, there + back > direct, isFast || isSoon { continue }
            kept.append(here)
        }
        kept.append(points[points.count - 1])
        return kept
    }

    // MARK: Modes

    /// The usual speed of a mode and the one it exceeds in a twentieth of the time, meters a second, how much both vary
    /// as a factor's logarithm, and how common the mode is.
    private struct Habit {
        let mode: Trip.Mode
        let usual, fast, spread, share: Double
    }

    /// Orders of magnitude from daily life: people walk at 5 km/h and run at 10, towns are driven through at 40 and cycled
    /// through at 17, trains make 80 between stations, aircraft 700.
    private static let habits = [
        Habit(mode: .walk, usual: 1.35, fast: 1.9, spread: 0.25, share: 0.35),
        Habit(mode: .run, usual: 2.9, fast: 3.8, spread: 0.22, share: 0.04),
        Habit(mode: .cycle, usual: 4.8, fast: 8, spread: 0.3, share: 0.14),
        Habit(mode: .drive, usual: 11, fast: 19, spread: 0.45, share: 0.37),
        Habit(mode: .train, usual: 23, fast: 36, spread: 0.35, share: 0.08),
        Habit(mode: .flight, usual: 200, fast: 240, spread: 0.35, share: 0.02),
    ]

    /// The likeliest mode by Bayes' rule over the median speed and the 95th percentile of the time in motion, with tails as
    /// heavy as Student's.
    private static func mode(of steps: [(meters: Double, seconds: Double)]) -> (Trip.Mode, Double) {
        var speeds = steps.filter { $0.meters > waitingSpeed * $0.seconds && $0.seconds > 0 }
            .map { (speed: $0.meters / $0.seconds, seconds: $0.seconds) }
        if speeds.isEmpty { speeds = [(waitingSpeed, 1)] }
        speeds.sort { $0.speed < $1.speed }
        let total = speeds.reduce(0) { $0 + $1.seconds }
        func quantile(_ share: Double) -> Double {
            var sum = 0.0
            for step in speeds {
                sum += step.seconds
                if sum >= share * total { return step.speed }
            }
            return speeds[speeds.count - 1].speed
        }
        let (usual, fast) = (quantile(0.5), quantile(0.95))
        // For ratios near 1 half the difference of a ratio and its inverse is its logarithm.
        func off(_ ratio: Double, _ spread: Double) -> Double { (ratio - 1 / ratio) / (2 * spread) }
        let likelihoods = habits.map { habit in
            let (a, b) = (off(usual / habit.usual, habit.spread), off(fast / habit.fast, 1.3 * habit.spread))
            let fit = 1 + a * a + b * b
            return habit.share / (habit.spread * habit.spread * fit * fit * fit)
        }
        let best = likelihoods.indices.max { likelihoods[$0] < likelihoods[$1] } ?? 0
        return (habits[best].mode, likelihoods[best] / likelihoods.reduce(0, +))
    }
}

extension TripDerivation.Point {
    fileprivate init(_ stop: TripDerivation.Stop) {
        self.init(time: stop.time, coordinate: stop.coordinate, accuracy: stop.horizontalAccuracy)
    }

    /// `nil` for a fix that may not speak for where somebody is, or too vaguely for a way.
    fileprivate init?(_ fix: StoredFix) {
        guard fix.anomaly == nil else { return nil }
        let accuracy = Fix.effectiveAccuracy(fix.horizontalAccuracy)
        guard accuracy <= TripDerivation.worstAccuracy else { return nil }
        self.init(time: fix.timestamp, coordinate: fix.coordinate, accuracy: accuracy)
    }
}
