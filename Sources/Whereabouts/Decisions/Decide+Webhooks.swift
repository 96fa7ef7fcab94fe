// Webhooks of persons, and the outcomes of their posts.

extension Standing {
    /// Only the person can add a webhook, just as only the person can open a live stream. The webhook acts with the
    /// token that adds it, and ends with that token.
    func addWebhook(
        of handle: Handle, _ target: WebhookTarget, _ topics: FeedTopics, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        let person = try manage(handle, by: caller, at: now)
        let live = ReadQuestion(subject: handle, question: .live, from: nil, to: nil, purpose: nil)
        guard caller.principal == person.principal, let token = caller.token,
            case .success = authorize(caller, toRead: live, at: now)
        else { throw .noSuchPerson }
        guard tokens[token]?.issued.scopes.contains(.session) == false else {
            throw .invalid("A webhook ends with the token that adds it; add it with a token instead of a session.")
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
        decision.append(.webhookAdded(token: token, topics, .open(target)), to: .audit(person))
        decision.reply = .webhook(WebhookID(rawValue: place + 1))
        return decision
    }

    /// Removes a webhook, with its dead letters.
    func removeWebhook(
        _ id: WebhookID, of handle: Handle, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        let person = try manage(handle, by: caller, at: now)
        guard webhooks[id]?.person == person else { throw .notFound }
        var decision = Decision()
        decision.append(.webhookRemoved(id), to: .audit(person))
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
