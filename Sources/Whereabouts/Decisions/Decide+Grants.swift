// Grants: given, revoked, paused, and with consent for each question.

extension Standing {
    /// A grant for a name without a person looks like any other, and never gets a holder: the answer does not disclose
    /// who exists.
    func giveGrant(
        subject: Handle, requester: Handle, _ terms: GrantTerms, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        let person = try manage(subject, by: caller, at: now)
        let other = persons.named(requester)
        // The operator sees who exists, and should learn of a typing error.
        guard other != nil || caller.principal != .operator else { throw .noSuchPerson }
        guard other != person else {
            throw .invalid("A person needs no grant for their own data; name another requester.")
        }
        let terms = try limited(terms, at: now)
        try requireRoomForGrant(of: person, at: now)
        let grant = GrantID(rawValue: grants.next)
        var decision = Decision()
        decision.append(
            .grantGiven(
                Grant(id: grant, subject: person, requester: other, name: other == nil ? requester : nil, terms)),
            to: .audit(person))
        decision.reply = .grant(grant)
        return decision
    }

    /// The terms with an end, `seconds` after the beginning if none is given. Every grant ends, because a forgotten one
    /// would continue to show the person.
    func limited(
        _ terms: GrantTerms, default seconds: Int64 = Limits.defaultGrantSeconds, at now: Timestamp
    ) throws(Refusal) -> GrantTerms {
        guard !(terms.asksEachTime && terms.includesHistory) else {
            throw .invalid("A grant that asks each time shows no history; leave one of the two out.")
        }
        let start = max(terms.from ?? now, now)
        guard start <= now.adding(seconds: Limits.longestGrantSeconds) else {
            throw .invalid("The grant would begin more than a year from now; choose an earlier beginning.")
        }
        let until = terms.until ?? start.adding(seconds: seconds)
        guard until > start else { throw .invalid("The grant would end before it begins; choose a later end.") }
        guard until <= start.adding(seconds: Limits.longestGrantSeconds) else {
            throw .invalid("A grant lasts a year at most; choose an earlier end, and give another one then.")
        }
        return GrantTerms(
            precision: terms.precision, includesHistory: terms.includesHistory, asksEachTime: terms.asksEachTime,
            from: terms.from, until: until, hours: terms.hours)
    }

    /// Throws ``Refusal/invalid(_:)`` if the person gives ``Limits/grantsPerPerson`` grants now. Grants that are over
    /// do not count.
    func requireRoomForGrant(of person: PersonID, at now: Timestamp) throws(Refusal) {
        let held = (persons[person]?.sharing.grants ?? []).count { grants[$0]?.until.map { now < $0 } ?? true }
        guard held < Limits.grantsPerPerson else {
            throw .invalid("A person gives at most \(Limits.grantsPerPerson) grants at a time; remove one first.")
        }
    }

    /// Ends the grant, and the queries under way by it.
    func revokeGrant(_ id: GrantID, by caller: Caller, at now: Timestamp) throws(Refusal) -> Decision {
        guard let grant = grants[id], let handle = persons[grant.subject]?.handle,
            case .success = authorize(caller, to: .manage, about: handle, at: now)
        else { throw .notFound }
        var decision = Decision()
        decision.append(.grantRevoked(id), to: .audit(grant.subject))
        endQueries(about: grant.subject, in: &decision) { $0 == .granted(id) }
        return decision
    }

    /// Ends the open queries about a person whose verdict is concerned. Their cause is the last event of the decision.
    private func endQueries(
        about subject: PersonID, in decision: inout Decision, where isConcerned: (Verdict) -> Bool
    ) {
        let cause = place + Int64(decision.drafts.count)
        for id in queries.open(about: subject) where queries[id].map({ isConcerned($0.verdict) }) ?? false {
            decision.append(.locationQueryEnded(id, .refused, fix: nil), to: .audit(subject), cause: cause)
        }
    }

    // MARK: Pausing

    /// Pauses all grants until a time, or until it is resumed, and ends the queries under way by grants.
    ///
    /// A second pause changes the end of the present one; the same one again makes no event.
    func pauseSharing(
        of handle: Handle, until: Timestamp?, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        let person = try manage(handle, by: caller, at: now)
        if let until, until <= now { throw .invalid("The pause would be over already; choose a later end.") }
        let pauses = persons[person]?.sharing.pauses ?? []
        var decision = Decision()
        if let last = pauses.last, last.contains(now) {
            guard last.until != until else { return decision }
        } else {
            guard pauses.count < Limits.pausesPerPerson else {
                throw .invalid("There were \(Limits.pausesPerPerson) pauses already; remove grants instead.")
            }
        }
        decision.append(.sharingPaused(person, until: until), to: .audit(person))
        endQueries(about: person, in: &decision) { if case .granted = $0 { true } else { false } }
        return decision
    }

    /// Ends the present pause; makes no event without one.
    func resumeSharing(of handle: Handle, by caller: Caller, at now: Timestamp) throws(Refusal) -> Decision {
        let person = try manage(handle, by: caller, at: now)
        var decision = Decision()
        if persons[person]?.sharing.pauses.last?.contains(now) == true {
            decision.append(.sharingResumed(person), to: .audit(person))
        }
        return decision
    }

    // MARK: Being asked each time

    /// Records the subject's consent or refusal. A refusal ends the query. After consent, a fix since the question
    /// answers at once, except for a coarse grant.
    ///
    /// - Throws: ``Refusal/notFound`` if the query is over, or does not wait for consent.
    func answerConsent(
        _ id: QueryID, of handle: Handle, isGiven: Bool, by caller: Caller, at now: Timestamp,
        questionTime: QuestionTime
    ) throws(Refusal) -> Decision {
        guard case .success(let permit) = authorize(caller, to: .consent, about: handle, at: now) else {
            throw .noSuchPerson
        }
        guard let query = queries[id], query.subject == permit.subject, query.end == nil, query.awaitsConsent,
            questionTime(id, query) < query.deadline
        else { throw .notFound }
        let audit = StreamID.audit(permit.subject)
        var decision = Decision()
        decision.append(isGiven ? .consentGiven(id) : .consentRefused(id), to: audit, cause: query.number)
        if !isGiven {
            decision.append(.locationQueryEnded(id, .refused, fix: nil), to: audit, cause: place + 1)
        } else if coarsePermit(of: query.verdict) == nil, let newest = persons[permit.subject]?.countedFix,
            newest.timestamp >= query.askedAt
        {
            decision.append(.locationQueryEnded(id, .answered, fix: newest.number), to: audit, cause: place + 1)
        }
        return decision
    }
}

extension Order where Reply == GrantID {
    /// ``Command/giveGrant(subject:requester:_:)``
    package static func giveGrant(subject: Handle, requester: Handle, _ terms: GrantTerms) -> Order {
        Order(.giveGrant(subject: subject, requester: requester, terms)) { $0.grant }
    }
}
