extension Standing {
    /// An invitation to an account whose code has not been redeemed.
    package struct AccountInvitation: Hashable, Sendable {
        /// The SHA-256 of the code.
        package let hash: Hash256
        /// The code is refused from this time on.
        package let expires: Timestamp
        /// A person, or the operator.
        package let inviter: PrincipalID

        /// The stream of its events.
        var stream: StreamID {
            inviter == .operator ? .house : .audit(PersonID(rawValue: inviter.rawValue))
        }
    }

    /// The invitations that are neither redeemed nor withdrawn: to grants, by id and by the hash of the code, and to
    /// accounts.
    package struct Invitations: Sendable, Equatable {
        /// To grants.
        package private(set) var all: [InvitationID: Invitation] = [:]
        /// To accounts.
        package private(set) var toAccounts: [AccountInvitationID: AccountInvitation] = [:]
        private var byHash: [Hash256: InvitationID] = [:]
        private var toAccountsByHash: [Hash256: AccountInvitationID] = [:]
        /// The number of the next invitation to a grant.
        package internal(set) var next: Int64 = 1

        /// An invitation to a grant; `nil` once it is redeemed or withdrawn.
        package subscript(id: InvitationID) -> Invitation? { all[id] }

        /// An invitation to an account; `nil` once it is redeemed or withdrawn.
        package subscript(id: AccountInvitationID) -> AccountInvitation? { toAccounts[id] }

        /// The invitation to a grant whose code has this hash.
        package func hashed(_ hash: Hash256) -> InvitationID? { byHash[hash] }

        /// The invitation to an account whose code has this hash.
        package func toAccount(hashed hash: Hash256) -> AccountInvitationID? { toAccountsByHash[hash] }

        mutating func add(_ invitation: Invitation) {
            all[invitation.id] = invitation
            byHash[invitation.hash] = invitation.id
            next = invitation.id.rawValue + 1
        }

        mutating func add(_ id: AccountInvitationID, _ invitation: AccountInvitation) {
            toAccounts[id] = invitation
            toAccountsByHash[invitation.hash] = id
        }

        mutating func remove(_ id: InvitationID) {
            if let invitation = all.removeValue(forKey: id) { byHash[invitation.hash] = nil }
        }

        mutating func remove(_ id: AccountInvitationID) {
            if let invitation = toAccounts.removeValue(forKey: id) { toAccountsByHash[invitation.hash] = nil }
        }

        /// Removes an erased person's invitations to accounts. Those to grants are removed by the person's own list.
        mutating func forget(_ person: PersonID) {
            for (id, invitation) in toAccounts where invitation.inviter == person.principal { remove(id) }
        }
    }

    mutating func make(_ invitation: Invitation) {
        invitations.add(invitation)
        persons[invitation.subject]?.sharing.invitations.append(invitation.id)
    }

    mutating func close(_ id: InvitationID) {
        guard let invitation = invitations[id] else { return }
        invitations.remove(id)
        persons[invitation.subject]?.sharing.invitations.removeAll { $0 == id }
    }

    /// - Parameter inviter: `nil` for the operator.
    mutating func make(
        _ id: AccountInvitationID, hash: Hash256, expires: Timestamp, by inviter: PersonID?, at now: Timestamp
    ) {
        let principal = inviter?.principal ?? .operator
        invitations.add(id, AccountInvitation(hash: hash, expires: expires, inviter: principal))
        if let inviter { noteAccountInvitation(by: inviter, at: now) }
    }
}

// MARK: - Rows

// Of an invitation to a grant: 1 subject · 2 hash · 3 expires · 4 precision · 5 history · 6 asks each time · 7 from ·
// 8 until · 9 hours, a map. Of one to an account: 1 hash · 2 expires · 3 inviter
extension Standing.Invitations {
    var rows: [StandingEntry] {
        let toGrants = all.map { id, invitation in
            StandingEntry(.invitation, id.rawValue) {
                $0.integer(1, invitation.subject.rawValue)
                $0.bytes(2, invitation.hash.bytes)
                $0.timestamp(3, invitation.expires)
                $0.integer(4, invitation.terms.precision.rawValue)
                $0.bool(5, invitation.terms.includesHistory)
                $0.bool(6, invitation.terms.asksEachTime)
                $0.timestamp(7, invitation.terms.from)
                $0.timestamp(8, invitation.terms.until)
                $0.part(9, invitation.detail) { fields, hours in hours.write(to: &fields) }
            }
        }
        return toGrants
            + toAccounts.map { id, invitation in
                StandingEntry(.accountInvitation, id.rawValue) {
                    $0.bytes(1, invitation.hash.bytes)
                    $0.timestamp(2, invitation.expires)
                    $0.integer(3, invitation.inviter.rawValue)
                }
            }
    }

    mutating func load(_ id: InvitationID, _ fields: inout FieldReader) throws(CBORError) {
        let invitation = Invitation(
            id: id, subject: PersonID(rawValue: try require(try fields.integer(1))),
            hash: try require(try fields.hash(2)), expires: try require(try fields.timestamp(3)),
            terms: GrantTerms(
                precision: try require(Precision(rawValue: try require(try fields.integer(4)))),
                includesHistory: try require(try fields.bool(5)), asksEachTime: try require(try fields.bool(6)),
                from: try fields.timestamp(7), until: try fields.timestamp(8)),
            detail: try fields.part(9) { (fields) throws(CBORError) in
                try require(try WeeklyHours.read(from: &fields))
            })
        all[id] = invitation
        byHash[invitation.hash] = id
    }

    mutating func load(_ id: AccountInvitationID, _ fields: inout FieldReader) throws(CBORError) {
        add(
            id,
            Standing.AccountInvitation(
                hash: try require(try fields.hash(1)), expires: try require(try fields.timestamp(2)),
                inviter: PrincipalID(rawValue: try require(try fields.integer(3)))))
    }
}
