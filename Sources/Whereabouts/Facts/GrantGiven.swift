/// The person lets a requester see their location, with a precision and for a time.
enum GrantGiven: Fact {
    static let kind = EventKind.grantGiven
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .grant
    static let concerns: FactConcerns = .pushes

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: Grant?
        if case .grantGiven(let grant)? = event { given = grant }
        let subject = try fact.subject(given?.subject)
        let id = try fact.clear.required(1, "grant", given?.id)
        let requester = try fact.clear.required(
            2, Label("requester", note: "0: no person has the given name"), given.map { NamedPerson(id: $0.requester) })
        let precision = try fact.clear.required(3, "precision", given?.precision)
        let history = try fact.clear.required(4, "history", given?.includesHistory)
        let from = try fact.clear.optional(
            5, Label("from", absent: "from its event on, and earlier history is open"), given?.from)
        let until = try fact.clear.optional(6, Label("until", absent: "until revoked"), given?.until)
        let asks = try fact.clear.mark(7, .hidden("asks the subject each time"), given?.asksEachTime)
        let invitation = try fact.clear.optional(
            8, Label("invitation", absent: "not made by an invitation"), given?.invitation)
        return .grantGiven(
            Grant(
                id: id, subject: subject, requester: requester.id, precision: precision, includesHistory: history,
                from: from, until: until, asksEachTime: asks, invitation: invitation,
                detail: try fact.optionalPart(.rest, given?.detail)))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .grantGiven(let grant) = recorded.event else { return .nothing }
        return .change(
            SettingChange(
                item: grant.id.rawValue, other: grant.requester?.principal, name: grant.detail?.content?.name?.text,
                terms: GrantTerms(
                    precision: grant.precision, includesHistory: grant.includesHistory,
                    asksEachTime: grant.asksEachTime, from: grant.from, until: grant.until),
                hours: grant.hours, invitation: grant.invitation))
    }

    static func reply(to recorded: RecordedEvent) -> CommandReply? {
        guard case .grantGiven(let grant) = recorded.event else { return nil }
        return .grant(grant.id)
    }

    static func show(_ event: Event, in shown: inout ShownFields) {
        _ = visit(event, &shown)
        guard case .grantGiven(let grant) = event else { return }
        shown.add("asksEachTime", .bool(grant.asksEachTime), after: "history")
    }

    static func prove(_ event: Event, in proven: inout ProvenFields) {
        _ = visit(event, &proven)
        guard case .grantGiven(let grant) = event else { return }
        proven.add("asksEachTime", .bool(grant.asksEachTime))
    }
}

extension Grant.Detail: SealedContent {
    package static let rule = "grant-detail"

    package static func visit<V: FieldVisitor>(_ given: Self?, _ fields: inout V) throws(V.Failure) -> Self {
        let name = try fields.optional(1, Label("name", absent: "a person has the given name"), given?.name)
        return Self(name: name, hours: try fields.optionalShape(given?.hours))
    }
}

/// A person given by name, stored as 0 if no person has the name.
struct NamedPerson: IntegerValue, CountedInHouse {
    let id: PersonID?

    init(id: PersonID?) { self.id = id }
    init(rawValue: Int64) { id = rawValue == 0 ? nil : PersonID(rawValue: rawValue) }

    static let form = FieldForm.principal
    var rawValue: Int64 { id?.rawValue ?? 0 }
    var houseNumber: HouseNumber? { id?.houseNumber }
    func show(as name: String, in shown: inout ShownFields) {
        if let id { shown.add(name, .integer(id.rawValue)) }
    }
}
