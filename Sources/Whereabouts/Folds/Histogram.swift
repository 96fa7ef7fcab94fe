/// A histogram of durations, with classes from half a millisecond to a minute. Adding a value and adding histograms are
/// cheap.
package struct Histogram: Sendable {
    /// The upper bounds of the classes in seconds; longer durations are in one more class.
    package static let bounds: [Double] = [
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
    ]

    /// The values in each class; the last class has no upper bound. Not cumulative, unlike in Prometheus' format.
    package private(set) var counts = [Int64](repeating: 0, count: bounds.count + 1)
    /// The sum of all durations, in seconds.
    package private(set) var sum = 0.0

    /// An empty histogram.
    package init() {}

    /// Counts one duration.
    package mutating func add(seconds: Double) {
        counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
        sum += seconds
    }
}
