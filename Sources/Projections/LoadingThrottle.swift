/// Decides how much of the log a rebuild folds at once, and when it goes on, so that it does not delay reports and
/// answers.
///
/// Without traffic a rebuild takes large batches and never pauses; a batch takes ``longestBatchSeconds`` at most, because
/// traffic that begins waits for its end. While reports or reads come in, it folds for at most
/// ``longestSliceSeconds`` in a ``LoadingSlice``, then pauses twice as long as it folded: two thirds of a processor's time
/// stay free, and a request waits for one slice at most. A slice that took longer than planned is followed by a pause of
/// 0.1 s at most. The caller passes times of a monotonic clock.
struct LoadingThrottle: Sendable {
    /// The longest time that a request waits for a rebuild: a fifth of the 50 ms for which the thread lets live events
    /// gather anyway.
    static let longestSliceSeconds = 0.01
    /// The pause after a slice, in slices.
    private static let pauseOfASlice = 2.0
    /// The longest batch without traffic, after the first few. At 65,000 events a second and more, the batches are
    /// the largest.
    static let longestBatchSeconds = 0.25
    /// The first batch; later ones follow from the rate.
    static let firstBatch = 1024
    /// How much larger than the last batch the next may be: one quick batch does not foretell the next.
    private static let growth = 4
    /// The longest pause, however long a slice took.
    private static let longestPauseSeconds = 0.1
    /// For how long after a report or a read the traffic is taken to go on.
    static let trafficSeconds = 1.0
    /// The smallest batch: to begin a slice costs as much as some ten events.
    static let smallestBatch = 128
    /// The largest batch, without traffic.
    let largestBatch: Int

    /// The most events to fold in the next slice.
    private(set) var batch: Int
    /// When the next slice is due.
    private(set) var dueSeconds = -Double.infinity
    private var lastTrafficSeconds = -Double.infinity
    /// The head of the log and the number of reads at the last look.
    private var seen: (head: Int64, reads: Int)?

    /// - Parameter largestBatch: Events in a batch without traffic.
    init(largestBatch: Int) {
        self.largestBatch = largestBatch
        batch = min(Self.firstBatch, largestBatch)
    }

    /// Notes the head of the log and the number of reads so far. Growth of either is traffic.
    mutating func look(head: Int64, reads: Int, at now: Double) {
        if let seen, seen != (head, reads) { lastTrafficSeconds = now }
        seen = (head, reads)
        if !isBusy(at: now) { dueSeconds = -.infinity }
    }

    /// Whether there was traffic within the last second.
    func isBusy(at now: Double) -> Bool { now - lastTrafficSeconds < Self.trafficSeconds }

    /// Notes a slice that ended at `now`, and plans the next one.
    ///
    /// - Parameters:
    ///   - events: The events that were folded, at least 1.
    ///   - seconds: The time that it took.
    mutating func note(events: Int, seconds: Double, at now: Double) {
        let longest = isBusy(at: now) ? Self.longestSliceSeconds : Self.longestBatchSeconds
        let most = Double(min(largestBatch, batch * Self.growth))
        let fitting = seconds > 0 ? min(most, Double(events) * longest / seconds) : most
        batch = max(Self.smallestBatch, Int(fitting))
        guard isBusy(at: now) else { return }
        dueSeconds = now + min(seconds * Self.pauseOfASlice, Self.longestPauseSeconds)
    }
}

/// The rate at which a generation is folded from zero, averaged over the last seconds.
struct FoldingPace: Sendable {
    /// The time after which a change of the rate is seen by 63 %.
    private static let smoothingSeconds = 10.0

    private var last: (place: Int64, seconds: Double)?
    /// Events a second; `nil` before the second note.
    private(set) var eventsPerSecond: Double?

    /// Notes the place at a time of the monotonic clock.
    mutating func note(place: Int64, at now: Double) {
        guard let last else { return last = (place, now) }
        let seconds = now - last.seconds
        guard seconds > 0.05 else { return }
        let rate = Double(place - last.place) / seconds
        // The first seconds count fully; otherwise the time to open the files would make the first figures too low.
        let weight = min(1, seconds / Self.smoothingSeconds)
        eventsPerSecond = eventsPerSecond.map { $0 + (rate - $0) * weight } ?? rate
        self.last = (place, now)
    }

    /// The seconds until `head` is reached; `nil` if no rate is known.
    func secondsLeft(from place: Int64, to head: Int64) -> Double? {
        guard let rate = eventsPerSecond, rate > 0 else { return nil }
        return Double(max(0, head - place)) / rate
    }
}
