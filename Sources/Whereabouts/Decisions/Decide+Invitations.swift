// Invitations: grants that are offered with a code.

extension Standing {
    /// The end of an invitation to a grant or an account must be within a week and in the future.
    func requireInvitationEnd(_ expires: Timestamp, at now: Timestamp) throws(Refusal) {
        guard expires > now, expires <= now.adding(seconds: Limits.longestInvitationSeconds) else {
            throw .invalid("An invitation must end in the future, within a week; choose another end.")
        }
    }

    /// Makes an invitation with the hash of its code, and withdraws the person's expired ones.
    ///
    /// The terms are checked now and again at the redemption, from which a default length counts.
    func invite(
        subject: Handle, _ terms: GrantTerms, hash: Hash256, expires: Timestamp, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        let person = try manage(subject, by: caller, at: now)
        _ = try limited(terms, at: now)
        try requireInvitationEnd(expires, at: now)
        guard invitations.hashed(hash) == nil else { throw .invalid("This code exists already; try again.") }
        let open = (persons[person]?.sharing.invitations ?? []).compactMap { invitations[$0] }.count {
            $0.expires > now
        }
        guard open < Limits.invitationsPerPerson else {
            throw .invalid("There are \(Limits.invitationsPerPerson) open invitations; withdraw one first.")
        }
        let id = InvitationID(rawValue: invitations.next)
        let bare = GrantTerms(
            precision: terms.precision, includesHistory: terms.includesHistory, asksEachTime: terms.asksEachTime,
            from: terms.from, until: terms.until)
        var decision = Decision()
        // Expired invitations are forgotten when a new one is made.
        for id in persons[person]?.sharing.invitations ?? [] where invitations[id].map({ $0.expires <= now }) ?? false {
            decision.append(.invitationWithdrawn(id), to: .audit(person))
        }
        decision.append(
            .invitationMade(
                Invitation(
                    id: id, subject: person, hash: hash, expires: expires, terms: bare,
                    detail: terms.hours.map { .open($0) })),
            to: .audit(person))
        decision.reply = .invitation(id)
        return decision
    }

    /// Withdraws an invitation. Its code then gets the same answer as a wrong one.
    func withdrawInvitation(_ id: InvitationID, by caller: Caller, at now: Timestamp) throws(Refusal) -> Decision {
        guard let invitation = invitations[id], let handle = persons[invitation.subject]?.handle,
            case .success = authorize(caller, to: .manage, about: handle, at: now)
        else { throw .notFound }
        var decision = Decision()
        decision.append(.invitationWithdrawn(id), to: .audit(invitation.subject))
        return decision
    }

    /// Gives the caller the grant of an open invitation whose code has this hash, once. A wrong code costs as much as a
    /// refused query: after ``Limits/refusalsRecordedAMinute`` of them, no code works for the rest of the minute.
    func redeemInvitation(_ hash: Hash256, by caller: Caller, at now: Timestamp) throws(Refusal) -> Decision {
        let person = PersonID(rawValue: caller.principal.rawValue)
        guard caller.scopes.contains(.query), persons[person] != nil else { throw .notFound }
        var decision = Decision()
        guard !requests.areRefusalsCounted(of: caller.principal, at: now), let id = invitations.hashed(hash),
            let invitation = invitations[id],
            now < invitation.expires, let terms = terms(of: invitation, at: now)
        else {
            recordRefusal(
                .invitationRefused(by: caller.principal), about: nil, as: .noSuchInvitation, by: caller, at: now,
                &decision)
            return decision
        }
        guard invitation.subject != person else {
            throw .invalid("You need no grant for your own data; give the code to another person.")
        }
        try requireRoomForGrant(of: invitation.subject, at: now)
        let grant = GrantID(rawValue: grants.next)
        decision.append(
            .grantGiven(Grant(id: grant, subject: invitation.subject, requester: person, terms, invitation: id)),
            to: .audit(invitation.subject))
        decision.reply = .grant(grant)
        return decision
    }

    /// The terms of the grant that the invitation gives now; `nil` if it would be over already, or cannot be read.
    private func terms(of invitation: Invitation, at now: Timestamp) -> GrantTerms? {
        var hours: WeeklyHours?
        if let detail = invitation.detail {
            guard case .open(let content) = detail else { return nil }
            hours = content
        }
        let terms = invitation.terms
        return try? limited(
            GrantTerms(
                precision: terms.precision, includesHistory: terms.includesHistory, asksEachTime: terms.asksEachTime,
                from: terms.from, until: terms.until, hours: hours), at: now)
    }
}

extension Order where Reply == GrantID {
    /// ``Command/redeemInvitation(_:)``
    package static func redeemInvitation(_ hash: Hash256) -> Order { Order(.redeemInvitation(hash)) { $0.grant } }
}

extension Order where Reply == InvitationID {
    /// ``Command/invite(subject:_:hash:expires:)``
    package static func invite(subject: Handle, _ terms: GrantTerms, hash: Hash256, expires: Timestamp) -> Order {
        Order(.invite(subject: subject, terms, hash: hash, expires: expires)) {
            if case .invitation(let id) = $0 { id } else { nil }
        }
    }
}
