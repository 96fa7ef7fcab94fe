// How somebody becomes a person: by a code that the operator or another person has made, once.

extension Standing {
    /// - Parameter handle: the person who invites; `nil` is the operator.
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
        guard accountInvitationByHash[hash] == nil else { throw .invalid("This code exists already; try again.") }
        let made = accountInvitations.filter { $0.value.inviter == inviter }
        let most = handle == nil ? Limits.accountInvitationsOfOperator : Limits.accountInvitationsPerPerson
        guard made.count(where: { now < $0.value.expires }) < most else {
            throw .invalid("There are \(most) open invitations; withdraw one first.")
        }
        var decision = Decision()
        // What is over is forgotten when there is something new.
        for (id, invitation) in made.sorted(by: { $0.key < $1.key }) where invitation.expires <= now {
            decision.append(.accountInvitationClosed(id), to: stream)
        }
        let id = AccountInvitationID(rawValue: place + 1 + Int64(decision.drafts.count))
        decision.append(.accountInvitationMade(hash: hash, expires: expires), to: stream)
        decision.reply = .accountInvitation(id)
        return decision
    }

    func withdrawAccountInvitation(
        _ id: AccountInvitationID, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        guard let invitation = accountInvitations[id] else { throw .notFound }
        if let handle = persons[PersonID(rawValue: invitation.inviter.rawValue)]?.handle {
            guard case .success = authorize(caller, to: .manage, about: handle, at: now) else { throw .notFound }
        } else {
            try requireOperator(caller)
        }
        var decision = Decision()
        decision.append(.accountInvitationClosed(id), to: invitation.stream)
        return decision
    }

    /// The door itself asks, in the name of somebody who has no credentials yet. Whether a name is taken it need not tell:
    /// handles end in characters drawn at random.
    func openAccount(
        _ hash: Hash256, as handle: Handle, key: Hash256, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        try requireHouse(caller)
        guard let id = accountInvitationByHash[hash], let invitation = accountInvitations[id],
            now < invitation.expires
        else { throw .noSuchInvitation }
        guard personByHandle[handle] == nil, tokenByHash[key] == nil else {
            throw .invalid("This did not work out by chance; send the request again, with a new Idempotency-Key.")
        }
        let person = PersonID(rawValue: nextPrincipal)
        let token = TokenID(rawValue: nextToken)
        var decision = Decision()
        decision.append(.personAdded(person, handle: .open(handle)), to: .audit(person), cause: id.rawValue)
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
    /// What the first token of an account may do: everything that a person can.
    package static let ofAccount: Scopes = [.query, .audit, .manage]
}
