/// A set of event numbers, kept as the ranges that they form: a million numbers in a row are one range.
package struct NumberSet: Hashable, Sendable {
    /// In ascending order; none overlap or touch.
    package private(set) var ranges: [ClosedRange<Int64>] = []

    /// The empty set.
    package init() {}

    /// Whether the set has the number. Cost: logarithmic in the number of ranges.
    package func contains(_ number: Int64) -> Bool { contains(number...number) }

    /// Whether the set has every number of a range.
    package func contains(_ numbers: ClosedRange<Int64>) -> Bool {
        let index = index(from: numbers.lowerBound)
        return index < ranges.count && ranges[index].lowerBound <= numbers.lowerBound
            && numbers.upperBound <= ranges[index].upperBound
    }

    /// Whether the set has a number of a range.
    package func overlaps(_ numbers: ClosedRange<Int64>) -> Bool {
        let index = index(from: numbers.lowerBound)
        return index < ranges.count && ranges[index].overlaps(numbers)
    }

    /// Adds the numbers of a range. Cost: linear in the number of ranges.
    package mutating func insert(_ numbers: ClosedRange<Int64>) {
        let touching = touching(numbers)
        let from = touching.first.map { min(ranges[$0].lowerBound, numbers.lowerBound) } ?? numbers.lowerBound
        let to = touching.last.map { max(ranges[$0].upperBound, numbers.upperBound) } ?? numbers.upperBound
        ranges.replaceSubrange(touching, with: [from...to])
    }

    /// Removes the numbers of a range. Cost: linear in the number of ranges.
    package mutating func remove(_ numbers: ClosedRange<Int64>) {
        let touching = touching(numbers)
        var rest: [ClosedRange<Int64>] = []
        for range in ranges[touching] {
            if range.lowerBound < numbers.lowerBound {
                rest.append(range.lowerBound...min(range.upperBound, numbers.lowerBound - 1))
            }
            if numbers.upperBound < range.upperBound {
                rest.append(max(range.lowerBound, numbers.upperBound + 1)...range.upperBound)
            }
        }
        ranges.replaceSubrange(touching, with: rest)
    }

    /// The index of the first range that ends at a number or after it.
    private func index(from number: Int64) -> Int {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The indices of the ranges that overlap a range or are next to it.
    private func touching(_ numbers: ClosedRange<Int64>) -> Range<Int> {
        let first = index(from: numbers.lowerBound == .min ? .min : numbers.lowerBound - 1)
        var end = first
        while end < ranges.count, ranges[end].lowerBound - 1 <= numbers.upperBound { end += 1 }
        return first..<end
    }
}

// MARK: - Coding

extension NumberSet {
    /// The first and the last number of each range.
    var stored: [Int64] { ranges.flatMap { [$0.lowerBound, $0.upperBound] } }

    /// Reads ``stored``.
    init(stored numbers: [Int64]) throws(CBORError) {
        guard numbers.count % 2 == 0 else { throw .unexpected }
        for start in stride(from: 0, to: numbers.count, by: 2) {
            guard numbers[start] <= numbers[start + 1], ranges.last.map({ $0.upperBound < numbers[start] }) ?? true
            else { throw .unexpected }
            ranges.append(numbers[start]...numbers[start + 1])
        }
    }
}
