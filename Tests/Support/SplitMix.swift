/// Chance that is the same on every run, so that a failure can be seen again.
///
/// Source: SplitMix64 (Steele, Lea and Flood 2014, DOI 10.1145/2714064.2660195).
package struct SplitMix: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(_ seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Whether something happens that happens with this probability.
    package mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &self) < share }

    /// A number below `bound`, each as likely as the others.
    ///
    /// Source: D. Lemire, "Fast Random Integer Generation in an Interval", 2019.
    fileprivate mutating func next(below bound: UInt64) -> UInt64 {
        var product = next().multipliedFullWidth(by: bound)
        if product.low < bound {
            let least = (0 &- bound) % bound
            while product.low < least { product = next().multipliedFullWidth(by: bound) }
        }
        return product.high
    }
}

// What the standard library draws, for this generator alone. Its generic functions are not specialized in a debug build and
// took minutes of the tests. `SplitMixTests` compares the two.

private let steps: UInt64 = 1 << 53

extension Double {
    package static func random(in range: Range<Double>, using generator: inout SplitMix) -> Double {
        precondition(!range.isEmpty)
        let share = Double(generator.next() & (steps - 1)) * (Double.ulpOfOne / 2)
        let drawn = (range.upperBound - range.lowerBound) * share + range.lowerBound
        return drawn == range.upperBound ? random(in: range, using: &generator) : drawn
    }

    package static func random(in range: ClosedRange<Double>, using generator: inout SplitMix) -> Double {
        let drawn = generator.next(below: steps + 1)
        if drawn == steps { return range.upperBound }
        let share = Double(drawn) * (Double.ulpOfOne / 2)
        return (range.upperBound - range.lowerBound) * share + range.lowerBound
    }
}

extension Int {
    package static func random(in range: Range<Int>, using generator: inout SplitMix) -> Int {
        precondition(!range.isEmpty)
        let count = UInt64(bitPattern: Int64(range.upperBound &- range.lowerBound))
        return range.lowerBound &+ Int(truncatingIfNeeded: generator.next(below: count))
    }

    package static func random(in range: ClosedRange<Int>, using generator: inout SplitMix) -> Int {
        let last = UInt64(bitPattern: Int64(range.upperBound &- range.lowerBound))
        guard last < .max else { return Int(truncatingIfNeeded: generator.next()) }
        return range.lowerBound &+ Int(truncatingIfNeeded: generator.next(below: last + 1))
    }
}
