// Steps of the fold that take more than a line.

extension Standing {
    mutating func addWebhook(
        _ recorded: RecordedEvent, _ token: TokenID, _ topics: FeedTopics, _ terms: NoticeTerms
    ) {
        guard let person = recorded.stream.person else { return }
        webhooks[WebhookID(rawValue: recorded.number)] = Webhook(
            person: person, token: token, topics: topics, terms: terms, addedBy: recorded.number,
            at: recorded.recordedAt)
    }

    /// An envelope ends a silence like an open fix; nothing else of it is known.
    mutating func foldSealed(_ recorded: RecordedEvent, device: DeviceID) {
        devices.change(device) { $0.reports.hear(at: recorded.recordedAt) }
    }

    /// Changes the keys of the person in whose stream the event is.
    mutating func keys(of person: PersonID?, _ change: (inout SealingKeys.Keys) -> Void) {
        if let person { sealingKeys.change(person, change) }
    }

    mutating func foldFix(_ recorded: RecordedEvent, device: DeviceID, _ part: Part<Fix>) {
        guard case .open(let fix) = part, let person = recorded.stream.person else { return }
        // In place: taking a value out of its table and putting it back costs as much as the rest of the fold.
        let isOwn = fix.receivedAt == nil && (recorded.actor == device.principal || recorded.actor == .house)
        let isShown = Fix.isUsable(
            timestamp: fix.timestamp, coordinate: fix.coordinate, horizontalAccuracy: fix.horizontalAccuracy,
            receivedAt: recorded.receipt(of: fix))
        devices.change(device) {
            $0.reports.note(fix.timestamp)
            if isShown { $0.reports.note(usable: fix.timestamp, number: recorded.number) }
            if isOwn { $0.reports.hear(at: recorded.recordedAt) }
        }
        // A fix that folds would not use as the newest location must not answer a query either.
        let isUsable =
            (fix.horizontalAccuracy ?? 0) >= 0
            && fix.timestamp <= (fix.receivedAt ?? recorded.recordedAt).adding(seconds: Limits.futureUnusedSeconds)
        if isUsable { persons.change(person) { $0.newest.note(fix, number: recorded.number) } }
    }
}
