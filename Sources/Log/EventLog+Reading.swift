package import Cryptography
import Synchronization
import Threading
package import Whereabouts

extension EventLog {
    /// Waits until every fix can be looked up, and no file has a mark of an erased person.
    ///
    /// - Returns: `false` if that takes longer than `milliseconds`, or is not possible.
    package func waitForFixIdentities(milliseconds: Int) -> Bool {
        guard let identities else { return true }
        return identities.waitUntilComplete(milliseconds: milliseconds)
            && identities.waitUntilErased(milliseconds: milliseconds)
    }

    /// Compares the index of fixes with the log; returns a sentence if they differ. Cost: a refold.
    package func differenceOfFixIdentities() throws(LogError) -> String? {
        try identities?.check(try reader()).problem
    }

    /// A reader of this log for one thread.
    package func reader() throws(LogError) -> LogReader { try LogReader(path: path, keys: keys) }

    /// The key of a person's own log, made with the first call; `nil` for a person who is erased or never was.
    package func proofKey(of person: PersonID) throws(LogError) -> SymmetricKey? {
        let isThere = { self.withStanding { $0.persons[person]?.handle != nil } }
        guard isThere() else { return nil }
        let key = try keys.proofKey(of: person)
        if isThere() { return key }
        // The person was erased meanwhile, perhaps before the key was made.
        try keys.destroyKeys(of: person)
        return nil
    }

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
