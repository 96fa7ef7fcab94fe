/// A one-time offer of a grant to the first person who shows its code.
package struct Invitation: Hashable, Sendable {
    /// The number of the invitation.
    package let id: InvitationID
    /// The person whose location the grant will show.
    package let subject: PersonID
    /// The hash of the code; the code itself is never stored.
    package let hash: Hash256
    /// The code is refused from this time on.
    package let expires: Timestamp
    /// The terms of the grant. Its time limit begins when the invitation is redeemed, unless the terms have an end. The
    /// hours are not here but in ``detail``.
    package let terms: GrantTerms
    /// The hours of the grant, sealed under the subject's key; `nil` without hours.
    package let detail: Part<WeeklyHours>?

    package init(
        id: InvitationID, subject: PersonID, hash: Hash256, expires: Timestamp, terms: GrantTerms,
        detail: Part<WeeklyHours>?
    ) {
        (self.id, self.subject, self.hash, self.expires) = (id, subject, hash, expires)
        (self.terms, self.detail) = (terms, detail)
    }
}
