/// How we know a number that Apple does not document as such.
public enum FidelityClass: String, Sendable {
    /// Apple's documentation pages give it, as typical or in passing.
    case documentation = "D"
    /// Reported in forums and articles.
    case field = "F"
    /// From users' memory; unverified.
    case memory = "M"
    /// Decided by this project, because no source gives a number.
    case decision = "P"
}

/// A value of a ``SimulationProfile`` with how we know it.
@propertyWrapper public struct Sourced<Value: Sendable & Equatable>: Sendable, Equatable, AnySourced {
    public var wrappedValue: Value
    let source: FidelityClass

    public init(wrappedValue: Value, _ source: FidelityClass) {
        (self.wrappedValue, self.source) = (wrappedValue, source)
    }

    var text: String { "\(wrappedValue)" }
}

/// The interface to each value for the list of all values.
protocol AnySourced {
    var source: FidelityClass { get }
    var text: String { get }
}

/// One line of ``SimulationProfile/fidelity``.
public struct Fidelity: Sendable, Equatable {
    public let name: String
    public let value: String
    public let source: FidelityClass
}
