/// A person's client published a key for which others can seal.
enum RecipientKeyPublished: Fact {
    static let kind = EventKind.recipientKeyPublished
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .event
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: RecipientKey?
        if case .recipientKeyPublished(let key)? = event { given = key }
        let id = try fact.clear.required(1, Label("key", note: "its name"), given?.id)
        let key = try fact.clear.required(2, Label("public", .publicKey, note: "X25519"), given?.key)
        let madeAt = try fact.clear.required(3, Label("madeAt", note: "by the client's clock"), given?.madeAt)
        let signature = try fact.clear.required(
            4, Label("signature", .signature, note: "by the person's identity key"), given?.signature)
        return .recipientKeyPublished(RecipientKey(id: id, key: key, madeAt: madeAt, signature: signature))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .recipientKeyPublished(let key) = recorded.event else { return .nothing }
        return .change(SettingChange(item: recorded.number, name: key.id.description))
    }
}
