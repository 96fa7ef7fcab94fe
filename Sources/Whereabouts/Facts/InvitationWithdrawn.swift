/// The code of an invitation is no longer valid.
enum InvitationWithdrawn: Fact {
    static let kind = EventKind.invitationWithdrawn
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .invitation
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: InvitationID?
        if case .invitationWithdrawn(let invitation)? = event { given = invitation }
        return .invitationWithdrawn(try fact.clear.required(1, "invitation", given))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .invitationWithdrawn(let invitation) = recorded.event else { return .nothing }
        return .change(SettingChange(item: invitation.rawValue))
    }
}
