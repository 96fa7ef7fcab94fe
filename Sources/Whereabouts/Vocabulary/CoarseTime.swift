extension Precision {
    /// Seconds a coarse grant cannot tell apart.
    package static let coarseSeconds: Int64 = 900

    /// What is seen of a time: all of it, or the quarter of an hour it lies in. Everything a coarse asker could compare
    /// with, ages too, is computed from this.
    package func shown(_ time: Timestamp) -> Timestamp {
        guard self < .exact else { return time }
        let quarter = Self.coarseSeconds * 1000
        let (count, remainder) = time.milliseconds.quotientAndRemainder(dividingBy: quarter)
        return Timestamp(milliseconds: (remainder < 0 ? count - 1 : count) * quarter)
    }
}
