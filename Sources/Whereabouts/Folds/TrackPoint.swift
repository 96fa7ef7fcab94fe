package import Geodesy

/// A fix in the form in which visits are derived: a time, a place and its accuracy.
struct TrackPoint: Hashable, Sendable {
    /// Milliseconds since 1970 UTC.
    let time: Int64
    let coordinate: Coordinate
    /// The place on the ellipsoid, as a point in space. Distances here are chords between such points, for which poles
    /// and antimeridian are not special. They differ from geodesics by 1.1 mm at 10 km.
    let point: GeocentricPoint
    /// Meters, the radius with a probability of 68 %, at least ``VisitRules/bestAccuracy``.
    let accuracy: Double
    /// The seconds that the device stayed from then on, as it reported; 0 for a fix. A small type, because the fold
    /// keeps a hundred points for each person.
    private let stayedSeconds: UInt32
    /// The kind of the reported moment; `nil` for a fix.
    let report: ReportedMoment.Kind?

    init(
        time: Int64, coordinate: Coordinate, accuracy: Double, report: ReportedMoment? = nil,
        _ transform: GeocentricTransform
    ) {
        (self.time, self.coordinate, self.accuracy) = (time, coordinate, accuracy)
        let stayed = report.map { max(0, $0.until.milliseconds - time) / 1000 } ?? 0
        (self.report, stayedSeconds) = (report?.kind, UInt32(clamping: stayed))
        point = transform.point(coordinate)
    }

    /// The fix in this form; `nil` if it cannot be used (``isUsable``).
    init?(_ fix: StoredFix, _ transform: GeocentricTransform) {
        guard fix.anomaly == nil else { return nil }
        let accuracy = Fix.effectiveAccuracy(fix.horizontalAccuracy)
        guard accuracy <= VisitRules.worstAccuracy else { return nil }
        self.init(
            time: fix.timestamp.milliseconds, coordinate: fix.coordinate, accuracy: accuracy, report: fix.report,
            transform)
    }

    /// The end of the stay as the device reported it, in whole seconds; ``time`` for a fix.
    var stayedUntil: Int64 { time + Int64(stayedSeconds) * 1000 }

    func distance(to other: TrackPoint) -> Double { point.chordMeters(to: other.point) }

    func seconds(since earlier: TrackPoint) -> Double { Double(time - earlier.time) / 1000 }

    /// Whether both are in the same span of ``VisitRules/slotSeconds``, counted from 1970.
    func isInSlot(of other: TrackPoint) -> Bool {
        let length = VisitRules.slotSeconds * 1000
        return time - other.time < length && time / length == other.time / length
    }

    /// Whether it is so far from the fix before that its successor must decide whether it is a spike.
    func isFar(from before: TrackPoint) -> Bool {
        distance(to: before) > accuracy + before.accuracy + VisitRules.spikeLeg
    }

    /// Whether this fix is a spike between two usable ones: the person was not there.
    func isSpike(after a: TrackPoint, before b: TrackPoint) -> Bool {
        let there = distance(to: a)
        let back = b.distance(to: self)
        let thereAtLeast = there - a.accuracy - accuracy
        let backAtLeast = back - accuracy - b.accuracy
        guard thereAtLeast > VisitRules.spikeLeg, backAtLeast > VisitRules.spikeLeg else { return false }
        let direct = a.distance(to: b)
        guard there + back > VisitRules.spikeDetour * direct + VisitRules.spikeDetourSlack else { return false }
        let thereSeconds = seconds(since: a)
        let backSeconds = b.seconds(since: self)
        if thereAtLeast > VisitRules.spikeSpeed * thereSeconds { return true }
        if backAtLeast > VisitRules.spikeSpeed * backSeconds { return true }
        guard direct <= VisitRules.spikeReturn else { return false }
        if b.seconds(since: a) < VisitRules.loneFixSeconds { return true }
        return b.seconds(since: a) < VisitRules.spikeLongReturnSeconds
            && there > VisitRules.spikeLongReturnSpeed * thereSeconds
            && back > VisitRules.spikeLongReturnSpeed * backSeconds
    }

    /// Whether the way from the fix before is certainly long, and was as fast as a car on a country road.
    func isJump(from before: TrackPoint) -> Bool {
        let distance = distance(to: before)
        return distance > accuracy + before.accuracy + VisitRules.spikeLeg
            && distance > VisitRules.spikePairSpeed * seconds(since: before)
    }

    /// Whether this fix and `next` are spikes between two usable ones: three jumps over a great detour that are
    /// impossible, or that end where they began.
    func isSpike(with next: TrackPoint, after a: TrackPoint, before b: TrackPoint) -> Bool {
        guard isJump(from: a), next.isJump(from: self), b.isJump(from: next) else { return false }
        let legs = [(a, self), (self, next), (next, b)]
        let way = legs.reduce(0) { $0 + $1.0.distance(to: $1.1) }
        let direct = a.distance(to: b)
        guard way > VisitRules.spikeDetour * direct + VisitRules.spikeDetourSlack else { return false }
        if direct <= VisitRules.spikeReturn, b.seconds(since: a) < VisitRules.spikeReturnSeconds { return true }
        return legs.contains { from, to in
            from.distance(to: to) - from.accuracy - to.accuracy > VisitRules.spikeSpeed * to.seconds(since: from)
        }
    }

    /// The order of fixes at the same time, of which the first is used: the smaller accuracy, then latitude and
    /// longitude.
    func precedesAtSameMoment(_ other: TrackPoint) -> Bool {
        if accuracy != other.accuracy { return accuracy < other.accuracy }
        if coordinate.latitude != other.coordinate.latitude { return coordinate.latitude < other.coordinate.latitude }
        if coordinate.longitude != other.coordinate.longitude {
            return coordinate.longitude < other.coordinate.longitude
        }
        if stayedUntil != other.stayedUntil { return stayedUntil > other.stayedUntil }
        return (report?.rawValue ?? 0) > (other.report?.rawValue ?? 0)
    }
}

extension Fix {
    /// Whether the fix can be used as a location of the person.
    ///
    /// It cannot if its device marks it as invalid (negative accuracy), if it is at exactly latitude 0 and longitude 0
    /// (a receiver without a fix), or if its time is more than ``Limits/futureUnusedSeconds`` after its receipt. The
    /// last test is skipped for an import without a time of receipt.
    package static func isUsable(
        timestamp: Timestamp, coordinate: Coordinate, horizontalAccuracy: Double?, receivedAt: Timestamp?
    ) -> Bool {
        anomaly(
            timestamp: timestamp, coordinate: coordinate, horizontalAccuracy: horizontalAccuracy, receivedAt: receivedAt
        )
            == nil
    }

    /// The anomaly of the fix by itself; `nil` if it can be used.
    static func anomaly(
        timestamp: Timestamp, coordinate: Coordinate, horizontalAccuracy: Double?, receivedAt: Timestamp?
    ) -> Anomaly? {
        if let accuracy = horizontalAccuracy, !(accuracy >= 0) { return .invalid }
        if coordinate.latitude == 0 && coordinate.longitude == 0 { return .noFix }
        guard let receivedAt else { return nil }
        let ahead = timestamp.milliseconds - receivedAt.milliseconds
        return ahead <= Limits.futureUnusedSeconds * 1000 ? nil : .inTheFuture
    }

    /// The accuracy for the rules: ``VisitRules/unknownAccuracy`` if the device does not report one.
    static func effectiveAccuracy(_ horizontalAccuracy: Double?) -> Double {
        max(VisitRules.bestAccuracy, horizontalAccuracy ?? VisitRules.unknownAccuracy)
    }
}

extension RecordedEvent {
    /// When `fix` of this event was received: the time of receipt in the fix or, if it has none, the time of recording.
    /// An imported fix without a time of receipt has none.
    package func receipt(of fix: Fix) -> Timestamp? {
        fix.receivedAt ?? (actor == .operator ? nil : recordedAt)
    }
}
