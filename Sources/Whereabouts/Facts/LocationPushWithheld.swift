/// No push is started for a query, for a reason that does not concern a single device.
enum LocationPushWithheld: Fact {
    static let kind = EventKind.locationPushWithheld
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = nil
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (query: QueryID, reason: PushWithheld)?
        if case .locationPushWithheld(let query, let reason)? = event { given = (query, reason) }
        let query = try fact.clear.required(1, "query", given?.query)
        return .locationPushWithheld(query: query, try fact.clear.required(2, "reason", given?.reason))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .locationPushWithheld(let query, let reason) = recorded.event else { return .nothing }
        return .withheld(query, reason)
    }
}
