/// Why a command was refused. A refusal is an answer, not a fault: nothing is broken.
///
/// A caller who may not see a person gets the same answer as for a person who does not exist: ``noSuchPerson``.
package enum Refusal: Error, Hashable, Sendable {
    /// The request has no valid credentials.
    case notAuthenticated
    /// There is no such person, or the caller may not know of them. The answer is the same.
    case noSuchPerson
    /// There is nothing of this name, or it is not the caller's.
    case notFound
    /// The code is wrong, used, withdrawn or expired.
    case noSuchInvitation
    /// The name is taken.
    case alreadyExists(String)
    /// The request is not possible; the sentence says what to do.
    case invalid(String)
    /// The caller may ask, and has asked too often; the seconds are the wait.
    case tooOften(seconds: Int64)
    /// The caller, or the caller's invitation tree, has made all account invitations of a day; the seconds are the
    /// wait.
    case tooManyInvitations(seconds: Int64, ofTree: Bool)
    /// The webhook has had its test messages; the seconds are the wait.
    case tooManyTests(seconds: Int64)
    /// The caller has ``Limits/openQueriesPerAsker`` queries about the person under way.
    case tooManyOwnQueries
    /// The answer was computed before fixes of the person were withdrawn, and could still show them.
    case outdated
    /// The service has ``Limits/openQueries`` queries under way.
    case tooManyQueries
}
