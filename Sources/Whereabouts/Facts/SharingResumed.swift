/// The pause ends now.
enum SharingResumed: Fact {
    static let kind = EventKind.sharingResumed
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .thing
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: PersonID?
        if case .sharingResumed(let person)? = event { given = person }
        return .sharingResumed(try fact.clear.required(1, "person", given))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .sharingResumed(let person) = recorded.event else { return .nothing }
        return .change(SettingChange(item: person.rawValue))
    }
}
