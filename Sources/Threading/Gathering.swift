/// How long the next commit waits, so that it has the commands of all callers and not of half of them.
///
/// The callers of a commit come back within microseconds after it. If the commands that were decided meanwhile were
/// written at once, two halves of the callers would take turns, and each would wait for two commits. So the turn stays
/// free until as many commands are there as were answered and pending, but at most for a quarter of the time of the last
/// commit. Commits of few callers are not waited for: a single one gets no later answer. Neither is anyone where the disk
/// is faster than the processor: then two halves in turns keep both busy.
package struct Gathering: Sendable {
    /// This many commands are worth being decided while a commit is under way, and worth a commit of their own while
    /// more are being decided.
    package static let fewest = 16
    private static let longestSeconds = 0.002
    private static let shareOfCommit = 0.25

    /// The number of commands that are waited for; 0 if none are.
    package private(set) var wanted = 0
    /// When the commit is made in any case, on the monotonic clock.
    package private(set) var endSeconds = 0.0

    /// Waits for nothing.
    package init() {}

    /// - Parameters:
    ///   - answered: The number of callers that the last commit answered.
    ///   - pending: The number of commands that came during it.
    ///   - commitSeconds: How long it took.
    ///   - workSeconds: How much of that was work of the processor.
    ///   - now: On the monotonic clock.
    package init(
        answered: Int, pending: Int, commitSeconds: Double, workSeconds: Double, at now: Double = MonotonicClock.seconds
    ) {
        guard answered >= Self.fewest else { return }
        let all = answered + pending
        let workForAll = workSeconds * Double(all) / Double(answered)
        guard commitSeconds - workSeconds >= workForAll else { return }
        wanted = all
        endSeconds = now + min(commitSeconds * Self.shareOfCommit, Self.longestSeconds)
    }

    /// How many more commands are waited for if so many are there.
    package func missing(present: Int, at now: Double = MonotonicClock.seconds) -> Int {
        present < wanted && now < endSeconds ? wanted - present : 0
    }
}
