// Share links: added, opened and ended. The grant of a link decides its viewers' rights, as for any other requester.

extension Standing {
    /// Adds a link with its grant. Without a given end, a link lasts ``Limits/defaultLinkSeconds``.
    func addLink(
        of handle: Handle, _ terms: GrantTerms, _ request: LinkRequest, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        let person = try manage(handle, by: caller, at: now)
        guard terms.precision > .none else {
            throw .invalid("A link that shows nothing is no link; choose a precision.")
        }
        guard !terms.includesHistory || terms.precision == .exact else {
            throw .invalid("Only an exact link can show the past; leave the history out, or choose exact.")
        }
        if let name = request.name {
            guard (1...Limits.linkNameCharacters).contains(name.unicodeScalars.count) else {
                throw .invalid("A link's name has 1 to \(Limits.linkNameCharacters) characters.")
            }
        }
        let terms = try limited(terms, default: Limits.defaultLinkSeconds, at: now)
        guard links.link(hash: request.hash) == nil, tokens.hashed(request.hash) == nil else {
            throw .invalid("This link exists already; try again.")
        }
        let open = links.links(of: person).count { isInForce($0, at: now) }
        guard open < Limits.linksPerPerson else {
            throw .invalid("A person has at most \(Limits.linksPerPerson) links at a time; end one first.")
        }
        try requireRoomForGrant(of: person, at: now)
        let id = LinkID(rawValue: persons.next)
        let grant = GrantID(rawValue: grants.next)
        var decision = Decision()
        decision.append(
            .grantGiven(Grant(id: grant, subject: person, requester: id.requester, terms)), to: .audit(person))
        decision.append(
            .linkAdded(
                ShareLink(
                    id: id, grant: grant, hash: request.hash, hasPassphrase: request.hasPassphrase,
                    isLive: request.isLive, openingsMax: request.openingsMax,
                    name: request.name.map { .open(LinkName($0)) })),
            to: .audit(person), cause: place + 1)
        decision.reply = .link(id)
        return decision
    }

    /// Whether a link shows anything to those who have opened it.
    package func isInForce(_ id: LinkID, at now: Timestamp) -> Bool {
        guard let link = links[id], !link.hasEnded, let grant = grants[link.grant] else { return false }
        return grant.until.map { now < $0 } ?? true
    }

    /// Whether a secret of this hash opens a link now, if it is not opened too often.
    package func opensLink(_ hash: Hash256, at now: Timestamp) -> Bool {
        guard let id = links.link(hash: hash), let link = links[id], link.isOpen, let grant = grants[link.grant] else {
            return false
        }
        return grant.isInForce(at: now)
    }

    /// Opens a link for the holder of its secret: a token with hash `token` and the scope `query`, until the link ends or,
    /// without ``ShareLink/isLive``, for ``Limits/linkLookSeconds``.
    ///
    /// - Parameter isSession: Whether the token is good only as the page's cookie.
    /// - Throws: The same ``Refusal/notAuthenticated`` for an unknown secret, a wrong passphrase, and a link that has
    ///   ended, has not begun, or was opened often enough.
    func openLink(
        _ hash: Hash256, token: Hash256, isSession: Bool, at now: Timestamp
    ) throws(Refusal) -> Decision {
        guard opensLink(hash, at: now), let id = links.link(hash: hash), let link = links[id],
            tokens.hashed(token) == nil
        else { throw .notAuthenticated }
        let next = link.openings.earliest(at: Limits.linkOpenings, now: now)
        guard next <= now else { throw .tooOften(seconds: max(1, Int64(next.seconds(since: now).rounded(.up)))) }
        let stream = StreamID.audit(link.subject)
        var decision = Decision()
        decision.append(.linkOpened(id), to: stream)
        let opened = liveTokens(at: now) { $0.principal == id.principal }
        for old in opened.prefix(max(0, opened.count + 1 - Limits.openedPerLink)) {
            decision.append(.tokenRevoked(old), to: stream)
        }
        let latest = now.adding(seconds: link.isLive ? Limits.sessionSeconds : Limits.linkLookSeconds)
        let issued = TokenID(rawValue: tokens.next)
        decision.append(
            .tokenIssued(
                AccessToken(
                    id: issued, principal: id.principal, scopes: isSession ? [.query, .session] : .query, hash: token,
                    until: min(latest, grants[link.grant]?.until ?? latest), madeFrom: nil)),
            to: stream, cause: place + 1)
        decision.reply = .token(issued)
        return decision
    }

    /// Ends a link with its grant, and signs out every viewer who has opened it.
    func endLink(_ id: LinkID, by caller: Caller, at now: Timestamp) throws(Refusal) -> Decision {
        guard let link = links[id], !link.hasEnded, let handle = persons[link.subject]?.handle,
            case .success = authorize(caller, to: .manage, about: handle, at: now)
        else { throw .notFound }
        let stream = StreamID.audit(link.subject)
        var decision = Decision()
        decision.append(.linkEnded(id), to: stream)
        if grants[link.grant] != nil { decision.append(.grantRevoked(link.grant), to: stream, cause: place + 1) }
        for token in liveTokens(at: now, where: { $0.principal == id.principal }) {
            decision.append(.tokenRevoked(token), to: stream, cause: place + 1)
        }
        return decision
    }
}

extension Order where Reply == LinkID {
    /// ``Command/addLink(of:_:_:)``
    package static func addLink(of person: Handle, _ terms: GrantTerms, _ request: LinkRequest) -> Order {
        Order(.addLink(of: person, terms, request)) { if case .link(let id) = $0 { id } else { nil } }
    }
}

extension Order where Reply == TokenID {
    /// ``Command/openLink(_:token:isSession:)``
    package static func openLink(_ hash: Hash256, token: Hash256, isSession: Bool) -> Order {
        Order(.openLink(hash, token: token, isSession: isSession)) { $0.token }
    }
}
