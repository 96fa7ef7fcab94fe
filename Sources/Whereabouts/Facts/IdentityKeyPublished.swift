/// A person's client published the key with which the person signs from now on.
enum IdentityKeyPublished: Fact {
    static let kind = EventKind.identityKeyPublished
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .event
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: IdentityKey?
        if case .identityKeyPublished(let key)? = event { given = key }
        let id = try fact.clear.required(1, Label("key", note: "its name"), given?.id)
        let key = try fact.clear.required(2, Label("public", .publicKey, note: "Ed25519"), given?.key)
        let signature = try fact.clear.required(3, Label("signature", .signature, note: "by itself"), given?.signature)
        let previous = try fact.clear.optional(
            4, Label("previousSignature", .signature, absent: "there was no key, or it was withdrawn"),
            given?.previousSignature)
        return .identityKeyPublished(
            IdentityKey(id: id, key: key, signature: signature, previousSignature: previous))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .identityKeyPublished(let key) = recorded.event else { return .nothing }
        return .change(SettingChange(item: recorded.number, name: key.id.description))
    }
}
