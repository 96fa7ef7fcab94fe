/// The refusals of one requester beyond those recorded one by one.
enum RefusalsCounted: Fact {
    static let kind = EventKind.refusalsCounted
    static let streams: FactStreams = .house
    static let item: HouseNumber.Kind? = nil
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (principal: PrincipalID, count: Int64, since: Timestamp)?
        if case .refusalsCounted(let principal, let count, let since)? = event { given = (principal, count, since) }
        let principal = try fact.clear.required(1, "principal", given?.principal)
        let count = try fact.clear.required(2, "count", given?.count)
        return .refusalsCounted(
            by: principal, count: count, since: try fact.clear.required(3, "since", given?.since))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .refusalsCounted(let principal, let count, let since) = recorded.event else { return .nothing }
        return .refusals(by: principal, count: count, since: since)
    }
}
