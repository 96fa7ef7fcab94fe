// Sessions of the web page. A session is a token of its holder's that is good only as the page's cookie: it has an end,
// is listed and revoked like any token, and ends with the token that it goes back to.

extension Standing {
    /// Makes a one-time code that opens a session: for oneself, or as the operator for anyone.
    func makeSignInCode(
        for holder: TokenHolder, _ hash: Hash256, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        guard tokens.hashed(hash) == nil else { throw .invalid("This code exists already; try again.") }
        let principal: PrincipalID
        let stream: StreamID
        let scopes: Scopes
        switch holder {
        case .operator:
            try requireOperator(caller)
            (principal, stream, scopes) = (.operator, .house, caller.scopes.intersection(.ofOperator))
        case .person(let handle):
            let person = try manage(handle, by: caller, at: now)
            (principal, stream) = (person.principal, .audit(person))
            scopes = caller.principal == principal ? caller.scopes.intersection(.ofAccount) : .ofAccount
        case .auditor:
            throw .invalid("An auditor has no page to sign in to; their token is for scripts/audit_house.py.")
        case .device: throw .invalid("A device has no page to sign in to; name its owner.")
        }
        // A code is shown once and used within minutes, so an older one that is still unused was lost.
        var decision = Decision()
        for old in liveTokens(at: now, where: { $0.principal == principal && $0.scopes.contains(.signIn) }) {
            decision.append(.tokenRevoked(old), to: stream)
        }
        let token = TokenID(rawValue: tokens.next)
        decision.append(
            .tokenIssued(
                AccessToken(
                    id: token, principal: principal, scopes: scopes.union(.signIn), hash: hash,
                    until: now.adding(seconds: Limits.signInCodeSeconds),
                    madeFrom: caller.principal == principal ? root(of: caller.token) : nil)),
            to: stream)
        decision.reply = .token(token)
        return decision
    }

    /// Opens a session with the rights of the shown token or one-time code. A code is used up by it.
    ///
    /// Every wrong secret gets the same refusal: unknown, expired, revoked, used, or a device's.
    func openSession(
        from: Hash256, _ hash: Hash256, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        guard let shown = tokens.hashed(from), let token = tokens.valid(shown, at: now), opensSession(from, at: now),
            caller.token ?? shown == shown, tokens.hashed(hash) == nil
        else { throw .notAuthenticated }
        let stream = stream(of: shown)
        let isCode = token.scopes.contains(.signIn)
        var decision = Decision()
        if isCode { decision.append(.tokenRevoked(shown), to: stream) }
        let sessions = liveTokens(at: now) { $0.principal == token.principal && $0.scopes.contains(.session) }
        for old in sessions.prefix(max(0, sessions.count + 1 - Limits.sessionsPerHolder)) {
            decision.append(.tokenRevoked(old), to: stream)
        }
        let end = now.adding(
            seconds: token.principal == .operator ? Limits.operatorSessionSeconds : Limits.sessionSeconds)
        let session = TokenID(rawValue: tokens.next)
        decision.append(
            .tokenIssued(
                AccessToken(
                    id: session, principal: token.principal,
                    scopes: token.scopes.subtracting(.signIn).union(.session), hash: hash,
                    until: isCode ? end : min(end, token.until ?? end),
                    madeFrom: isCode ? token.madeFrom : shown)),
            to: stream)
        decision.reply = .token(session)
        return decision
    }

    /// Ends the caller's session, or all sessions of the caller.
    func endSession(isEverywhere: Bool, by caller: Caller, at now: Timestamp) throws(Refusal) -> Decision {
        guard let id = caller.token, let token = tokens[id]?.issued else { throw .notFound }
        var decision = Decision()
        let ended =
            isEverywhere
            ? liveTokens(at: now) {
                $0.principal == caller.principal && !$0.scopes.isDisjoint(with: [.session, .signIn])
            }
            : token.scopes.contains(.session) ? [id] : []
        for session in ended { decision.append(.tokenRevoked(session), to: stream(of: session)) }
        return decision
    }

    /// The session that has this secret; `nil` for a token that is good in the header `Authorization`.
    package func session(cookieHash: Hash256, at now: Timestamp) -> Caller? {
        guard let id = tokens.hashed(cookieHash), let token = tokens.valid(id, at: now),
            token.scopes.contains(.session)
        else { return nil }
        return Caller(principal: token.principal, scopes: token.scopes.subtracting(.session), token: id)
    }

    /// Whether a token or code of this hash opens a session now. A share link's token does not: the link's secret does, by
    /// ``openLink(_:token:isSession:at:)``.
    package func opensSession(_ hash: Hash256, at now: Timestamp) -> Bool {
        guard let id = tokens.hashed(hash), let token = tokens.valid(id, at: now),
            links[LinkID(rawValue: token.principal.rawValue)] == nil
        else { return false }
        return token.scopes.isDisjoint(with: [.session, .report, .inspect])
    }

    /// The token that a session goes back to, or the token itself.
    func root(of id: TokenID?) -> TokenID? {
        guard let id, let token = tokens[id]?.issued else { return nil }
        return token.scopes.contains(.session) ? token.madeFrom : id
    }

    /// The valid tokens with a property, oldest first. Cost: a look at every token.
    func liveTokens(at now: Timestamp, where isWanted: (AccessToken) -> Bool) -> [TokenID] {
        tokens.all.filter { isWanted($0.value.issued) && $0.value.isValid(at: now) }.map(\.key).sorted()
    }

    /// The stream that has a token's events.
    func stream(of id: TokenID) -> StreamID {
        guard let holder = tokens[id]?.issued.principal, holder != .operator else { return .house }
        return .audit(
            links[LinkID(rawValue: holder.rawValue)]?.subject ?? devices[DeviceID(rawValue: holder.rawValue)]?.person
                ?? PersonID(rawValue: holder.rawValue))
    }
}

extension Scopes {
    /// The scopes of the operator's token.
    package static let ofOperator: Scopes = [.query, .audit, .manage, .operate]
}

extension Order where Reply == TokenID {
    /// ``Command/openSession(from:hash:)``
    package static func openSession(from: Hash256, hash: Hash256) -> Order {
        Order(.openSession(from: from, hash: hash)) { $0.token }
    }
}
