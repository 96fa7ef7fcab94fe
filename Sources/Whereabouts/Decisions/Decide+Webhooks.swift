// Webhooks of persons, and the outcomes of their posts.

extension Standing {
    /// Only the person can add a webhook, just as only the person can open a live stream. The webhook acts with the
    /// token that adds it, and ends with that token.
    ///
    /// A session issues a token for the webhook, which may read what the session may and do nothing else. The token
    /// lasts until the webhook is removed, or until the token is revoked from which the session was opened.
    ///
    /// - Parameter ownToken: The hash of that token. Nobody has the token itself.
    func addWebhook(
        of handle: Handle, _ target: WebhookTarget, _ topics: FeedTopics, _ terms: NoticeTerms, ownToken: Hash256?,
        by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        let person = try manage(handle, by: caller, at: now)
        let live = ReadQuestion(subject: handle, question: .live, from: nil, to: nil, purpose: nil)
        guard caller.principal == person.principal, let token = caller.token,
            case .success = authorize(caller, toRead: live, at: now)
        else { throw .noSuchPerson }
        let isSession = tokens[token]?.issued.scopes.contains(.session) ?? true
        guard !isSession || ownToken.map({ tokens.hashed($0) == nil }) ?? false else {
            throw .invalid("A webhook ends with the token that adds it; add it with a token instead of a session.")
        }
        // A tracker shows locations, which the feed of a token without that right omits.
        if terms.kind == .homeAssistant {
            let location = ReadQuestion(subject: handle, question: .location, from: nil, to: nil, purpose: nil)
            guard case .success = authorize(caller, toRead: location, at: now) else { throw .noSuchPerson }
        }
        precondition(
            (terms.kind == .email) == (terms.codeHash != nil), "An address of mail has a code, others have none.")
        guard topics.contains(.silence) == (terms.silentAfterSeconds != nil),
            terms.silentAfterSeconds.map(Limits.silenceSeconds.contains) ?? true
        else {
            throw .invalid(
                "The topic silence needs a length of \(Limits.silenceSeconds.lowerBound) to \(Limits.silenceSeconds.upperBound) seconds."
            )
        }
        guard webhooks.of(person).count < Limits.webhooksPerPerson else {
            throw .invalid("A person has at most \(Limits.webhooksPerPerson) webhooks; remove one first.")
        }
        guard webhooks.all.count < Limits.webhooks else {
            throw .invalid("The service has \(Limits.webhooks) webhooks, its limit; ask its operator.")
        }
        let tree = tree(of: person)
        let ofTree = webhooks.all.values.count { self.tree(of: $0.person) == tree }
        guard ofTree < max(Limits.webhooksPerPerson, Limits.webhooks - webhooks.all.count) else {
            throw .invalid(
                "Accounts from the same invitation have too many webhooks; remove one, or ask the operator.")
        }
        var decision = Decision()
        guard isSession, let ownToken else {
            decision.append(.webhookAdded(token: token, topics, terms, .open(target)), to: .audit(person))
            decision.reply = .webhook(WebhookID(rawValue: place + 1))
            return decision
        }
        let own = AccessToken(
            id: TokenID(rawValue: tokens.next), principal: person.principal,
            scopes: caller.scopes.intersection(Self.noticeScopes), hash: ownToken, until: nil, madeFrom: root(of: token)
        )
        decision.append(.tokenIssued(own), to: .audit(person))
        decision.append(.webhookAdded(token: own.id, topics, terms, .open(target)), to: .audit(person))
        decision.reply = .webhook(WebhookID(rawValue: place + 2))
        return decision
    }

    /// Begins the messages of a webhook whose address was unconfirmed. Makes no event if it is confirmed already.
    func confirm(
        _ id: WebhookID, of handle: Handle, _ codeHash: Hash256, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        let person = try manage(handle, by: caller, at: now)
        guard let webhook = webhooks[id], webhook.person == person else { throw .notFound }
        var decision = Decision()
        guard let wanted = webhook.terms.codeHash else { return decision }
        guard wanted == codeHash, webhook.codeUntil.map({ now < $0 }) ?? false else {
            throw .invalid("The code is wrong or older than a day; remove the webhook and add it again for a new one.")
        }
        decision.append(.webhookConfirmed(id), to: .audit(person), cause: id.rawValue)
        return decision
    }

    /// Records the devices that have fallen silent: once for each silence and length that webhooks chose. At most
    /// ``Limits/silencesAtOnce``.
    func noteSilences(by caller: Caller, at now: Timestamp) throws(Refusal) -> Decision {
        try requireHouse(caller)
        var decision = Decision()
        for silence in newSilences(at: now).prefix(Limits.silencesAtOnce) {
            guard let person = devices[silence.device]?.person else { continue }
            decision.append(.phoneFellSilent(silence), to: .audit(person))
        }
        return decision
    }

    /// The most that a webhook's own token may do. A token that adds a webhook itself has the scope `manage` too.
    private static let noticeScopes: Scopes = [.query, .audit]

    /// Removes a webhook, with its dead letters and the token that was issued for it.
    func removeWebhook(
        _ id: WebhookID, of handle: Handle, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        let person = try manage(handle, by: caller, at: now)
        guard webhooks[id]?.person == person else { throw .notFound }
        var decision = Decision()
        decision.append(.webhookRemoved(id), to: .audit(person))
        let own = liveTokens(at: now) { $0.id == webhooks[id]?.token && Self.noticeScopes.isSuperset(of: $0.scopes) }
        for token in own { decision.append(.tokenRevoked(token), to: .audit(person)) }
        return decision
    }

    /// Drops a message that was given up.
    func discardDeadLetter(
        _ letter: DeadLetterID, of id: WebhookID, _ handle: Handle, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        let person = try owner(of: letter, id, handle, by: caller, at: now)
        var decision = Decision()
        decision.append(.webhookSettled(id, .discarded(letter)), to: .audit(person), cause: letter.rawValue)
        return decision
    }

    /// Records the request to post a message again. The event does not settle it; the next success does.
    func retryDeadLetter(
        _ letter: DeadLetterID, of id: WebhookID, _ handle: Handle, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        let person = try owner(of: letter, id, handle, by: caller, at: now)
        var decision = Decision()
        decision.append(.operatorActed(.retryMessage(id, letter)), to: .audit(person), cause: letter.rawValue)
        return decision
    }

    /// Records the request for a test message, which then follows the messages that wait.
    ///
    /// A webhook that would not send it, or has not sent the last one, is refused with the reason.
    func testWebhook(
        _ id: WebhookID, of handle: Handle, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        let person = try manage(handle, by: caller, at: now)
        // As for adding it: who may not read the feed may not have it sent.
        guard caller.scopes.contains(.audit) else { throw .noSuchPerson }
        guard let webhook = webhooks[id], webhook.person == person else { throw .notFound }
        if webhook.terms.kind == .homeAssistant, let person = persons[person] {
            guard !person.sharing.pauses.contains(where: { $0.contains(now) }) else {
                throw .invalid("Sharing is paused, so Home Assistant has no tracker; resume sharing first.")
            }
            guard person.countedFix != nil else {
                throw .invalid("Home Assistant has no tracker until a device has reported a location.")
            }
        }
        guard !webhook.isUnconfirmed else {
            throw .invalid("The address is not confirmed yet; enter the code that was mailed to it first.")
        }
        guard !webhook.isStopped else {
            throw .invalid("The webhook has stopped after failures; retry or discard its dead letters first.")
        }
        guard self.caller(of: webhook, at: now) != nil else {
            throw .invalid("The webhook's token is no longer valid; remove the webhook and add it again.")
        }
        guard webhook.testOutcome != .waiting else {
            throw .invalid("The last test message has not been accepted yet; the list of webhooks shows why.")
        }
        let next = webhook.tests.earliest(at: Limits.testsPerWebhook, now: now)
        guard next <= now else { throw .tooManyTests(seconds: Int64(next.seconds(since: now).rounded(.up))) }
        var decision = Decision()
        decision.append(.operatorActed(.testWebhook(id)), to: .audit(person), cause: id.rawValue)
        return decision
    }

    /// The person, if the caller may manage them and the webhook has this dead letter; ``Refusal/notFound`` otherwise.
    private func owner(
        of letter: DeadLetterID, _ id: WebhookID, _ handle: Handle, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> PersonID {
        let person = try manage(handle, by: caller, at: now)
        guard let webhook = webhooks[id], webhook.person == person, webhook.letters[letter] != nil else {
            throw .notFound
        }
        return person
    }

    /// Does nothing if nothing is left to settle, for example if the webhook was removed meanwhile.
    func settleWebhook(
        _ id: WebhookID, _ settlement: WebhookSettlement, by caller: Caller
    ) throws(Refusal) -> Decision {
        try requireHouse(caller)
        var decision = Decision()
        guard let webhook = webhooks[id], webhook.isOpen(settlement) else { return decision }
        decision.append(.webhookSettled(id, settlement), to: .audit(webhook.person), cause: id.rawValue)
        return decision
    }

    /// Records that a message was given up. Makes no event if the webhook was removed meanwhile.
    func failWebhook(_ failure: WebhookFailure, by caller: Caller) throws(Refusal) -> Decision {
        try requireHouse(caller)
        var decision = Decision()
        guard let webhook = webhooks[failure.webhook] else { return decision }
        decision.append(.webhookFailed(failure), to: .audit(webhook.person), cause: failure.item.number)
        return decision
    }
}

extension Order where Reply == WebhookID {
    /// ``Command/addWebhook(of:_:_:_:ownToken:)``
    package static func addWebhook(
        of person: Handle, _ target: WebhookTarget, _ topics: FeedTopics, _ terms: NoticeTerms,
        ownToken: Hash256? = nil
    ) -> Order {
        Order(.addWebhook(of: person, target, topics, terms, ownToken: ownToken)) {
            if case .webhook(let id) = $0 { id } else { nil }
        }
    }
}
