/// A person's own key is good for nothing new: an identity key signs no more, and nothing is sealed for a recipient key.
enum SealingKeyWithdrawn: Fact {
    static let kind = EventKind.sealingKeyWithdrawn
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .event
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (key: KeyID, reason: KeyWithdrawal)?
        if case .sealingKeyWithdrawn(let key, let reason)? = event { given = (key, reason) }
        let key = try fact.clear.required(1, Label("key", note: "its name"), given?.key)
        return .sealingKeyWithdrawn(key, try fact.clear.required(2, "reason", given?.reason))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .sealingKeyWithdrawn(let key, _) = recorded.event else { return .nothing }
        return .change(SettingChange(item: recorded.number, name: key.description))
    }
}
