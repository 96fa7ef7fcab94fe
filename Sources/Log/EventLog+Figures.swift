import Synchronization
import Threading
package import Whereabouts

extension EventLog {
    /// The events appended since the start, counted.
    package var appended: EventTally { tally.withLock { $0 } }

    /// The durations of transactions, from the first row to the end of the fsync.
    package var commitDurations: Histogram { commitSeconds.withLock { $0 } }

    /// The transactions since the start.
    package var commits: Int64 { commitSeconds.withLock { $0.counts.reduce(0, +) } }

    /// How long the transaction under way has run; 0 without one.
    package var secondsOfCommit: Double { commitBegan.withLock { $0.map { MonotonicClock.seconds - $0 } ?? 0 } }

    /// The commands refused since the start.
    package var refusedCommands: Int64 { refusals.load(ordering: .relaxed) }

    /// The commands that wait to be decided.
    package var queueLength: Int { queue.count }

    /// Whether the last save of the standing failed. The next start then folds it again.
    package var isStandingUnsaved: Bool { standingTrouble.withLock { $0 != nil } }
}
