/// The first person who shows a code of this SHA-256, before it expires, gets a grant with these terms.
enum InvitationMade: Fact {
    static let kind = EventKind.invitationMade
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .invitation
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: Invitation?
        if case .invitationMade(let invitation)? = event { given = invitation }
        let subject = try fact.subject(given?.subject)
        let id = try fact.clear.required(1, "invitation", given?.id)
        let hash = try fact.clear.required(2, .hidden("hash of the code"), given?.hash)
        let expires = try fact.clear.required(3, "expires", given?.expires)
        let precision = try fact.clear.required(4, "precision", given?.terms.precision)
        let history = try fact.clear.required(5, "history", given?.terms.includesHistory)
        let asks = try fact.clear.required(6, "asksEachTime", given?.terms.asksEachTime)
        let from = try fact.clear.optional(7, Label("from", absent: "as in a grant"), given?.terms.from)
        let until = try fact.clear.optional(
            8, Label("until", absent: "the default, from when it is redeemed"), given?.terms.until)
        let terms = GrantTerms(
            precision: precision, includesHistory: history, asksEachTime: asks, from: from, until: until)
        return .invitationMade(
            Invitation(
                id: id, subject: subject, hash: hash, expires: expires, terms: terms,
                detail: try fact.optionalPart(.rest, given?.detail)))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .invitationMade(let invitation) = recorded.event else { return .nothing }
        return .change(
            SettingChange(
                item: invitation.id.rawValue, terms: invitation.terms, hours: invitation.detail?.content,
                invitation: invitation.id))
    }

    static func reply(to recorded: RecordedEvent) -> CommandReply? {
        guard case .invitationMade(let invitation) = recorded.event else { return nil }
        return .invitation(invitation.id)
    }
}

extension WeeklyHours: SealedContent {
    package static let rule = "hours"

    package static func visit<V: FieldVisitor>(
        _ given: WeeklyHours?, _ fields: inout V
    ) throws(V.Failure) -> WeeklyHours { try fields.shape(given) }
}
