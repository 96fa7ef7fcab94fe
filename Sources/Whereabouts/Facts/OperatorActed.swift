/// The operator is about to do something that concerns everyone, or such an act failed.
enum OperatorActed: Fact {
    static let kind = EventKind.operatorActed
    /// In the audit of a person if a message of their webhook is posted again, or their webhook gets a test message.
    static let streams: FactStreams = [.audit, .house]
    static let item: HouseNumber.Kind? = .thing
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: OperatorAct?
        if case .operatorActed(let act)? = event { given = act }
        return .operatorActed(try OperatorAct.visit(given, &fact.clear))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .operatorActed(let act) = recorded.event else { return .nothing }
        if case .failed(let number) = act { return .actFailed(number) }
        if recorded.stream == .house {
            return .act(act.word, projection: act.projection, version: act.version, epoch: nil)
        }
        switch act {
        case .retryMessage(let webhook, _):
            return .change(SettingChange(item: webhook.rawValue, name: "message posted again"))
        // The webhook sends the test message instead of a change.
        case .testWebhook(let webhook):
            return .quietChange(SettingChange(item: webhook.rawValue, name: "test message"))
        default: return .nothing
        }
    }
}

extension OperatorAct {
    /// The acts by the numbers under which they are stored.
    enum Code: Int64, WordValue {
        case rebuildProjection = 1
        case activateProjection = 2
        case rollBackProjection = 3
        case pruneProjections = 4
        case backUp = 5
        case retryMessage = 6
        case failed = 7
        case testWebhook = 8

        static let form = FieldForm.words("act", Code.self)
        var word: String { String(describing: self) }
    }

    static func visit<V: FieldVisitor>(_ given: Self?, _ fields: inout V) throws(V.Failure) -> Self {
        switch try fields.choice(1, "act", given?.code) {
        case .rebuildProjection:
            let name = try fields.required(2, "projection", given?.projection)
            let version = try fields.required(3, Label("version", note: "of its fold"), given?.version)
            return .rebuildProjection(name, version: version)
        case .activateProjection:
            return .activateProjection(try fields.required(2, "projection", given?.projection))
        case .rollBackProjection:
            return .rollBackProjection(try fields.required(2, "projection", given?.projection))
        case .pruneProjections:
            return .pruneProjections(
                try fields.optional(2, Label("projection", absent: "all projections"), given?.projection))
        case .backUp: return .backUp
        case .retryMessage:
            let webhook = try fields.required(4, "webhook", given?.message?.webhook)
            return .retryMessage(webhook, try fields.required(5, "letter", given?.message?.letter))
        case .testWebhook: return .testWebhook(try fields.required(4, "webhook", given?.tested))
        case .failed: return .failed(try fields.required(6, Label("failed", .eventNumber), given?.failed))
        }
    }

    private var code: Code {
        switch self {
        case .rebuildProjection: .rebuildProjection
        case .activateProjection: .activateProjection
        case .rollBackProjection: .rollBackProjection
        case .pruneProjections: .pruneProjections
        case .backUp: .backUp
        case .retryMessage: .retryMessage
        case .testWebhook: .testWebhook
        case .failed: .failed
        }
    }

    private var message: (webhook: WebhookID, letter: DeadLetterID)? {
        if case .retryMessage(let webhook, let letter) = self { (webhook, letter) } else { nil }
    }

    private var tested: WebhookID? { if case .testWebhook(let webhook) = self { webhook } else { nil } }

    private var failed: Int64? { if case .failed(let number) = self { number } else { nil } }
}
