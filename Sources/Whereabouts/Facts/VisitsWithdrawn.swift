/// Visits that a device reported, or that an import brought, no longer count.
enum VisitsWithdrawn: Fact {
    static let kind = EventKind.visitsWithdrawn
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .event
    static let concerns: FactConcerns = [.timeline, .feed]

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (visits: FixNumbers, revision: Part<FixRevision>)?
        if case .visitsWithdrawn(let visits, let revision)? = event { given = (visits, revision) }
        let visits = try FixNumbers.visit(given?.visits, &fact.clear, name: "visit")
        return .visitsWithdrawn(visits, try fact.part(.rest, given?.revision))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .visitsWithdrawn(let visits, let revision) = recorded.event else { return .nothing }
        return .change(SettingChange(item: visits.numbers.lowerBound, name: revision.content?.reason))
    }
}
