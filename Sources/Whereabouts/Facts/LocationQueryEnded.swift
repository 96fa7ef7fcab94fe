/// How a query truly ended.
enum LocationQueryEnded: Fact {
    static let kind = EventKind.locationQueryEnded
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = nil
    static let concerns: FactConcerns = [.tally, .pushes]

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (query: QueryID, end: QueryEnd, fix: Int64?)?
        if case .locationQueryEnded(let query, let end, let fix)? = event { given = (query, end, fix) }
        let query = try fact.clear.required(1, "query", given?.query)
        let end = try fact.clear.required(2, "end", given?.end)
        let fix = try fact.clear.optional(3, Label("fix", .eventNumber, absent: "not answered"), given?.fix)
        return .locationQueryEnded(query, end, fix: fix)
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .locationQueryEnded(let query, let end, let fix) = recorded.event else { return .nothing }
        return .queryEnd(query, end, fix: fix)
    }
}
