/// The subject, or the subject's device, agreed.
enum ConsentGiven: Fact {
    static let kind = EventKind.consentGiven
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = nil
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: QueryID?
        if case .consentGiven(let query)? = event { given = query }
        return .consentGiven(try fact.clear.required(1, "query", given))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .consentGiven(let query) = recorded.event else { return .nothing }
        return .consent(query, .given)
    }
}
