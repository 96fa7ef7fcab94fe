import Geodesy

/// The open cluster: fixes that may be one stay, and fixes outside that may be its end.
struct StayCluster {
    let seed: TrackPoint
    private(set) var mean: WeightedMean
    private(set) var lastInsider: TrackPoint
    private(set) var exit: Exit
    /// The fixes inside and those outside between them, until the stay is settled; empty from then on.
    private(set) var young: [TrackPoint]
    /// The rest and movement on the path of ``young`` and the fixes between.
    private var path: PathTally
    private(set) var isSettled = false
    private let rules: VisitRules
    /// The fixes and sums that the core is found from.
    private(set) var samples: StaySamples
    /// The end of the stay as the device reported it; without a report, not after the time of ``lastInsider``.
    private(set) var carriedUntil: Int64
    /// The time with data between the fixes inside, in seconds.
    private(set) var dataSeconds = 0.0

    /// The fixes outside that may be the end of the stay.
    struct Exit {
        /// The first ``VisitRules/edgeFixes`` fixes outside since the last one inside. They are noise if the next is
        /// inside, otherwise the way out.
        fileprivate(set) var outsiders: [TrackPoint] = []
        fileprivate var outsiderCount = 0
        /// All fixes since the first outsider, including neutral ones. The next cluster is made of them.
        fileprivate(set) var waiting: [TrackPoint] = []
        /// The accepted fix before the first outsider.
        fileprivate(set) var before: TrackPoint
    }

    init(seed: TrackPoint, _ rules: VisitRules) {
        samples = StaySamples(seed)
        path = PathTally(seed)
        self.rules = rules
        self.seed = seed
        mean = WeightedMean(seed)
        lastInsider = seed
        exit = Exit(before: seed)
        young = [seed]
        carriedUntil = seed.stayedUntil
    }

    /// The points that it has on the heap.
    var pointsHeld: Int {
        young.count + exit.outsiders.count + exit.waiting.count + samples.head.count + samples.tail.count
    }

    /// The seconds from the first to the last fix inside.
    var observedSeconds: Double { lastInsider.seconds(since: seed) }

    /// Takes the next accepted fix. Returns `true` if the cluster closes, with the fix among its outsiders.
    mutating func closes(with fix: TrackPoint, after previous: TrackPoint) -> Bool {
        let distance = fix.point.chordMeters(to: mean.center)
        if distance <= reach(of: fix) {
            if wasElsewhere(before: fix) {
                exit.waiting.append(fix)
                return true
            }
            addInsider(fix)
            return false
        }
        // A vague fix says as much as another one beside a place that is as uncertain.
        if mean.count >= VisitRules.firmCount, fix.accuracy > VisitRules.neutralAccuracy,
            distance <= VisitRules.placeRadius + VisitRules.neutralFactor * fix.accuracy
        {
            if !exit.waiting.isEmpty { exit.waiting.append(fix) }
            return false
        }
        if exit.outsiders.isEmpty { exit.before = previous }
        if exit.outsiders.count < VisitRules.edgeFixes { exit.outsiders.append(fix) }
        exit.outsiderCount += 1
        exit.waiting.append(fix)
        let first = exit.outsiders[0]
        if fix.distance(to: first) > VisitRules.leavingSpread + fix.accuracy + first.accuracy { return true }
        let isWeak =
            exit.outsiderCount == 1 && (distance - VisitRules.placeRadius) / fix.accuracy < VisitRules.weakOutside
        if isWeak { return fix.seconds(since: lastInsider) > VisitRules.weakSeconds }
        // A few steps on the way there do not keep a person who has been elsewhere for longer than they took.
        let patience = max(VisitRules.leastLeaveSeconds, observedSeconds)
        return fix.seconds(since: lastInsider) > min(VisitRules.leaveSeconds, patience)
    }

    /// Whether the last fix outside was certainly outside, and the phone then rested there. The person is then back
    /// from a visit elsewhere.
    private func wasElsewhere(before fix: TrackPoint) -> Bool {
        guard let last = exit.waiting.last, rules.outsideRests.isRest(at: last, before: fix) else { return false }
        let beyond = last.point.chordMeters(to: mean.center) - VisitRules.placeRadius
        return beyond > VisitRules.weakOutside * last.accuracy
    }

    /// Whether the fix is at the place, and would make the stay longer than its time with data allows.
    func isOverdrawn(by fix: TrackPoint) -> Bool {
        let step = fix.seconds(since: lastInsider)
        guard step > VisitRules.dataStepSeconds, fix.point.chordMeters(to: mean.center) <= reach(of: fix) else {
            return false
        }
        return rules.silence.isTooLong(staySeconds: fix.seconds(since: seed), data: dataSeconds + data(to: fix))
    }

    /// The time with data since the last fix inside, in seconds.
    private func data(to fix: TrackPoint) -> Double {
        let step = fix.seconds(since: lastInsider)
        let carried = max(0, Double(min(fix.time, carriedUntil) - lastInsider.time) / 1000)
        return step - carried <= VisitRules.dataStepSeconds ? step : carried
    }

    private func reach(of fix: TrackPoint) -> Double {
        guard fix.seconds(since: lastInsider) >= VisitRules.silenceSeconds else {
            return VisitRules.placeRadius + min(fix.accuracy, VisitRules.accuracyCap)
        }
        let a = min(fix.accuracy, VisitRules.silenceAccuracyCap)
        let b = mean.count < VisitRules.firmCount ? min(lastInsider.accuracy, VisitRules.silenceAccuracyCap) : 0
        return VisitRules.placeRadius + (a * a + b * b).squareRoot()
    }

    private mutating func addInsider(_ fix: TrackPoint) {
        mean.add(fix)
        samples.add(fix)
        dataSeconds += data(to: fix)
        carriedUntil = max(carriedUntil, fix.stayedUntil)
        lastInsider = fix
        for outsider in exit.waiting {
            path.add(outsider)
            keep(outsider)
        }
        path.add(fix)
        if !exit.outsiders.isEmpty {
            exit.outsiders.removeAll(keepingCapacity: true)
            exit.outsiderCount = 0
            exit.waiting.removeAll(keepingCapacity: true)
        }
        guard !isSettled else { return }
        if observedSeconds >= VisitRules.settledSeconds {
            isSettled = true
            young = []
        } else {
            keep(fix)
        }
    }

    /// Adds to ``young``. Of fixes closer in time than ``VisitRules/keptSpacing`` the newest stays.
    private mutating func keep(_ fix: TrackPoint) {
        guard !isSettled else { return }
        if young.count > 1, fix.seconds(since: young[young.count - 2]) < VisitRules.keptSpacing {
            young[young.count - 1] = fix
        } else {
            young.append(fix)
        }
    }

    /// Whether the person walked within the place for most of the time, with little rest.
    var isMostlyWalked: Bool { path.stillSeconds < VisitRules.walkedShare * path.seconds }
}

// MARK: - Tests of movement

extension StayCluster {
    func isJump(_ a: TrackPoint, _ b: TrackPoint) -> Bool {
        let seconds = b.seconds(since: a)
        let distance = a.distance(to: b)
        return distance > VisitRules.teleportJump && seconds <= VisitRules.teleportLegSeconds
            && distance > VisitRules.teleportSpeed * seconds
    }

    /// Whether the first and the second half are as far apart as those of a slow walk.
    func isStroll(_ young: ArraySlice<TrackPoint>) -> Bool {
        guard young.count >= 4 else { return false }
        let middle = young.startIndex + young.count / 2
        func half(_ range: Range<Int>) -> (center: GeocentricPoint, seconds: Double) {
            var mean = WeightedMean(young[range.lowerBound])
            for fix in young[range].dropFirst() { mean.add(fix) }
            let seconds = young[range].reduce(0) { $0 + $1.seconds(since: seed) } / Double(range.count)
            return (mean.center, seconds)
        }
        let (first, second) = (half(young.startIndex..<middle), half(middle..<young.endIndex))
        let distance = first.center.chordMeters(to: second.center)
        return distance > max(VisitRules.walkDistance, median(young.map(\.accuracy)))
            && distance > VisitRules.walkSpeed * (second.seconds - first.seconds)
    }
}

// MARK: - The state in the middle of a long stay

extension StayCluster {
    /// Whether its sums and samples describe it completely: a settled stay without fixes outside.
    var isRestartable: Bool { isSettled && exit.waiting.isEmpty && samples.interior != nil }

    /// A CBOR array of a cluster that can be restarted: `[seed, last insider, mean …, path's last, seconds, still
    /// seconds, head, tail, interior …, before tail, carried until, seconds with data]`.
    func write(to writer: inout CBORWriter) {
        guard let interior = samples.interior else {
            preconditionFailure("Only a cluster that can be restarted is written.")
        }
        writer.array(22)
        seed.write(to: &writer)
        lastInsider.write(to: &writer)
        mean.write(to: &writer)
        path.write(to: &writer)
        samples.head.write(to: &writer)
        samples.tail.write(to: &writer)
        interior.write(to: &writer)
        samples.beforeTail.write(to: &writer)
        writer.integer(carriedUntil)
        writer.float(dataSeconds)
    }

    init(from reader: inout CBORReader, _ rules: VisitRules, _ transform: GeocentricTransform) throws(CBORError) {
        guard try reader.array() == 22 else { throw .unexpected }
        self.init(seed: try TrackPoint(from: &reader, transform), rules)
        lastInsider = try TrackPoint(from: &reader, transform)
        exit.before = lastInsider
        mean = try WeightedMean(from: &reader, origin: seed.point)
        path = try PathTally(from: &reader, transform)
        (isSettled, young) = (true, [])
        samples = StaySamples(
            head: try Array(from: &reader, transform), tail: try Array(from: &reader, transform),
            interior: try WeightedMean(from: &reader, origin: seed.point),
            beforeTail: try TrackPoint(from: &reader, transform))
        carriedUntil = try reader.integer()
        dataSeconds = try reader.float()
    }
}

/// How much of a time was spent at rest, in steps of at least ``VisitRules/coreStepSeconds``.
struct PathTally {
    private var last: TrackPoint
    private(set) var seconds = 0.0
    private(set) var stillSeconds = 0.0

    init(_ first: TrackPoint) { last = first }

    /// Three items of the enclosing array.
    func write(to writer: inout CBORWriter) {
        last.write(to: &writer)
        writer.float(seconds)
        writer.float(stillSeconds)
    }

    init(from reader: inout CBORReader, _ transform: GeocentricTransform) throws(CBORError) {
        last = try TrackPoint(from: &reader, transform)
        seconds = try reader.float()
        stillSeconds = try reader.float()
    }

    mutating func add(_ fix: TrackPoint) {
        let step = fix.seconds(since: last)
        guard step >= VisitRules.coreStepSeconds else { return }
        seconds += step
        // Either end may be the vague one.
        let doubt = VisitRules.stillAccuracies * max(fix.accuracy, last.accuracy)
        if fix.distance(to: last) <= max(VisitRules.stillSpeed * step, doubt) { stillSeconds += step }
        last = fix
    }
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
