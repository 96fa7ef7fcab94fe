/// Why a witness cannot start: one sentence for its operator.
package struct WitnessFault: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
