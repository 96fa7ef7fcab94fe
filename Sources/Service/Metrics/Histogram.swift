/// How often something took how long, in classes from half a millisecond to a minute; cheap to keep and to add up.
struct Histogram: Sendable {
    /// Upper bounds of the classes in seconds; what takes longer is in a last class of its own.
    static let bounds: [Double] = [
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
    ]

    private(set) var counts = [Int64](repeating: 0, count: bounds.count + 1)
    /// Of everything counted, in seconds.
    private(set) var sum = 0.0

    mutating func add(seconds: Double) {
        counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
        sum += seconds
    }
}
