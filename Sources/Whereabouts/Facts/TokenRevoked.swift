/// A token no longer counts.
enum TokenRevoked: Fact {
    static let kind = EventKind.tokenRevoked
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .token
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: TokenID?
        if case .tokenRevoked(let token)? = event { given = token }
        return .tokenRevoked(try fact.clear.required(1, "token", given))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .tokenRevoked(let token) = recorded.event else { return .nothing }
        return .change(SettingChange(item: token.rawValue))
    }
}
