import Geodesy

/// The accuracy-weighted mean of places, in space, with constant memory.
struct WeightedMean: Hashable {
    /// The sums are relative to this point, so that meters keep their precision beside the earth's radius.
    private(set) var origin: GeocentricPoint
    private(set) var weight = 0.0
    private(set) var x = 0.0
    private(set) var y = 0.0
    private(set) var z = 0.0
    private(set) var square = 0.0
    var count: Int64 = 0

    init(_ first: TrackPoint) {
        origin = first.point
        add(first)
    }

    init(origin: GeocentricPoint, weight: Double, x: Double, y: Double, z: Double, square: Double, count: Int64) {
        (self.origin, self.weight, self.x, self.y, self.z) = (origin, weight, x, y, z)
        (self.square, self.count) = (square, count)
    }

    /// An empty mean.
    init(origin: GeocentricPoint) { self.origin = origin }

    mutating func add(_ fix: TrackPoint) { add(fix, times: 1) }

    /// Adds a fix with the weight of its seconds; the longest dwell counts as one fix.
    mutating func add(_ fix: TrackPoint, dwell: Double) { add(fix, times: dwell / VisitRules.longestDwell) }

    private mutating func add(_ fix: TrackPoint, times factor: Double) {
        let w = factor / (fix.accuracy * fix.accuracy + VisitRules.weightFloor * VisitRules.weightFloor)
        let dx = fix.point.x - origin.x
        let dy = fix.point.y - origin.y
        let dz = fix.point.z - origin.z
        weight += w
        x += w * dx
        y += w * dy
        z += w * dz
        square += w * (dx * dx + dy * dy + dz * dz)
        count += 1
    }

    mutating func add(_ other: WeightedMean) {
        let dx = other.origin.x - origin.x
        let dy = other.origin.y - origin.y
        let dz = other.origin.z - origin.z
        square += other.square + 2 * (dx * other.x + dy * other.y + dz * other.z)
        square += other.weight * (dx * dx + dy * dy + dz * dz)
        x += other.x + other.weight * dx
        y += other.y + other.weight * dy
        z += other.z + other.weight * dz
        weight += other.weight
        count += other.count
    }

    var center: GeocentricPoint {
        GeocentricPoint(x: origin.x + x / weight, y: origin.y + y / weight, z: origin.z + z / weight)
    }

    /// The radius in meters that contains the place in at least two thirds of the cases: the error of the mean of this
    /// many fixes, wider than for independent ones, plus people's movement within a place.
    var placeRadius: Double {
        let error = VisitRules.meanErrors * radius / Double(max(1, count)).squareRoot()
        return (error * error + VisitRules.placeError * VisitRules.placeError).squareRoot()
    }

    /// The radius in meters of the fixes about the place: their scatter or the standard error of their mean, whichever
    /// is larger.
    var radius: Double {
        let scatter = square / weight - (x * x + y * y + z * z) / (weight * weight)
        return max(max(0, scatter).squareRoot(), 1 / weight.squareRoot())
    }
}

/// A time spent at one place.
struct Stay: Hashable {
    let seed: TrackPoint
    var mean: WeightedMean
    /// Milliseconds since 1970 UTC.
    let arrival: Int64
    /// The departure or, if the stay goes on, the last time the person was seen there.
    var departure: Int64
    /// Whether the person is still there.
    var isOpen = false
    /// The last time at which a fix or a report shows the person there.
    var lastSeen: Int64
    /// The time with data in the stay, in seconds (``VisitRules/dataStepSeconds``).
    var dataSeconds = 0.0
    /// The time from which silence alone makes it a visit; `nil` if its fixes do.
    var tellableFrom: Int64?
    /// The place by remembered stays; `nil` if only this stay is known.
    var place: KnownPlace?

    /// Whether two stays are parts of one large place. The caller checks the fixes between them.
    ///
    /// Absence of fixes is not absence of the person: they join over any silence that ``VisitRules/silence`` allows.
    func isJoined(by next: Stay, _ rules: VisitRules) -> Bool {
        let distance = mean.center.chordMeters(to: next.mean.center)
        guard
            distance < VisitRules.joinDistance || isVagueEcho(of: next, distance)
                || next.isVagueEcho(of: self, distance)
        else { return false }
        let silence = Double(next.arrival - lastSeen) / 1000
        return !rules.silence.ends(after: silence)
            && !rules.silence.isTooLong(
                staySeconds: Double(next.lastSeen - arrival) / 1000, data: data(joinedWith: next))
    }

    private func data(joinedWith next: Stay) -> Double {
        let between = max(0, Double(next.arrival - lastSeen) / 1000)
        return dataSeconds + next.dataSeconds + (between <= VisitRules.dataStepSeconds ? between : 0)
    }

    /// Whether a stay has so few and so vague fixes that it may be the place beside it.
    private func isVagueEcho(of other: Stay, _ distance: Double) -> Bool {
        mean.count < VisitRules.firmCount && other.mean.count >= VisitRules.firmCount
            && distance < VisitRules.placeRadius + VisitRules.echoAccuracies
                * min(seed.accuracy, VisitRules.accuracyCap)
    }

    /// The id of its visit.
    func id(of person: PersonID) -> UInt64 {
        Visit.id(of: person, at: seed.coordinate, Timestamp(milliseconds: seed.time))
    }

    func joined(with next: Stay) -> Stay {
        var joined = self
        joined.mean.add(next.mean)
        joined.departure = next.departure
        joined.isOpen = next.isOpen
        joined.dataSeconds = data(joinedWith: next)
        joined.lastSeen = next.lastSeen
        return joined
    }
}
