/// The reason why a text, key or proof from outside was refused.
package enum TransparencyError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The bytes break a rule of their form. The text names the rule.
    case malformed(String)
    /// The form is right, but the claim does not follow. The text names the fault.
    case unproven(String)

    package var description: String {
        switch self {
        case .malformed(let reason), .unproven(let reason): reason
        }
    }
}
