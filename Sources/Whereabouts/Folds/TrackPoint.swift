package import Geodesy

/// A fix as the derivation of visits sees it: a moment, a place and how well it is known.
struct TrackPoint: Hashable, Sendable {
    /// Milliseconds since 1970 UTC.
    let time: Int64
    let coordinate: Coordinate
    /// The place on the ellipsoid in space; distances here are chords between such points, which have no poles and no
    /// antimeridian and differ from geodesics by 1.1 mm at 10 km.
    let point: GeocentricPoint
    /// Meters, the 68 % radius, never below ``VisitRules/bestAccuracy``.
    let accuracy: Double
    /// The seconds that the device stayed from then on, as it reported; 0 for a fix. A small type, because the fold keeps a
    /// hundred points per person.
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

    /// The fix as the derivation sees it; `nil` when stage 0 does not let it in.
    init?(_ fix: StoredFix, _ transform: GeocentricTransform) {
        guard fix.anomaly == nil else { return nil }
        let accuracy = Fix.effectiveAccuracy(fix.horizontalAccuracy)
        guard accuracy <= VisitRules.worstAccuracy else { return nil }
        self.init(
            time: fix.timestamp.milliseconds, coordinate: fix.coordinate, accuracy: accuracy, report: fix.report,
            transform)
    }

    /// The end of the stay as the device reported it, to the second; ``time`` for a fix.
    var stayedUntil: Int64 { time + Int64(stayedSeconds) * 1000 }

    func distance(to other: TrackPoint) -> Double { point.chordMeters(to: other.point) }

    func seconds(since earlier: TrackPoint) -> Double { Double(time - earlier.time) / 1000 }

    /// Whether the two fall into one span of ``VisitRules/slotSeconds``, counted from 1970.
    func isInSlot(of other: TrackPoint) -> Bool {
        let length = VisitRules.slotSeconds * 1000
        return time - other.time < length && time / length == other.time / length
    }

    /// Whether it lies so far from the one before that its successor must say if it is a spike.
    func isFar(from before: TrackPoint) -> Bool {
        distance(to: before) > accuracy + before.accuracy + VisitRules.spikeLeg
    }

    /// Whether nobody was there, between two fixes that count.
    func isSpike(after a: TrackPoint, before b: TrackPoint, _ rules: VisitRules) -> Bool {
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
        let alone = rules.findsCore ? VisitRules.loneFixSeconds : VisitRules.spikeReturnSeconds
        if b.seconds(since: a) < alone { return true }
        return b.seconds(since: a) < VisitRules.spikeLongReturnSeconds
            && there > VisitRules.spikeLongReturnSpeed * thereSeconds
            && back > VisitRules.spikeLongReturnSpeed * backSeconds
    }

    /// The order of fixes of one moment, the first of which counts: the smaller accuracy, then latitude and longitude.
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
    /// Whether the fix may speak for where somebody is.
    ///
    /// Not when its device calls it invalid (negative accuracy), not at latitude 0 longitude 0 exactly (a receiver
    /// without a fix), and not when it claims a time more than ``Limits/futureUnusedSeconds`` after its receipt. An
    /// import without a time of receipt skips the last test.
    package static func isUsable(
        timestamp: Timestamp, coordinate: Coordinate, horizontalAccuracy: Double?, receivedAt: Timestamp?
    ) -> Bool {
        anomaly(
            timestamp: timestamp, coordinate: coordinate, horizontalAccuracy: horizontalAccuracy, receivedAt: receivedAt
        )
            == nil
    }

    /// What is wrong with the fix by itself.
    static func anomaly(
        timestamp: Timestamp, coordinate: Coordinate, horizontalAccuracy: Double?, receivedAt: Timestamp?
    ) -> Anomaly? {
        if let accuracy = horizontalAccuracy, !(accuracy >= 0) { return .invalid }
        if coordinate.latitude == 0 && coordinate.longitude == 0 { return .noFix }
        guard let receivedAt else { return nil }
        let ahead = timestamp.milliseconds - receivedAt.milliseconds
        return ahead <= Limits.futureUnusedSeconds * 1000 ? nil : .inTheFuture
    }

    /// The accuracy the rules reckon with: ``VisitRules/unknownAccuracy`` when the device does not say.
    static func effectiveAccuracy(_ horizontalAccuracy: Double?) -> Double {
        max(VisitRules.bestAccuracy, horizontalAccuracy ?? VisitRules.unknownAccuracy)
    }
}

extension RecordedEvent {
    /// When `fix` of this event was received: where it came from says so, or it is when the house recorded it. What the
    /// operator imports without such a time has none.
    package func receipt(of fix: Fix) -> Timestamp? {
        fix.receivedAt ?? (actor == .operator ? nil : recordedAt)
    }
}
