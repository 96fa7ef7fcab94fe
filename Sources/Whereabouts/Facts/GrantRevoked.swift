/// A grant no longer counts.
enum GrantRevoked: Fact {
    static let kind = EventKind.grantRevoked
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .grant
    static let concerns: FactConcerns = .pushes

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: GrantID?
        if case .grantRevoked(let grant)? = event { given = grant }
        return .grantRevoked(try fact.clear.required(1, "grant", given))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .grantRevoked(let grant) = recorded.event else { return .nothing }
        return .change(SettingChange(item: grant.rawValue))
    }
}
