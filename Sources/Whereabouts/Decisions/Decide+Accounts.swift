// How people get an account: with a code that the operator or another person has made. Each code works once.

extension Standing {
    /// - Parameter handle: The person who invites; `nil` for the operator.
    func inviteToAccount(
        of handle: Handle?, hash: Hash256, expires: Timestamp, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        let stream: StreamID
        let inviter: PrincipalID
        if let handle {
            let person = try manage(handle, by: caller, at: now)
            (stream, inviter) = (.audit(person), person.principal)
        } else {
            try requireOperator(caller)
            (stream, inviter) = (.house, .operator)
        }
        try requireInvitationEnd(expires, at: now)
        guard invitations.toAccount(hashed: hash) == nil else { throw .invalid("This code exists already; try again.") }
        let made = invitations.toAccounts.filter { $0.value.inviter == inviter }
        let most = handle == nil ? Limits.accountInvitationsOfOperator : Limits.accountInvitationsPerPerson
        guard made.count(where: { now < $0.value.expires }) < most else {
            throw .invalid("There are \(most) open invitations; withdraw one first.")
        }
        if handle != nil { try requireAllowance(of: PersonID(rawValue: inviter.rawValue), at: now) }
        var decision = Decision()
        // Expired invitations are forgotten when a new one is made.
        for (id, invitation) in made.sorted(by: { $0.key < $1.key }) where invitation.expires <= now {
            decision.append(.accountInvitationClosed(id), to: stream)
        }
        let id = AccountInvitationID(rawValue: place + 1 + Int64(decision.drafts.count))
        decision.append(.accountInvitationMade(hash: hash, expires: expires), to: stream)
        decision.reply = .accountInvitation(id)
        return decision
    }

    /// Throws if the inviter or the inviter's tree has made too many invitations.
    private func requireAllowance(of inviter: PersonID, at now: Timestamp) throws(Refusal) {
        let own = persons[inviter]?.inviting.own ?? Allowance()
        let trees = persons[tree(of: inviter)]?.inviting.ofTree ?? Allowance()
        let ownAt = own.earliest(at: Limits.accountInvitationsPerInviter, now: now)
        let treesAt = trees.earliest(at: Limits.accountInvitationsPerTree, now: now)
        let milliseconds = max(ownAt, treesAt).milliseconds - now.milliseconds
        guard milliseconds > 0 else { return }
        throw .tooManyInvitations(seconds: (milliseconds + 999) / 1000, ofTree: treesAt > ownAt)
    }

    /// Withdraws an invitation of a person whom the caller may manage, or, as the operator, any other.
    func withdrawAccountInvitation(
        _ id: AccountInvitationID, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        guard let invitation = invitations[id] else { throw .notFound }
        if let handle = persons[PersonID(rawValue: invitation.inviter.rawValue)]?.handle {
            guard case .success = authorize(caller, to: .manage, about: handle, at: now) else { throw .notFound }
        } else {
            try requireOperator(caller)
        }
        var decision = Decision()
        decision.append(.accountInvitationClosed(id), to: invitation.stream)
        return decision
    }

    /// The caller has no credentials yet. The answer need not say that a name is taken, because handles end in random
    /// characters.
    func openAccount(
        _ hash: Hash256, as handle: Handle, key: Hash256, among shards: [ShardNumber], by caller: Caller,
        at now: Timestamp
    ) throws(Refusal) -> Decision {
        try requireHouse(caller)
        guard let id = invitations.toAccount(hashed: hash), let invitation = invitations[id],
            now < invitation.expires
        else { throw .noSuchInvitation }
        guard person(handle) == nil, tokens.hashed(key) == nil else {
            throw .invalid("The random handle is taken; send the request again with a new Idempotency-Key.")
        }
        let person = PersonID(rawValue: persons.next)
        let token = TokenID(rawValue: tokens.next)
        var decision = Decision()
        decision.append(.personAdded(person, handle: .open(handle)), to: .audit(person), cause: id.rawValue)
        if let shard = home(among: shards) {
            decision.append(.personPlaced(person, shard), to: .house, cause: id.rawValue)
        }
        decision.append(
            .tokenIssued(
                AccessToken(
                    id: token, principal: person.principal, scopes: .ofAccount, hash: key, until: nil)),
            to: .audit(person), cause: id.rawValue)
        decision.append(.accountInvitationClosed(id), to: invitation.stream, cause: place + 1)
        decision.reply = .token(token)
        return decision
    }
}

extension Scopes {
    /// The scopes of an account's first token: everything that a person can do.
    package static let ofAccount: Scopes = [.query, .audit, .manage]
}

extension Order where Reply == TokenID {
    /// ``Command/openAccount(_:as:key:among:)``, whose reply is the new person's first token.
    package static func openAccount(
        _ hash: Hash256, as handle: Handle, key: Hash256, among shards: [ShardNumber] = []
    ) -> Order {
        Order(.openAccount(hash, as: handle, key: key, among: shards)) { $0.token }
    }
}

extension Order where Reply == AccountInvitationID {
    /// ``Command/inviteToAccount(by:hash:expires:)``
    package static func inviteToAccount(by person: Handle?, hash: Hash256, expires: Timestamp) -> Order {
        Order(.inviteToAccount(by: person, hash: hash, expires: expires)) {
            if case .accountInvitation(let id) = $0 { id } else { nil }
        }
    }
}
