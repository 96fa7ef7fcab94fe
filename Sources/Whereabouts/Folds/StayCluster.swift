import Geodesy

/// The open cluster: fixes that may be one stay, and the ones outside that may be its end.
struct StayCluster {
    let seed: TrackPoint
    private(set) var mean: WeightedMean
    private(set) var lastInsider: TrackPoint
    /// The first ``VisitRules/edgeFixes`` fixes outside since the last one inside: noise if the next is inside, else the
    /// way out.
    private(set) var outsiders: [TrackPoint] = []
    private var outsiderCount = 0
    /// All fixes since the first outsider, neutral ones too: what the next cluster is made from.
    private(set) var waiting: [TrackPoint] = []
    /// The accepted fix before the first outsider.
    private(set) var beforeOutsiders: TrackPoint
    /// The fixes inside, and where the rules judge the path also those outside between them, until the stay is settled;
    /// empty from then on.
    private(set) var young: [TrackPoint]
    /// What became of ``young`` with the fixes outside since the last one inside, where the rules judge the path.
    private var path: PathTally?
    private var judgesPath: Bool { path != nil }
    private(set) var isSettled = false
    /// What the core is found from, where the rules ask for it.
    private(set) var samples: StaySamples?
    /// The end of the stay as the device reported it; not after the time of ``lastInsider`` without such a report.
    private(set) var carriedUntil: Int64
    /// The time with data between the fixes inside, in seconds.
    private(set) var dataSeconds = 0.0

    init(seed: TrackPoint, _ rules: VisitRules) {
        if rules.findsCore { samples = StaySamples(seed) }
        if rules.judgesPath { path = PathTally(seed) }
        self.seed = seed
        mean = WeightedMean(seed)
        lastInsider = seed
        beforeOutsiders = seed
        young = [seed]
        carriedUntil = seed.stayedUntil
    }

    /// Seconds from the first to the last fix inside.
    var observedSeconds: Double { lastInsider.seconds(since: seed) }

    /// Takes the next accepted fix; `true` when the cluster closes, with the fix among its outsiders.
    mutating func closes(with fix: TrackPoint, after previous: TrackPoint) -> Bool {
        let distance = fix.point.chordMeters(to: mean.center)
        if distance <= reach(of: fix) {
            addInsider(fix)
            return false
        }
        // Beside a place that rests on as little itself, a vague fix says as much as another.
        let isFirm = !judgesPath || mean.count >= VisitRules.firmCount
        if isFirm, fix.accuracy > VisitRules.neutralAccuracy,
            distance <= VisitRules.placeRadius + VisitRules.neutralFactor * fix.accuracy
        {
            if !waiting.isEmpty { waiting.append(fix) }
            return false
        }
        if outsiders.isEmpty { beforeOutsiders = previous }
        if outsiders.count < VisitRules.edgeFixes { outsiders.append(fix) }
        outsiderCount += 1
        waiting.append(fix)
        let first = outsiders[0]
        let spread = judgesPath ? VisitRules.leavingSpread : VisitRules.travelSpread
        if fix.distance(to: first) > spread + fix.accuracy + first.accuracy { return true }
        let isWeak =
            outsiderCount == 1 && (distance - VisitRules.placeRadius) / fix.accuracy < VisitRules.weakOutside
        if isWeak { return fix.seconds(since: lastInsider) > VisitRules.weakSeconds }
        // A few steps of the way there hold nobody who has been elsewhere for longer than they took.
        let patience = judgesPath ? max(VisitRules.leastLeaveSeconds, observedSeconds) : VisitRules.leaveSeconds
        return fix.seconds(since: lastInsider) > min(VisitRules.leaveSeconds, patience)
    }

    /// Whether the fix is at the place, and the stay would be longer with it than its time with data allows.
    func isOverdrawn(by fix: TrackPoint) -> Bool {
        let step = fix.seconds(since: lastInsider)
        guard step > VisitRules.dataStepSeconds, fix.point.chordMeters(to: mean.center) <= reach(of: fix) else {
            return false
        }
        return fix.seconds(since: seed) > Stay.longestSeconds(data: dataSeconds + data(to: fix))
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
        samples?.add(fix)
        dataSeconds += data(to: fix)
        carriedUntil = max(carriedUntil, fix.stayedUntil)
        lastInsider = fix
        if path != nil {
            for outsider in waiting {
                path?.add(outsider)
                keep(outsider)
            }
            path?.add(fix)
        }
        if !outsiders.isEmpty {
            outsiders.removeAll(keepingCapacity: true)
            outsiderCount = 0
            waiting.removeAll(keepingCapacity: true)
        }
        guard !isSettled else { return }
        if observedSeconds >= VisitRules.settledSeconds {
            isSettled = true
            young = []
        } else {
            keep(fix)
        }
    }

    /// Adds to ``young``; where the rules judge the path, of fixes closer in time than ``VisitRules/keptSpacing`` the
    /// newest stays.
    private mutating func keep(_ fix: TrackPoint) {
        guard !isSettled else { return }
        if path != nil, young.count > 1, fix.seconds(since: young[young.count - 2]) < VisitRules.keptSpacing {
            young[young.count - 1] = fix
        } else {
            young.append(fix)
        }
    }

    /// Whether the way within and about the place was walked without much rest.
    var isMostlyWalked: Bool { path.map { $0.stillSeconds < VisitRules.walkedShare * $0.seconds } ?? false }
}

// MARK: - What a closed cluster was

extension StayCluster {
    /// The stay that ends with the outsiders, or `nil` when the cluster was travel or too short.
    ///
    /// - Parameters:
    ///   - trail: accepted fixes before the seed, oldest first, at most three.
    ///   - followsStay: whether the fix before the seed belongs to a stay, which then lasted until the last moment that
    ///     left time to come here.
    func stay(after trail: [TrackPoint], followsStay: Bool, _ rules: VisitRules) -> Stay? {
        guard let exit = outsiders.first else { return nil }
        var stay = openStay(after: trail, followsStay: followsStay)
        let away = Travel(from: mean.center, through: outsiders.prefix(3))
        stay.departure = max(lastInsider.time, min(exit.time - 1, exit.time - away.milliseconds))
        stay.isOpen = false
        let dwell = Double(stay.departure - stay.arrival) / 1000
        guard dwell >= rules.minimumDwellSeconds else { return nil }
        if isSettled { return stay }
        if observedSeconds < VisitRules.observedSeconds {
            let around = exit.seconds(since: trail.last ?? seed)
            if dwell < VisitRules.inferredShare * around || dwell < VisitRules.inferredSeconds { return nil }
        }
        return isStroll || isMostlyMoving ? nil : stay
    }

    /// The stay as if it went on.
    func openStay(after trail: [TrackPoint], followsStay: Bool) -> Stay {
        var arrival = seed.time
        if let last = trail.last, !followsStay {
            let toHere = Travel(from: mean.center, through: trail.reversed()[...])
            arrival = min(seed.time, max(last.time + 1, last.time + toHere.milliseconds))
        }
        return Stay(
            seed: seed, mean: mean, arrival: arrival, departure: lastInsider.time, isOpen: true,
            lastSeen: lastInsider.time)
    }

    /// Whether phone and world disagreed for a few minutes: in and out by jumps, vague between.
    func isTeleport(after trail: [TrackPoint]) -> Bool {
        guard !isSettled, let entry = trail.last, let exit = outsiders.first,
            observedSeconds < VisitRules.teleportSeconds, median(young.map(\.accuracy)) >= VisitRules.teleportAccuracy
        else { return false }
        return isJump(entry, seed) && isJump(lastInsider, exit)
    }

    func isJump(_ a: TrackPoint, _ b: TrackPoint) -> Bool {
        let seconds = b.seconds(since: a)
        let distance = a.distance(to: b)
        return distance > VisitRules.teleportJump && seconds <= VisitRules.teleportLegSeconds
            && distance > VisitRules.teleportSpeed * seconds
    }

    /// Whether the first and the second half lie apart as somebody walking slowly leaves them.
    private var isStroll: Bool { isStroll(young[...]) }

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

    /// Whether less than half of the time was spent at rest.
    private var isMostlyMoving: Bool { isMostlyMoving(young[...], step: VisitRules.stepSeconds) }

    func isMostlyMoving(_ young: ArraySlice<TrackPoint>, step: Double) -> Bool {
        guard var last = young.first else { return false }
        var total = 0.0
        var still = 0.0
        for fix in young {
            let seconds = fix.seconds(since: last)
            guard seconds >= step else { continue }
            total += seconds
            let allowed = max(VisitRules.stillSpeed * seconds, VisitRules.stillAccuracies * fix.accuracy)
            if fix.distance(to: last) <= allowed { still += seconds }
            last = fix
        }
        return still < VisitRules.stillShare * total
    }
}

// MARK: - The state in the middle of a long stay

extension StayCluster {
    /// Whether it is known by its sums and samples alone: beyond doubt, with nobody outside.
    var isRestartable: Bool { isSettled && waiting.isEmpty && judgesPath && samples?.interior != nil }

    /// A CBOR array of a cluster that can be restarted: `[seed, last insider, mean …, path's last, seconds, still seconds,
    /// head, tail, interior …, before tail, carried until, seconds with data]`.
    func write(to writer: inout CBORWriter) {
        guard let path, let samples, let interior = samples.interior else {
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
        beforeOutsiders = lastInsider
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

/// How much of a time was spent at rest, in steps of ``VisitRules/coreStepSeconds`` and more.
struct PathTally {
    private var last: TrackPoint
    private(set) var seconds = 0.0
    private(set) var stillSeconds = 0.0

    init(_ first: TrackPoint) { last = first }

    /// Three items of the array it is part of.
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

/// How long the way between a place and a fix outside takes, at the speed seen further out.
struct Travel {
    let milliseconds: Int64

    /// - Parameter fixes: going away from the place in time, the nearest first; not empty.
    init(from center: GeocentricPoint, through fixes: ArraySlice<TrackPoint>) {
        let nearest = fixes[fixes.startIndex]
        let distance = nearest.point.chordMeters(to: center)
        var seen = 0.0
        if let furthest = fixes.last, fixes.count > 1 {
            let path = zip(fixes, fixes.dropFirst()).reduce(0) { $0 + $1.0.distance(to: $1.1) }
            let seconds = abs(furthest.seconds(since: nearest))
            if seconds > 0 { seen = VisitRules.pathFactor * path / seconds }
        }
        let guess = min(VisitRules.fastestGuess, VisitRules.walkingSpeed + distance / VisitRules.distancePerSecond)
        let speed = seen >= VisitRules.slowestSeen ? min(seen, VisitRules.spikeSpeed) : guess
        milliseconds = Int64((VisitRules.pathFactor * distance / speed * 1000).rounded())
    }
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
