/// A person exists from now on.
enum PersonAdded: Fact {
    static let kind = EventKind.personAdded
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .thing
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (person: PersonID, handle: Part<Handle>)?
        if case .personAdded(let person, let handle)? = event { given = (person, handle) }
        let person = try fact.clear.required(1, "person", given?.person)
        return .personAdded(person, handle: try fact.part(.rest, of: person, given?.handle))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .personAdded(let person, let handle) = recorded.event else { return .nothing }
        return .change(SettingChange(item: person.rawValue, name: handle.content?.text))
    }
}

extension Handle: SealedContent {
    package static let rule = "named"

    package static func visit<V: FieldVisitor>(_ given: Handle?, _ fields: inout V) throws(V.Failure) -> Handle {
        try fields.required(1, "handle", given)
    }
}
