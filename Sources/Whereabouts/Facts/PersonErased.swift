/// A person is gone: keys destroyed, rows removed, rights ended.
enum PersonErased: Fact {
    static let kind = EventKind.personErased
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = nil
    static let concerns: FactConcerns = [.current, .timeline, .envelopes, .pushes]

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: PersonID?
        if case .personErased(let person)? = event { given = person }
        return .personErased(try fact.clear.required(1, "person", given))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .personErased(let person) = recorded.event else { return .nothing }
        return .erasure(person)
    }
}
