package import Geodesy

/// A trip between two visits, or a time without data.
package struct Trip: Hashable, Sendable {
    /// The means of transport.
    package enum Mode: Int64, Sendable, CaseIterable {
        case walk, run, cycle, drive, train, flight, ferry
        /// The word in answers.
        package var word: String { String(describing: self) }
    }

    /// A movement that fixes show.
    package struct Way: Hashable, Sendable {
        /// The length of the cleaned track, as the sum of geodesics.
        package let distanceMeters: Double
        /// The most probable means of transport.
        package let mode: Mode
        /// The probability of the mode, 0…1, from speeds, stops, turns and the trips before and after.
        package let confidence: Double
        /// The number of fixes of the movement.
        package let fixes: Int64
        /// The probability of each of `Mode.allCases` from this movement alone; the sum is 1.
        let likelihoods: [Double]

        /// A movement with a given mode, for example of a stored row.
        package init(distanceMeters: Double, mode: Mode, confidence: Double, fixes: Int64) {
            (self.distanceMeters, self.mode, self.confidence, self.fixes) = (distanceMeters, mode, confidence, fixes)
            likelihoods = Mode.allCases.map { other in
                other == mode ? confidence : (1 - confidence) / Double(Mode.allCases.count - 1)
            }
        }

        init(distanceMeters: Double, fixes: Int64, likelihoods: [Double]) {
            (self.distanceMeters, self.fixes, self.likelihoods) = (distanceMeters, fixes, likelihoods)
            let best = likelihoods.indices.max { likelihoods[$0] < likelihoods[$1] } ?? 0
            (mode, confidence) = (Mode.allCases[best], likelihoods[best])
        }
    }

    /// The departure and the arrival, or the ends of the time without data.
    package let start, end: Timestamp
    /// The places at the start and at the end.
    package let from, to: Coordinate
    /// `nil` for a time without data: the person's way is not known, and none is invented.
    package let way: Way?

    package init(start: Timestamp, end: Timestamp, from: Coordinate, to: Coordinate, way: Way?) {
        (self.start, self.end, self.from, self.to, self.way) = (start, end, from, to, way)
    }
}

/// Derives trips and gaps between two visits from the fixes in between. The result depends on the arguments alone;
/// linear in the fixes.
package enum TripDerivation {
    /// An end of the time between two visits: the departure from one, or the arrival at the next.
    package struct Stop: Sendable {
        /// The departure or the arrival.
        package let time: Timestamp
        /// The visit's coordinate.
        package let coordinate: Coordinate
        /// The accuracy of the visit in meters.
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

    /// A longer time between two fixes is a time without data, in seconds: a tunnel is shorter, the heartbeat of a
    /// phone at rest is longer.
    static let gapSeconds = 600.0
    /// Fixes vaguer than this, in meters, are not used for trips.
    static let worstAccuracy = 250.0
    /// A fix adds to the distance if it is further than this, and than its accuracy, from the last one that did, in
    /// meters. Otherwise the errors of a phone at rest would add up to kilometers.
    static let stepMeters = 10.0
    /// A shorter movement, in meters, is not a trip.
    static let leastMeters = 60.0
    /// A lower speed, in meters per second, is waiting.
    static let waitingSpeed = 0.3

    /// - Parameters:
    ///   - departure: The departure from the visit before; `nil` if there is none.
    ///   - arrival: The arrival at the visit after; `nil` if there is none.
    ///   - fixes: The fixes between, in order of time. Unusable ones are left out here.
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
            // A single fix in a long silence is not a trip and ends none; at the border of a visit it is part of the
            // visit.
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
        let pattern = SpeedPattern(steps, turnDegreesPerKilometer: turns(along: part))
        return Trip(
            start: first.time, end: last.time, from: first.coordinate, to: last.coordinate,
            way: Trip.Way(
                distanceMeters: distance, fixes: Int64(part.count),
                likelihoods: ModeLikelihood.all(of: pattern)))
    }

    /// The trips with modes that fit the trips before and after: people walk to and from a train, continue a drive by car,
    /// and mostly return by the same mode.
    ///
    /// - Parameter trips: The trips in order of time.
    package static func inContext(_ trips: [Trip]) -> [Trip] {
        let ways = trips.enumerated().filter { $0.element.way != nil }.map(\.offset)
        var changed = trips
        for (place, index) in ways.enumerated() {
            guard let way = trips[index].way else { continue }
            var likelihoods = way.likelihoods
            func weigh(_ other: Int, _ factor: (Trip.Mode, Trip.Mode) -> Double) {
                guard let theirs = trips[other].way?.likelihoods else { return }
                for (mine, mode) in Trip.Mode.allCases.enumerated() {
                    likelihoods[mine] *= zip(Trip.Mode.allCases, theirs).reduce(0) { $0 + $1.1 * factor(mode, $1.0) }
                }
            }
            for other in [place - 1, place + 1] where ways.indices.contains(other) {
                let (first, second) = (trips[ways[min(place, other)]], trips[ways[max(place, other)]])
                guard second.start.seconds(since: first.end) <= changeSeconds else { continue }
                weigh(ways[other]) { changeFactor($0, $1) }
            }
            for other in ways where other != index && isReturn(trips[index], trips[other]) {
                weigh(other) { $0 == $1 ? 1 : returnFactor }
                break
            }
            changed[index] = Trip(
                start: trips[index].start, end: trips[index].end, from: trips[index].from, to: trips[index].to,
                way: Trip.Way(
                    distanceMeters: way.distanceMeters, fixes: way.fixes,
                    likelihoods: ModeLikelihood.normalized(likelihoods)))
        }
        return changed
    }

    /// The longest pause, in seconds, between two trips of one journey.
    private static let changeSeconds = 1800.0
    /// The longest time, in seconds, from a trip to its return.
    private static let returnSeconds = 24 * 3600.0
    /// The greatest distance, in meters, between the end of a trip and the start of its return, and the other way round.
    private static let returnMeters = 400.0
    /// The factor for a return by another mode, which is rare.
    private static let returnFactor = 0.2

    /// The factor for a change from one mode to another: cars are rarely available after a train ride, nor trains after a
    /// drive.
    private static func changeFactor(_ a: Trip.Mode, _ b: Trip.Mode) -> Double {
        switch (a, b) {
        case (.train, .drive), (.drive, .train): 0.4
        case (.drive, .cycle), (.cycle, .drive), (.drive, .run), (.run, .drive): 0.5
        default: 1
        }
    }

    private static func isReturn(_ a: Trip, _ b: Trip) -> Bool {
        let (first, second) = a.start < b.start ? (a, b) : (b, a)
        guard second.start.seconds(since: first.end) <= returnSeconds else { return false }
        return Geodesic.distanceMeters(from: a.from, to: b.to) <= returnMeters
            && Geodesic.distanceMeters(from: a.to, to: b.from) <= returnMeters
    }

    /// Degrees that a movement turns per kilometer, in steps of ``turnMeters``; `nil` if it is too short.
    private static func turns(along part: ArraySlice<Point>) -> Double? {
        guard var kept = part.first else { return nil }
        var (last, turned, meters): (Double?, Double, Double) = (nil, 0, 0)
        for point in part.dropFirst() {
            let way = Geodesic.inverse(from: kept.coordinate, to: point.coordinate)
            guard way.distanceMeters >= max(turnMeters, 20 * point.accuracy) else { continue }
            if let last {
                let turn = abs((way.initialAzimuth - last).remainder(dividingBy: 360))
                turned += turn
                meters += way.distanceMeters
            }
            // The azimuth changes along a geodesic, very much so at high latitudes.
            last = Geodesic.inverse(from: point.coordinate, to: kept.coordinate).initialAzimuth + 180
            kept = point
        }
        return meters >= 4 * turnMeters ? turned / meters * 1000 : nil
    }

    /// The step between directions: longer than a junction and than a receiver's error.
    private static let turnMeters = 300.0

    /// The points without spikes: jumps there and back, faster than people travel, or over a detour many times as long
    /// as the way (``VisitRules``).
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
}

extension TripDerivation.Point {
    fileprivate init(_ stop: TripDerivation.Stop) {
        self.init(time: stop.time, coordinate: stop.coordinate, accuracy: stop.horizontalAccuracy)
    }

    /// `nil` for a fix that cannot be used as a location, or is too vague for a trip.
    fileprivate init?(_ fix: StoredFix) {
        guard fix.anomaly == nil else { return nil }
        let accuracy = Fix.effectiveAccuracy(fix.horizontalAccuracy)
        guard accuracy <= TripDerivation.worstAccuracy else { return nil }
        self.init(time: fix.timestamp, coordinate: fix.coordinate, accuracy: accuracy)
    }
}
