/// Why a command was turned away. A refusal is an answer, not a fault: nothing is broken.
///
/// Whoever may not see a person learns exactly what a stranger learns about nobody: ``noSuchPerson``.
package enum Refusal: Error, Hashable, Sendable {
    /// No valid credentials came with the request.
    case notAuthenticated
    /// No such person, or none that the caller may know of: the two are one answer.
    case noSuchPerson
    /// No such thing under that name, or not the caller's.
    case notFound
    /// The code opens nothing: it is wrong, was used or withdrawn, or is too old.
    case noSuchInvitation
    /// The name is in use.
    case alreadyExists(String)
    /// The request makes no sense; the sentence says what to do.
    case invalid(String)
    /// The caller may ask, and has asked too often; again after so many seconds.
    case tooOften(seconds: Int64)
    /// The bound of ``Limits/openQueries`` is reached.
    case tooManyQueries
}
