/// A value that tells where somebody is, and therefore describes itself without saying where.
///
/// Interpolation, `print`, `debugPrint` and `dump` give the constant text `Coordinate(…)`, so that a stray diagnostic
/// never discloses a place. Whoever must write the numbers reads the properties, on purpose.
package protocol DescribedWithoutContent: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension DescribedWithoutContent {
    package var description: String { "\(Self.self)(…)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
