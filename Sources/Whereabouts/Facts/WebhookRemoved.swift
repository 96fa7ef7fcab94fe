/// A webhook is gone.
enum WebhookRemoved: Fact {
    static let kind = EventKind.webhookRemoved
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .webhook
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: WebhookID?
        if case .webhookRemoved(let webhook)? = event { given = webhook }
        return .webhookRemoved(try fact.clear.required(1, "webhook", given))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .webhookRemoved(let webhook) = recorded.event else { return .nothing }
        return .change(SettingChange(item: webhook.rawValue))
    }
}
