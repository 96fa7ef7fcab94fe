/// Fixes that were withdrawn count again.
enum FixesRestored: Fact {
    static let kind = EventKind.fixesRestored
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .event
    static let concerns: FactConcerns = [.current, .timeline, .feed]

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (fixes: FixNumbers, revision: Part<FixRevision>)?
        if case .fixesRestored(let fixes, let revision)? = event { given = (fixes, revision) }
        let fixes = try FixNumbers.visit(given?.fixes, &fact.clear)
        return .fixesRestored(fixes, try fact.part(.rest, given?.revision))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .fixesRestored(let fixes, let revision) = recorded.event else { return .nothing }
        return .change(SettingChange(item: fixes.numbers.lowerBound, name: revision.content?.reason))
    }
}
