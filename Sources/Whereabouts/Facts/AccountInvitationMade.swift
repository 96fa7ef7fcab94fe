/// The first caller who shows a code of this SHA-256, before it expires, becomes a person.
enum AccountInvitationMade: Fact {
    static let kind = EventKind.accountInvitationMade
    static let streams: FactStreams = [.audit, .house]
    static let item: HouseNumber.Kind? = .accountInvitation
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (hash: Hash256, expires: Timestamp)?
        if case .accountInvitationMade(let hash, let expires)? = event { given = (hash, expires) }
        let hash = try fact.clear.required(1, .hidden("hash of the code"), given?.hash)
        return .accountInvitationMade(hash: hash, expires: try fact.clear.required(2, "expires", given?.expires))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        // An invitation by the operator is about no person.
        guard case .accountInvitationMade(_, let expires) = recorded.event, recorded.stream.person != nil else {
            return .nothing
        }
        return .change(SettingChange(item: recorded.number, until: expires))
    }

    static func reply(to recorded: RecordedEvent) -> CommandReply? {
        .accountInvitation(AccountInvitationID(rawValue: recorded.number))
    }
}
