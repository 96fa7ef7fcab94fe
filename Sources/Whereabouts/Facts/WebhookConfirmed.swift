/// The person has confirmed the address with the mailed code. The webhook now mails its messages.
enum WebhookConfirmed: Fact {
    static let kind = EventKind.webhookConfirmed
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .webhook
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: WebhookID?
        if case .webhookConfirmed(let webhook)? = event { given = webhook }
        return .webhookConfirmed(try fact.clear.required(1, "webhook", given))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .webhookConfirmed(let webhook) = recorded.event else { return .nothing }
        return .change(SettingChange(item: webhook.rawValue))
    }
}
