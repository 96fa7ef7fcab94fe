/// A bucket of processor time that refills steadily.
///
/// The cost of work is known only when it is done. So work may begin while anything is left, and may leave a debt,
/// which delays the next. ``Allowance`` is for things that are counted one by one.
package struct CostBudget: Hashable, Sendable {
    /// The size of a bucket and how fast it refills.
    package struct Rate: Hashable, Sendable {
        /// The seconds of processor time in a full bucket.
        package let capacitySeconds: Double
        /// The seconds of processor time that come back per second, more than 0.
        package let share: Double

        package init(capacitySeconds: Double, share: Double) {
            (self.capacitySeconds, self.share) = (capacitySeconds, share)
        }
    }

    /// The seconds of processor time that were taken and had not come back at ``at``.
    private var spentSeconds = 0.0
    /// Seconds of a clock that cannot be set.
    private var at: Double

    /// A full bucket.
    package init(now: Double) { at = now }

    private func spent(at rate: Rate, now: Double) -> Double { max(0, spentSeconds - max(0, now - at) * rate.share) }

    /// Whether the bucket is full.
    package func isFull(at rate: Rate, now: Double) -> Bool { spent(at: rate, now: now) == 0 }

    /// The seconds until work may begin; 0 if it may begin now.
    package func waitSeconds(at rate: Rate, now: Double) -> Double {
        max(0, spent(at: rate, now: now) - rate.capacitySeconds) / rate.share
    }

    /// Takes the cost of work, even if less is left.
    package mutating func take(_ costSeconds: Double, at rate: Rate, now: Double) {
        spentSeconds = spent(at: rate, now: now) + max(0, costSeconds)
        at = max(at, now)
    }
}
