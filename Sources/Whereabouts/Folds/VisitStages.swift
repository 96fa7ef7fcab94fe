import Geodesy

// The stages of the derivation in which versions of the rules differ (``VisitRules``). Each is a value that a version is
// composed of. The derivation calls the stage and does not ask for the version, so that a new version is a new case of
// one stage and a line in ``VisitRules/all``, and a version that is dropped takes its cases with it.

/// The use of visits that a device itself reports (``StoredFix/report``).
enum ReportStage: Hashable {
    case ignored
    case evidence

    /// Whether the fix, or the reported moment, is used.
    func uses(_ fix: StoredFix) -> Bool { fix.report == nil || usesReports }

    /// Whether reported moments are used.
    var usesReports: Bool { self == .evidence }
}

/// Which groups of fixes are spikes, in addition to single fixes.
enum SpikeStage: Hashable {
    case single
    /// Also two fixes in a row at a wrong place.
    case pairs

    /// Whether a fix that is no spike by itself may be one together with the next.
    func mayBePair(_ doubtful: TrackPoint, after before: TrackPoint, with next: TrackPoint) -> Bool {
        self == .pairs && doubtful.isJump(from: before) && next.isJump(from: doubtful)
    }
}

/// Where a false spot ends.
enum FalseSpotStage: Hashable {
    /// With its cluster.
    case atCluster
    /// At the jump back: the waiting fixes before it still belong to the spot.
    case atJumpBack
}

/// The meaning of a fix outside the open place if a long silence follows it.
enum OutsideRestStage: Hashable {
    case noise
    /// The phone was at rest there (``VisitRules/restSeconds``), so the person has been there.
    case place

    /// Whether a silence that begins with the last fix outside is a rest there.
    func isRest(at last: TrackPoint, before fix: TrackPoint) -> Bool {
        self == .place && fix.seconds(since: last) >= VisitRules.restSeconds
    }

    /// Whether the newest fixes, if they are outside, are a place once nothing follows them.
    var makesStays: Bool { self == .place }
}

/// The time that a fix of a stay with few of them represents (``VisitRules/fewFixes``).
enum FewFixesStage: Hashable {
    /// As in a stay with many.
    case asMany
    /// Also the silence after it, up to hours.
    case withSilence

    /// Whether the fixes of a stay with this many represent the silence after them.
    func isCounted(_ fixes: Int) -> Bool { self == .withSilence && fixes <= VisitRules.fewFixes }
}

/// The fixes that locate a stay.
enum PlaceStage: Hashable {
    /// Its own fixes.
    case ownFixes
    /// Earlier stays at the same place too, if it has few fixes (``PlaceMemory``).
    case rememberedPlaces

    /// Locates a stay that no later fix in order can change, and remembers it.
    func settle(_ stay: inout Stay, _ memory: inout PlaceMemory) {
        guard self == .rememberedPlaces else { return }
        stay.place = memory.place(of: stay)
        memory.add(stay)
    }

    /// The place of a stay by remembered stays; `nil` if only this stay is known.
    func place(of stay: Stay, _ memory: PlaceMemory) -> KnownPlace? {
        self == .rememberedPlaces ? memory.place(of: stay) : nil
    }

    /// The error, in meters, of a stay's center as a point of the track.
    func trackAccuracy(of stay: Stay) -> Double {
        let accuracy = max(VisitRules.bestAccuracy, stay.mean.radius)
        guard self == .rememberedPlaces else { return accuracy }
        return min(accuracy, stay.place?.error ?? .infinity, stay.mean.placeRadius)
    }

    // MARK: The saved state

    /// How many members the stage has in the state of ``VisitDerivation/encoded()``.
    var stateMembers: Int { self == .rememberedPlaces ? 2 : 0 }

    /// Writes the stage's members: ``VisitDerivation/Approach/beganAnew`` and the memory.
    func write(beganAnew: Int64, _ memory: PlaceMemory, to writer: inout CBORWriter) {
        guard self == .rememberedPlaces else { return }
        writer.integer(beganAnew)
        memory.write(to: &writer)
    }

    /// Reads the stage's members; leaves both as they are if it has none.
    func read(
        beganAnew: inout Int64, _ memory: inout PlaceMemory, from reader: inout CBORReader
    ) throws(CBORError) {
        guard self == .rememberedPlaces else { return }
        beganAnew = try reader.integer()
        memory = try PlaceMemory(from: &reader)
    }
}

/// The use of the silence in a visit and after it.
enum TellingStage: Hashable {
    /// None: a stay is kept once fixes or silence have made it a visit.
    case departures
    /// When the person was last seen. A visit that silence alone will make is kept with the time from which it is one,
    /// for answers after that time.
    case silences

    /// ``Visit/lastSeen`` of a stay.
    func lastSeen(of stay: Stay) -> Timestamp? {
        self == .silences ? Timestamp(milliseconds: stay.lastSeen) : nil
    }

    /// Whether a stay is kept that will be a visit after a silence, and is none yet.
    var keepsUntold: Bool { self == .silences }
}

/// The longest silence that one visit may contain, and the meaning of the silence after a fix. Without a limit, a visit
/// goes on through any silence between two fixes at its place.
struct SilenceStage: Hashable {
    /// The longest silence within one visit to the same place, in seconds: a phone at rest reports rarely.
    private let samePlaceSeconds: Double
    /// After a longer silence between two places the person left the first when last seen there, and reached the second
    /// when first seen there.
    private let otherPlaceSeconds: Double
    /// The person has left if at least this much silence follows a fix off the core (``VisitRules/wayOutFixSeconds``).
    private let wayOutSeconds: Double

    static let unlimited = SilenceStage(
        samePlaceSeconds: .infinity, otherPlaceSeconds: .infinity, wayOutSeconds: .infinity)
    static let limited = SilenceStage(
        samePlaceSeconds: Visit.longestSilenceSeconds, otherPlaceSeconds: 24 * 3600, wayOutSeconds: 300)

    /// A visit is at most this many times as long as its time with data, plus ``samePlaceSeconds``: several silences in
    /// a row are no better evidence than one.
    private static let mostPerData = 2.0

    /// The longest stay, in seconds, for a time with data.
    private func longestStaySeconds(data: Double) -> Double { Self.mostPerData * data + samePlaceSeconds }

    /// Whether a silence of this many seconds ends everything before it.
    func ends(after seconds: Double) -> Bool { seconds > samePlaceSeconds }

    /// Whether a stay of this many seconds is longer than its time with data allows.
    func isTooLong(staySeconds: Double, data: Double) -> Bool { staySeconds > longestStaySeconds(data: data) }

    /// Whether a silence between two places is short enough to say when the one was left and the other reached.
    func connectsPlaces(_ seconds: Double) -> Bool { seconds <= otherPlaceSeconds }

    /// Whether a silence after a fix off the core means that the person was leaving.
    func isWayOut(_ seconds: Double) -> Bool { seconds >= wayOutSeconds }

    /// When a stay ended, in milliseconds since 1970 UTC.
    ///
    /// - Parameters:
    ///   - seen: The stay up to the last evidence, with its time with data.
    ///   - next: The time of the first fix outside.
    ///   - latest: When the person left if the silence says nothing else.
    func departure(of seen: Stay, before next: Int64, latest: Int64) -> Int64 {
        guard connectsPlaces(Double(next - seen.lastSeen) / 1000) else { return seen.lastSeen }
        let longest = longestStaySeconds(data: seen.dataSeconds) * 1000
        guard longest < Double(latest - seen.arrival) else { return latest }
        return min(latest, max(seen.lastSeen, seen.arrival + Int64(longest)))
    }
}
