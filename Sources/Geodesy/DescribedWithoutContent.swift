/// A value that contains a place, and so describes itself without its content.
///
/// Interpolation, `print`, `debugPrint` and `dump` give the constant text `Coordinate(…)`, so that a stray diagnostic
/// never discloses a place. Code that must write the numbers reads the properties.
package protocol DescribedWithoutContent: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension DescribedWithoutContent {
    /// The name of the type, for example `Coordinate(…)`.
    package var description: String { "\(Self.self)(…)" }
    /// As ``description``.
    package var debugDescription: String { description }
    /// A mirror without children.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
