/// A message was given up, because the target accepted none of its tries.
enum WebhookFailed: Fact {
    static let kind = EventKind.webhookFailed
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .webhook
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: WebhookFailure?
        if case .webhookFailed(let failure)? = event { given = failure }
        let webhook = try fact.clear.required(1, "webhook", given?.webhook)
        let number = try fact.clear.required(2, Label("item", .eventNumber), given?.item.number)
        let ordinal = try fact.clear.required(3, .hidden("which item of that event"), given?.item.ordinal)
        let tries = try fact.clear.required(4, Label("tries", .ordinal), given?.tries)
        let status = try fact.clear.optional(
            5, Label("status", .range(100...599), absent: "no answer"), given?.status)
        let reason = try fact.clear.optional(6, Label("reason", absent: "there was an answer"), given?.reason)
        return .webhookFailed(
            WebhookFailure(
                webhook: webhook, item: FeedPlace(number: number, ordinal: ordinal), tries: tries, status: status,
                reason: reason, message: try fact.part(.rest, given?.message)))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .webhookFailed(let failure) = recorded.event else { return .nothing }
        return .quietChange(SettingChange(item: failure.webhook.rawValue))
    }
}

extension WebhookFailure.Message: SealedContent {
    package static let rule = "webhook-message"

    package static func visit<V: FieldVisitor>(_ given: Self?, _ fields: inout V) throws(V.Failure) -> Self {
        let question = try fields.required(1, .hidden("which reading it is"), given?.question)
        return Self(question: question, body: try fields.required(2, .hidden("body"), given?.body))
    }

    package func show(in shown: inout ShownFields) { shown.add("message", .json(body)) }
}
