// Location queries: asked, pushed, ended, disclosed; and reads of stored data.

extension Standing {
    /// Decides a query: a refusal, an answer by a known fix, a request for consent, or an open query.
    ///
    /// A refusal is an event too, and the decision then has a ``Decision/refusal``. A thrown refusal makes no event,
    /// for example of a malformed question or for too many open queries.
    func queryLocation(
        _ question: LocationQuestion, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        guard !question.purpose.isEmpty, question.purpose.unicodeScalars.count <= Limits.purposeCharacters else {
            throw .invalid("Say why you ask, in 1 to \(Limits.purposeCharacters) characters: the person will read it.")
        }
        guard (1...Limits.longestQueryDeadlineSeconds).contains(question.deadlineSeconds) else {
            throw .invalid("A query's deadline must be 1 to \(Limits.longestQueryDeadlineSeconds) seconds away.")
        }
        guard (0...Limits.longestQueryDeadlineSeconds).contains(question.maxAgeSeconds) else {
            throw .invalid("The accepted age of a fix must be 0 to \(Limits.longestQueryDeadlineSeconds) seconds.")
        }
        guard queries[question.id] == nil else { throw .invalid("This query id is taken; leave it out.") }
        guard queries.openCount < Limits.openQueries else { throw .tooManyQueries }
        let isPerson = persons[PersonID(rawValue: caller.principal.rawValue)] != nil && caller.scopes.contains(.query)
        func query(_ subject: PersonID?, _ verdict: Verdict) -> Event {
            .locationQueried(
                LocationQuery(
                    id: question.id, subject: subject, requester: caller.principal, verdict: verdict,
                    initiation: question.initiation, deadline: now.adding(seconds: question.deadlineSeconds),
                    maxAgeSeconds: question.maxAgeSeconds, purposeForSubject: .open(question.purpose),
                    purposeForRequester: isPerson ? .open(question.purpose) : nil))
        }
        var decision = Decision()
        switch authorize(caller, to: .ask, about: question.subject, at: now) {
        case .failure(let refused):
            guard isPerson else { throw .noSuchPerson }
            recordRefusal(
                query(refused.subject, .refused(refused.code)), about: refused.subject, by: caller, at: now, &decision)
        case .success(let permit):
            // Requesters with a grant have fewer, because ``Limits/pushesPerAsker`` limits them.
            let underWay = queries.open(about: permit.subject)
            guard underWay.count(where: { queries[$0]?.requester == caller.principal }) < Limits.openQueriesPerAsker
            else { throw .tooManyOwnQueries }
            let known = knownFix(permit, maxAgeSeconds: question.maxAgeSeconds, at: now)
            if let seconds = secondsUntil(
                known == nil ? .push : .read, under: permit.verdict, of: caller.principal, about: permit.subject,
                at: now)
            {
                recordRefusal(
                    query(permit.subject, .refused(.tooOften)), about: permit.subject, as: .tooOften(seconds: seconds),
                    by: caller, at: now, &decision)
                break
            }
            decision.append(query(permit.subject, permit.verdict), to: .audit(permit.subject))
            decision.reply = .query(question.id)
            if permit.asksEachTime, !permit.isPaused(at: now) {
                decision.append(.consentAsked(question.id), to: .audit(permit.subject), cause: place + 1)
            } else if let newest = known {
                decision.append(
                    .locationQueryEnded(question.id, .answeredFromLastKnown, fix: newest.number),
                    to: .audit(permit.subject), cause: place + 1)
            } else if permit.isPaused(at: now) {
                // To the requester, a pause looks like a phone that does not answer. A fix from before the pause is
                // shown as for such a phone.
                decision.append(
                    .locationQueryEnded(question.id, .refused, fix: nil), to: .audit(permit.subject), cause: place + 1)
            }
        }
        return decision
    }

    /// The newest fix, if it is young enough to answer without a push.
    ///
    /// A requester with a coarse grant gets the age that the grant shows. Otherwise varying the age would disclose the
    /// exact second of the fix.
    private func knownFix(_ permit: Permit, maxAgeSeconds: Int64, at now: Timestamp) -> NewestFix? {
        guard !permit.asksEachTime, let newest = newestFix(under: permit),
            permit.precision.shown(newest.timestamp).adding(seconds: maxAgeSeconds) >= now
        else { return nil }
        return newest
    }

    /// Records a refusal, or counts it if the requester was refused often in this minute. The answer is the one for
    /// strangers, except for a requester with the right, who learns that it was too often.
    func recordRefusal(
        _ event: Event, about subject: PersonID?, as refusal: Refusal = .noSuchPerson, by caller: Caller,
        at now: Timestamp, _ decision: inout Decision
    ) {
        decision.refusal = refusal
        if requests.areRefusalsCounted(of: caller.principal, at: now) {
            decision.isCountedRefusal = true
            return
        }
        decision.append(event, to: subject.map(StreamID.audit) ?? .house)
    }

    /// Records the number of a requester's refusals in a minute, beyond those recorded one by one.
    func countRefusals(
        by principal: PrincipalID, count: Int64, since: Timestamp, by caller: Caller
    ) throws(Refusal) -> Decision {
        try requireHouse(caller)
        var decision = Decision()
        decision.append(.refusalsCounted(by: principal, count: count, since: since), to: .house)
        return decision
    }

    /// Ends a query whose pushes have all failed for good, unless one of them may have arrived; see
    /// ``unansweredEnd(of:)``.
    func endFailedQuery(_ id: QueryID, by caller: Caller) throws(Refusal) -> Decision {
        try requireHouse(caller)
        var decision = Decision()
        if let query = queries[id], query.end == nil, unansweredEnd(of: query) == .pushFailed {
            decision.append(
                .locationQueryEnded(id, .pushFailed, fix: nil), to: .audit(query.subject), cause: query.number)
        }
        return decision
    }

    func endOverdueQueries(by caller: Caller, _ questionTime: QuestionTime) throws(Refusal) -> Decision {
        try requireHouse(caller)
        var decision = Decision()
        for id in queries.order {
            guard let query = queries[id] else { continue }
            let time = questionTime(id, query)
            if let answer = coarseAnswer(to: query, at: time) {
                decision.append(
                    .locationQueryEnded(id, .answered, fix: answer.number), to: .audit(query.subject),
                    cause: answer.number)
            } else if query.isOverdue(at: time) {
                decision.append(
                    .locationQueryEnded(id, unansweredEnd(of: query), fix: nil), to: .audit(query.subject),
                    cause: query.number)
            } else {
                continue
            }
            if decision.drafts.count == Limits.batchCommands { break }
        }
        return decision
    }

    func cancelQuery(_ id: QueryID, by caller: Caller) throws(Refusal) -> Decision {
        guard caller.scopes.contains(.query), let query = queries[id], query.requester == caller.principal
        else { throw .notFound }
        var decision = Decision()
        if query.end == nil {
            decision.append(
                .locationQueryEnded(id, .cancelled, fix: nil), to: .audit(query.subject), cause: query.number)
        }
        return decision
    }

    /// The gate for answers to location queries. It is decided against the newest standing: if the grant was revoked or
    /// the person erased since the answer was computed, the answer is dropped.
    func disclose(
        _ id: QueryID, _ content: Disclosure.Content, precision: Precision, fix: Int64, by caller: Caller,
        at now: Timestamp
    ) throws(Refusal) -> Decision {
        guard let query = queries[id], query.requester == caller.principal,
            query.end == .answered
                || query.end == .answeredFromLastKnown, query.fix == fix, let person = persons[query.subject],
            let subject = person.handle, !person.withdrawn.numbers.contains(fix)
        else { throw .noSuchPerson }
        guard case .success(let permit) = authorize(caller, to: .ask, about: subject, at: now),
            permit.verdict == query.verdict, permit.precision == precision
        else { throw .noSuchPerson }
        var decision = Decision()
        if query.isDisclosed,
            let seconds = secondsUntil(
                .read, under: permit.verdict, of: caller.principal, about: query.subject, at: now)
        {
            let again = ReadQuestion(subject: subject, question: .location, from: nil, to: nil, purpose: nil)
            recordRefusal(
                refusedRead(again, about: query.subject, .tooOften, by: caller), about: query.subject,
                as: .tooOften(seconds: seconds), by: caller, at: now, &decision)
            return decision
        }
        decision.append(
            .locationDisclosed(
                Disclosure(
                    query: id, subject: query.subject, requester: caller.principal, verdict: permit.verdict,
                    precision: precision, fix: fix, content: .open(content))),
            to: .audit(query.subject), cause: query.number)
        return decision
    }

    /// The gate for answers from stored data, like ``disclose(_:_:precision:fix:by:at:)`` for queries.
    func recordRead(_ command: Command, by caller: Caller, at now: Timestamp) throws(Refusal) -> Decision {
        guard case .recordRead(let question, let permitted, let asOf, let count, let hash, let envelopes) = command
        else { preconditionFailure("The command is not a read.") }
        guard case .success(let permit) = authorize(caller, toRead: question, at: now), permit == permitted else {
            throw .noSuchPerson
        }
        // The person and the operator may also read what was known before a withdrawal.
        let isForOthers = permit.verdict != .own && permit.verdict != .operatorOnRecord
        if question.question.showsFixes, isForOthers, let person = persons[permit.subject],
            asOf < person.withdrawn.through
        {
            throw .outdated
        }
        var decision = Decision()
        let begun = self.begun(question, under: permit, by: caller.principal, at: now)
        if begun == nil, let refusal = self.refusal(of: question, under: permit, by: caller, at: now, &decision) {
            decision.refusal = refusal
            return decision
        }
        decision.append(
            .locationRead(
                LocationRead(
                    subject: permit.subject, reader: caller.principal, question: question.question,
                    verdict: permit.verdict, precision: permit.precision, asOf: asOf, count: count,
                    continuing: begun?.id,
                    content: .open(
                        LocationRead.Content(
                            purpose: question.purpose, from: question.from, to: question.to, answerHash: hash,
                            envelopes: envelopes)))),
            to: .audit(permit.subject))
        return decision
    }

    func recordRefusedRead(
        _ question: ReadQuestion, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        var decision = Decision()
        switch authorize(caller, toRead: question, at: now) {
        case .success(let permit):
            // Refilled since the refusal: nothing to record, and the next attempt succeeds.
            decision.refusal =
                refusal(of: question, under: permit, by: caller, at: now, &decision) ?? .tooOften(seconds: 1)
        case .failure(let refused):
            // Only persons' refusals are recorded: the operator may see everyone, and a device's key reads nothing.
            guard persons[PersonID(rawValue: caller.principal.rawValue)] != nil else { throw .noSuchPerson }
            recordRefusal(
                refusedRead(question, about: refused.subject, refused.code, by: caller), about: refused.subject,
                by: caller, at: now, &decision)
        }
        return decision
    }

    /// Records that a read comes too often; `nil` if it does not.
    private func refusal(
        of question: ReadQuestion, under permit: Permit, by caller: Caller, at now: Timestamp,
        _ decision: inout Decision
    ) -> Refusal? {
        guard
            let seconds = secondsUntil(
                .read, under: permit.verdict, of: caller.principal, about: permit.subject, at: now)
        else { return nil }
        recordRefusal(
            refusedRead(question, about: permit.subject, .tooOften, by: caller), about: permit.subject,
            as: .tooOften(seconds: seconds), by: caller, at: now, &decision)
        return decision.refusal
    }

    private func refusedRead(
        _ question: ReadQuestion, about subject: PersonID?, _ code: RefusalCode, by caller: Caller
    ) -> Event {
        .locationRead(
            LocationRead(
                subject: subject, reader: caller.principal, question: question.question, verdict: .refused(code),
                precision: .none, asOf: place, count: 0,
                content: .open(
                    LocationRead.Content(
                        purpose: question.purpose, from: question.from, to: question.to, answerHash: nil))))
    }
}
