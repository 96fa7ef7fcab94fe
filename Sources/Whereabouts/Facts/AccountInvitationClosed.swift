/// The code of an invitation to an account no longer opens one.
enum AccountInvitationClosed: Fact {
    static let kind = EventKind.accountInvitationClosed
    static let streams: FactStreams = [.audit, .house]
    static let item: HouseNumber.Kind? = .accountInvitation
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: AccountInvitationID?
        if case .accountInvitationClosed(let invitation)? = event { given = invitation }
        return .accountInvitationClosed(try fact.clear.required(1, "invitation", given))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        // An invitation by the operator is about no person.
        guard case .accountInvitationClosed(let invitation) = recorded.event, recorded.stream.person != nil else {
            return .nothing
        }
        return .change(SettingChange(item: invitation.rawValue))
    }
}
