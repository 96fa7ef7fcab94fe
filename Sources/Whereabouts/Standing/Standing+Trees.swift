// Invitation trees: persons whose accounts come from one invitation share some limits.

extension Standing {
    /// The invitation tree of a person, named by the person at its root, whom the operator added or invited. Everyone
    /// whom a person of the tree invited to an account is in the same tree, also after an erasure in between.
    package func tree(of person: PersonID) -> PersonID { persons[person]?.inviting.root ?? person }

    /// The person behind a person's or a device's principal; `nil` for any other.
    package func person(behind principal: PrincipalID) -> PersonID? {
        let person = PersonID(rawValue: principal.rawValue)
        return persons[person] != nil ? person : devices[DeviceID(rawValue: principal.rawValue)]?.person
    }

    /// The root of the tree of the person who made this invitation; `nil` if that was the operator, or if there is no
    /// such invitation.
    func root(causedBy number: Int64) -> PersonID? {
        guard let inviter = invitations[AccountInvitationID(rawValue: number)]?.inviter, inviter != .operator
        else { return nil }
        return tree(of: PersonID(rawValue: inviter.rawValue))
    }

    mutating func noteAccountInvitation(by inviter: PersonID, at now: Timestamp) {
        persons[inviter]?.inviting.own.take(at: Limits.accountInvitationsPerInviter, now: now)
        persons[tree(of: inviter)]?.inviting.ofTree.take(at: Limits.accountInvitationsPerTree, now: now)
    }
}
