/// A person no longer accepts a recipient key: nothing new is sealed for it.
enum RecipientKeyUnpinned: Fact {
    static let kind = EventKind.recipientKeyUnpinned
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .event
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: KeyID?
        if case .recipientKeyUnpinned(let key)? = event { given = key }
        return .recipientKeyUnpinned(try fact.clear.required(1, Label("key", note: "its name"), given))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .recipientKeyUnpinned(let key) = recorded.event else { return .nothing }
        return .change(SettingChange(item: recorded.number, name: key.description))
    }
}
