/// A person accepted a recipient key of another person: the person's phones may seal for it.
enum RecipientKeyPinned: Fact {
    static let kind = EventKind.recipientKeyPinned
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .event
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: KeyPin?
        if case .recipientKeyPinned(let pin)? = event { given = pin }
        let owner = try fact.clear.required(1, Label("owner", note: "of the key"), given?.owner)
        let key = try fact.clear.required(2, Label("key", note: "its name"), given?.key)
        let signature = try fact.clear.required(
            3, Label("signature", .signature, note: "by the identity key of the person who accepts"), given?.signature)
        return .recipientKeyPinned(KeyPin(owner: owner, key: key, signature: signature))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .recipientKeyPinned(let pin) = recorded.event else { return .nothing }
        return .change(SettingChange(item: recorded.number, other: pin.owner.principal, name: pin.key.description))
    }
}
