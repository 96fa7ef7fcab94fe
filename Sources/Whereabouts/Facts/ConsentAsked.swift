/// The subject is asked whether a question may be passed on.
enum ConsentAsked: Fact {
    static let kind = EventKind.consentAsked
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = nil
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: QueryID?
        if case .consentAsked(let query)? = event { given = query }
        return .consentAsked(try fact.clear.required(1, "query", given))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .consentAsked(let query) = recorded.event else { return .nothing }
        return .consent(query, .asked)
    }
}
