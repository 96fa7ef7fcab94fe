/// A requester asked where the person is, and was granted it or refused.
enum LocationQueried: Fact {
    static let kind = EventKind.locationQueried
    /// In the stream of the house if no person has the name.
    static let streams: FactStreams = [.audit, .house]
    static let item: HouseNumber.Kind? = nil
    static let concerns: FactConcerns = [.patterns, .tally]

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: LocationQuery?
        if case .locationQueried(let query)? = event { given = query }
        let id = try fact.clear.required(1, "query", given?.id)
        let subject = try fact.knownSubject("subject", given?.subject)
        let requester = try fact.clear.required(2, "requester", given?.requester)
        let verdict = try fact.clear.required(3, "verdict", given?.verdict)
        let initiation = try fact.clear.required(4, "initiation", given?.initiation)
        let deadline = try fact.clear.required(5, "deadline", given?.deadline)
        let maxAge = try fact.clear.required(6, "maxAgeSeconds", given?.maxAgeSeconds)
        let forSubject = subject == nil ? .erased : try fact.part(.rest, of: subject, given?.purposeForSubject)
        let forRequester = try fact.optionalPart(
            .rest, of: PersonID(rawValue: requester.rawValue), given?.purposeForRequester)
        return .locationQueried(
            LocationQuery(
                id: id, subject: subject, requester: requester, verdict: verdict, initiation: initiation,
                deadline: deadline, maxAgeSeconds: maxAge, purposeForSubject: forSubject,
                purposeForRequester: forRequester))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .locationQueried(let query) = recorded.event else { return .nothing }
        return .query(query)
    }

    static func reply(to recorded: RecordedEvent) -> CommandReply? {
        guard case .locationQueried(let query) = recorded.event else { return nil }
        return query.verdict.isRefused ? nil : .done
    }

    /// One purpose: both parts have the same.
    static func show(_ event: Event, in shown: inout ShownFields) {
        guard case .locationQueried(let query) = event else { return }
        shown.showsParts = false
        _ = visit(event, &shown)
        shown.show(query.subject == nil ? query.purposeForRequester ?? .erased : query.purposeForSubject)
    }
}

/// The purpose of a question: the only text that is sealed as a part without other fields.
extension String: SealedContent {
    package static let rule = "purpose"

    package static func visit<V: FieldVisitor>(_ given: String?, _ fields: inout V) throws(V.Failure) -> String {
        try fields.required(1, "purpose", given)
    }
}
