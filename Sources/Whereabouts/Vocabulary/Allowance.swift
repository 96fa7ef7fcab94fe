/// A bucket that refills steadily, stored as one number: the time at which it is full again (the virtual scheduling
/// algorithm of ITU-T I.371, annex A). ``CostBudget`` is for costs known only afterwards.
package struct Allowance: Hashable, Sendable {
    /// The size of a bucket and how fast it refills.
    package struct Rate: Hashable, Sendable {
        /// The content of a full bucket, which can be taken at once.
        package let capacity: Int64
        /// The seconds after which one more comes back.
        package let refillSeconds: Int64

        package init(capacity: Int64, refillSeconds: Int64) {
            (self.capacity, self.refillSeconds) = (capacity, refillSeconds)
        }
    }

    /// The time at which the bucket is full; `nil` if nothing was ever taken.
    package internal(set) var fullAt: Timestamp?

    /// A full bucket.
    package init() {}

    /// The first time from `now` on at which one can be taken with `reserve` left. `reserve` must be less than the
    /// capacity.
    package func earliest(leaving reserve: Int64 = 0, at rate: Rate, now: Timestamp) -> Timestamp {
        guard let fullAt else { return now }
        return max(now, fullAt.adding(seconds: (1 - (rate.capacity - reserve)) * rate.refillSeconds))
    }

    /// How many were taken and have not come back, 0 or more. It may exceed the capacity, because ``take(at:now:)`` takes
    /// from an empty bucket too.
    package func spent(at rate: Rate, now: Timestamp) -> Int64 {
        guard let fullAt, fullAt > now else { return 0 }
        return Int64((fullAt.seconds(since: now) / Double(rate.refillSeconds)).rounded(.up))
    }

    /// Takes one, even if the bucket is empty.
    package mutating func take(at rate: Rate, now: Timestamp) {
        fullAt = max(fullAt ?? now, now).adding(seconds: rate.refillSeconds)
    }

    /// Returns one that was taken at `now`.
    mutating func giveBack(at rate: Rate) { fullAt = fullAt?.adding(seconds: -rate.refillSeconds) }

    /// Follows the house's clock, which was set back: remaining times stay the same.
    mutating func follow(clockSteppedBackBy milliseconds: Int64) {
        fullAt = fullAt?.stepped(back: milliseconds)
    }
}

extension Timestamp {
    /// Earlier by this many milliseconds, but not before the first time that can be represented.
    func stepped(back milliseconds: Int64) -> Timestamp {
        let (earlier, isBeyond) = self.milliseconds.subtractingReportingOverflow(milliseconds)
        return Timestamp(milliseconds: isBeyond ? .min : earlier)
    }
}
