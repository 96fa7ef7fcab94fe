extension Precision {
    /// The seconds that a coarse grant does not distinguish.
    package static let coarseSeconds: Int64 = 900

    /// A time as a grant of this precision shows it: exact, or the quarter of an hour that contains it. Everything that
    /// a requester could compare, including ages, is computed from this.
    package func shown(_ time: Timestamp) -> Timestamp {
        guard self < .exact else { return time }
        let quarter = Self.coarseSeconds * 1000
        let (count, remainder) = time.milliseconds.quotientAndRemainder(dividingBy: quarter)
        return Timestamp(milliseconds: (remainder < 0 ? count - 1 : count) * quarter)
    }
}
