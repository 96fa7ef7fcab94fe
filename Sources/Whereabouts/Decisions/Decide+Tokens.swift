// Access tokens: issued and revoked.

extension Standing {
    /// Records the hash of a new token; the secret is never in the log.
    ///
    /// - Throws: ``Refusal/invalid(_:)`` without scopes, for scopes that the holder cannot have, or for an end in the
    ///   past.
    func issueToken(
        for holder: TokenHolder, scopes: Scopes, hash: Hash256, until: Timestamp?, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        guard !scopes.isEmpty else { throw .invalid("A token needs at least one scope; name one with --scopes.") }
        if let until, until <= now { throw .invalid("The token's end is in the past; choose a later one.") }
        guard tokens.hashed(hash) == nil else { throw .invalid("This token exists already; try again.") }
        let principal: PrincipalID
        let stream: StreamID
        let allowed: Scopes
        switch holder {
        case .operator:
            guard caller == .house else {
                throw .invalid("The service itself makes the operator's token; it is in the file admin.token.")
            }
            (principal, stream) = (.operator, .house)
            allowed = [.query, .audit, .manage, .operate]
        case .auditor:
            try requireOperator(caller)
            (principal, stream, allowed) = (.operator, .house, .inspect)
        case .person(let handle):
            let person = try manage(handle, by: caller, at: now)
            (principal, stream, allowed) = (person.principal, .audit(person), [.query, .audit, .manage])
        case .device(let handle):
            let (device, person) = try managedDevice(handle, by: caller, at: now)
            (principal, stream, allowed) = (device.principal, .audit(person), [.report])
        }
        guard allowed.isSuperset(of: scopes) else {
            throw .invalid("A token of this holder can only have the scopes \(allowed.words.joined(separator: ", ")).")
        }
        let token = TokenID(rawValue: tokens.next)
        var decision = Decision()
        decision.append(
            .tokenIssued(AccessToken(id: token, principal: principal, scopes: scopes, hash: hash, until: until)),
            to: stream)
        decision.reply = .token(token)
        return decision
    }

    /// Revokes a token, and the sessions and unused codes that were made from it.
    ///
    /// - Throws: ``Refusal/notFound`` for an unknown or revoked token, and for one whose holder the caller may not
    ///   manage.
    func revokeToken(_ id: TokenID, by caller: Caller, at now: Timestamp) throws(Refusal) -> Decision {
        guard let token = tokens[id], !token.isRevoked else { throw .notFound }
        if token.issued.scopes == .inspect {
            try requireOperator(caller)
            var decision = Decision()
            decision.append(.tokenRevoked(id), to: .house)
            return decision
        }
        let holder = token.issued.principal
        let owner = devices[DeviceID(rawValue: holder.rawValue)]?.person ?? PersonID(rawValue: holder.rawValue)
        guard let handle = persons[owner]?.handle else { throw .notFound }
        guard case .success = authorize(caller, to: .manage, about: handle, at: now) else { throw .notFound }
        var decision = Decision()
        decision.append(.tokenRevoked(id), to: .audit(owner))
        // The sessions that go back to it end with it, and so do codes that are still unused.
        let number = place + 1
        for other in liveTokens(at: now, where: { $0.madeFrom == id }) {
            decision.append(.tokenRevoked(other), to: stream(of: other), cause: number)
        }
        return decision
    }
}

extension Order where Reply == TokenID {
    /// ``Command/issueToken(for:scopes:hash:until:)``
    package static func issueToken(
        for holder: TokenHolder, scopes: Scopes, hash: Hash256, until: Timestamp?
    ) -> Order {
        Order(.issueToken(for: holder, scopes: scopes, hash: hash, until: until)) { $0.token }
    }
}
