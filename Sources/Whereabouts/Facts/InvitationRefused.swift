/// A caller showed a code that is not valid.
enum InvitationRefused: Fact {
    static let kind = EventKind.invitationRefused
    static let streams: FactStreams = .house
    static let item: HouseNumber.Kind? = nil
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: PrincipalID?
        if case .invitationRefused(let principal)? = event { given = principal }
        return .invitationRefused(by: try fact.clear.required(1, "principal", given))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited { .nothing }

    static func reply(to recorded: RecordedEvent) -> CommandReply? { nil }
}
