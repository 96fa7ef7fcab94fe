/// Some kinds of events, by their stored numbers.
package struct EventKinds: Sendable {
    /// A bit for each number.
    @usableFromInline
    var numbers: UInt128 = 0

    /// None.
    package init() {}

    /// The kinds that concern none of these folds. A reader for them alone can pass over such events unopened.
    package init(concerningNoneOf folds: FactConcerns) {
        for kind in EventKind.allCases where kind.fact?.concerns.isDisjoint(with: folds) == true {
            numbers |= 1 << UInt128(kind.rawValue)
        }
    }

    /// Whether the kind with this number is among them; `false` for a number that this program does not know.
    @inlinable
    package func contains(number: Int64) -> Bool { numbers >> UInt128(truncatingIfNeeded: number) & 1 != 0 }

    /// Whether all of these are among the others.
    package func isSubset(of other: EventKinds) -> Bool { numbers & ~other.numbers == 0 }

    /// The kinds that are among these and among the others.
    package func intersection(_ other: EventKinds) -> EventKinds {
        var both = self
        both.numbers &= other.numbers
        return both
    }
}
