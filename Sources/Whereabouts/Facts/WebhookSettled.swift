/// The target accepted everything up to an event, or a message that had been given up was accepted or discarded.
enum WebhookSettled: Fact {
    static let kind = EventKind.webhookSettled
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .webhook
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (webhook: WebhookID, settlement: WebhookSettlement)?
        if case .webhookSettled(let webhook, let settlement)? = event { given = (webhook, settlement) }
        let webhook = try fact.clear.required(1, "webhook", given?.webhook)
        let settlement: WebhookSettlement
        switch try fact.clear.either([2, 3, 4], given?.settlement.index) {
        case 0:
            settlement = .told(
                upTo: try fact.clear.required(2, Label("told", .eventNumber, note: "up to it"), given?.settlement.told))
        case 1:
            settlement = .taken(
                try fact.clear.required(3, Label("taken", note: "given up by that event"), given?.settlement.letter))
        default:
            settlement = .discarded(
                try fact.clear.required(4, Label("discarded", note: "given up by that event"), given?.settlement.letter)
            )
        }
        return .webhookSettled(webhook, settlement)
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        // An accepted message is a read, which is recorded separately.
        guard case .webhookSettled(let webhook, .discarded) = recorded.event else { return .nothing }
        return .quietChange(SettingChange(item: webhook.rawValue, name: "discarded"))
    }
}

extension WebhookSettlement {
    fileprivate var index: Int {
        switch self {
        case .told: 0
        case .taken: 1
        case .discarded: 2
        }
    }

    fileprivate var told: Int64? { if case .told(let number) = self { number } else { nil } }

    fileprivate var letter: DeadLetterID? {
        switch self {
        case .told: nil
        case .taken(let letter), .discarded(let letter): letter
        }
    }
}
