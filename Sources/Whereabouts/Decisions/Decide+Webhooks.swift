// Who is told by posts to a target of their own, and what became of the posts.

extension Standing {
    /// Only the person makes one, as only the person opens a stream of what happens: it acts by the token that was shown,
    /// and ends its telling with it.
    func addWebhook(
        of handle: Handle, _ target: WebhookTarget, _ topics: FeedTopics, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        let person = try manage(handle, by: caller, at: now)
        let live = ReadQuestion(subject: handle, question: .live, from: nil, to: nil, purpose: nil)
        guard caller.principal == person.principal, let token = caller.token,
            case .success = authorize(caller, toRead: live, at: now)
        else { throw .noSuchPerson }
        guard webhooks(of: person).count < Limits.webhooksPerPerson else {
            throw .invalid("There are at most \(Limits.webhooksPerPerson) webhooks a person; remove one first.")
        }
        guard webhooks.count < Limits.webhooks else {
            throw .invalid("The service looks after \(Limits.webhooks) webhooks, and no more; ask its operator.")
        }
        var decision = Decision()
        decision.append(.webhookAdded(token: token, topics, .open(target)), to: .audit(person))
        decision.reply = .webhook(WebhookID(rawValue: place + 1))
        return decision
    }

    func removeWebhook(
        _ id: WebhookID, of handle: Handle, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        let person = try manage(handle, by: caller, at: now)
        guard webhooks[id]?.person == person else { throw .notFound }
        var decision = Decision()
        decision.append(.webhookRemoved(id), to: .audit(person))
        return decision
    }

    func discardDeadLetter(
        _ letter: DeadLetterID, of id: WebhookID, _ handle: Handle, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        let person = try owner(of: letter, id, handle, by: caller, at: now)
        var decision = Decision()
        decision.append(.webhookSettled(id, .discarded(letter)), to: .audit(person), cause: letter.rawValue)
        return decision
    }

    func retryDeadLetter(
        _ letter: DeadLetterID, of id: WebhookID, _ handle: Handle, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        let person = try owner(of: letter, id, handle, by: caller, at: now)
        var decision = Decision()
        decision.append(.operatorActed(.retryMessage(id, letter)), to: .audit(person), cause: letter.rawValue)
        return decision
    }

    private func owner(
        of letter: DeadLetterID, _ id: WebhookID, _ handle: Handle, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> PersonID {
        let person = try manage(handle, by: caller, at: now)
        guard let webhook = webhooks[id], webhook.person == person, webhook.letters[letter] != nil else {
            throw .notFound
        }
        return person
    }

    /// Nothing when there is nothing left to settle: what was told while the webhook was removed.
    func settleWebhook(
        _ id: WebhookID, _ settlement: WebhookSettlement, by caller: Caller
    ) throws(Refusal) -> Decision {
        try requireHouse(caller)
        var decision = Decision()
        guard let webhook = webhooks[id], webhook.isOpen(settlement) else { return decision }
        decision.append(.webhookSettled(id, settlement), to: .audit(webhook.person), cause: id.rawValue)
        return decision
    }

    func failWebhook(_ failure: WebhookFailure, by caller: Caller) throws(Refusal) -> Decision {
        try requireHouse(caller)
        var decision = Decision()
        guard let webhook = webhooks[failure.webhook] else { return decision }
        decision.append(.webhookFailed(failure), to: .audit(webhook.person), cause: failure.item.number)
        return decision
    }
}
