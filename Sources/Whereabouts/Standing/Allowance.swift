/// What may still be taken from a bucket that refills steadily, kept in one number: the moment at which it is full again
/// (the virtual scheduling algorithm of ITU-T I.371, annex A).
package struct Allowance: Hashable, Sendable {
    package struct Rate: Hashable, Sendable {
        /// What a full bucket holds; so much can be taken at once.
        package let capacity: Int64
        /// One more comes back after so many seconds.
        package let refillSeconds: Int64

        package init(capacity: Int64, refillSeconds: Int64) {
            (self.capacity, self.refillSeconds) = (capacity, refillSeconds)
        }
    }

    /// `nil` when nothing was ever taken.
    package internal(set) var fullAt: Timestamp?

    package init() {}

    /// The first moment, `now` or later, at which one can be taken so that `reserve` are left. `reserve` is below the
    /// capacity.
    package func earliest(leaving reserve: Int64 = 0, at rate: Rate, now: Timestamp) -> Timestamp {
        guard let fullAt else { return now }
        return max(now, fullAt.adding(seconds: (1 - (rate.capacity - reserve)) * rate.refillSeconds))
    }

    /// Takes one, whether there is one or not.
    mutating func take(at rate: Rate, now: Timestamp) {
        fullAt = max(fullAt ?? now, now).adding(seconds: rate.refillSeconds)
    }

    /// Puts one back that was taken at `now`.
    mutating func giveBack(at rate: Rate) { fullAt = fullAt?.adding(seconds: -rate.refillSeconds) }

    /// The clock of the house went back: what is to come stays as far away as it was.
    mutating func follow(clockSteppedBackBy milliseconds: Int64) {
        fullAt = fullAt?.stepped(back: milliseconds)
    }
}

extension Timestamp {
    /// So much earlier, and never before the first moment there is.
    func stepped(back milliseconds: Int64) -> Timestamp {
        let (earlier, isBeyond) = self.milliseconds.subtractingReportingOverflow(milliseconds)
        return Timestamp(milliseconds: isBeyond ? .min : earlier)
    }
}
