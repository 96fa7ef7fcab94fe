/// The owner of a new token.
package enum TokenHolder: Hashable, Sendable {
    case `operator`
    /// Someone whom the operator lets check the log.
    case auditor
    case person(Handle)
    case device(Handle)
}
