/// The subject, or the subject's device, refused.
enum ConsentRefused: Fact {
    static let kind = EventKind.consentRefused
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = nil
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: QueryID?
        if case .consentRefused(let query)? = event { given = query }
        return .consentRefused(try fact.clear.required(1, "query", given))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .consentRefused(let query) = recorded.event else { return .nothing }
        return .consent(query, .refused)
    }
}
