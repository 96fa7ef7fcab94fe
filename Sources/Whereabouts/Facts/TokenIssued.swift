/// A caller with a secret of this SHA-256 acts as a principal from now on, within these scopes.
enum TokenIssued: Fact {
    static let kind = EventKind.tokenIssued
    static let streams: FactStreams = [.audit, .house]
    static let item: HouseNumber.Kind? = .token
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: AccessToken?
        if case .tokenIssued(let token)? = event { given = token }
        let id = try fact.clear.required(1, "token", given?.id)
        let principal = try fact.clear.required(2, "principal", given?.principal)
        let scopes = try fact.clear.required(3, "scopes", given?.scopes)
        let hash = try fact.clear.required(4, .hidden("hash of the secret"), given?.hash)
        let until = try fact.clear.optional(5, Label("until", absent: "until revoked"), given?.until)
        let madeFrom = try fact.clear.optional(
            6, .hidden("the token that a session or a one-time code was made from", absent: "none"), given?.madeFrom)
        return .tokenIssued(
            AccessToken(id: id, principal: principal, scopes: scopes, hash: hash, until: until, madeFrom: madeFrom))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .tokenIssued(let token) = recorded.event else { return .nothing }
        return .change(
            SettingChange(item: token.id.rawValue, other: token.principal, scopes: token.scopes, until: token.until))
    }

    static func reply(to recorded: RecordedEvent) -> CommandReply? {
        guard case .tokenIssued(let token) = recorded.event else { return nil }
        return .token(token.id)
    }
}
