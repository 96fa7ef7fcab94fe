/// The service posts the person's feed to a target.
enum WebhookAdded: Fact {
    static let kind = EventKind.webhookAdded
    static let streams: FactStreams = .audit
    static let item = ChangedItem.webhook
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (token: TokenID, topics: FeedTopics, target: Part<WebhookTarget>)?
        if case .webhookAdded(let token, let topics, let target)? = event { given = (token, topics, target) }
        let token = try fact.clear.required(1, "token", given?.token)
        let topics = try fact.clear.required(2, "topics", given?.topics)
        return .webhookAdded(token: token, topics, try fact.part(.rest, given?.target))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .webhookAdded(_, _, let target) = recorded.event else { return .nothing }
        return .change(SettingChange(item: recorded.number, name: target.content?.origin))
    }

    static func reply(to recorded: RecordedEvent) -> CommandReply? { .webhook(WebhookID(rawValue: recorded.number)) }
}

extension WebhookTarget: SealedContent {
    package static let rule = "webhook-target"

    package static func visit<V: FieldVisitor>(_ given: Self?, _ fields: inout V) throws(V.Failure) -> Self {
        let url = try fields.required(1, .hidden("URL"), given?.url)
        return Self(url: url, secret: try fields.required(2, .hidden("key of the signatures"), given?.secret))
    }

    /// The rest of the URL may hold a secret of the receiver.
    package func show(in shown: inout ShownFields) { shown.add("target", .text(origin)) }
}
