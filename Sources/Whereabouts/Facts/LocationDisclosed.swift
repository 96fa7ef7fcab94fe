/// This place left the service in answer to a query.
enum LocationDisclosed: Fact {
    static let kind = EventKind.locationDisclosed
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = nil
    static let concerns: FactConcerns = .patterns

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: Disclosure?
        if case .locationDisclosed(let disclosure)? = event { given = disclosure }
        let subject = try fact.subject(given?.subject)
        let query = try fact.clear.required(1, "query", given?.query)
        let requester = try fact.clear.required(2, "requester", given?.requester)
        let verdict = try fact.clear.required(3, "verdict", given?.verdict)
        let precision = try fact.clear.required(4, "precision", given?.precision)
        let fix = try fact.clear.required(5, Label("fix", .eventNumber), given?.fix)
        return .locationDisclosed(
            Disclosure(
                query: query, subject: subject, requester: requester, verdict: verdict, precision: precision, fix: fix,
                content: try fact.part(.rest, of: subject, given?.content)))
    }

    static func isDisclosure(_: Event) -> Bool { true }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .locationDisclosed(let disclosure) = recorded.event else { return .nothing }
        return .disclosure(disclosure)
    }
}

extension Disclosure.Content: SealedContent {
    package static let rule = "answer"

    package static func visit<V: FieldVisitor>(_ given: Self?, _ fields: inout V) throws(V.Failure) -> Self {
        let latitude = try fields.optional(
            1, Label("latitude", absent: "the grant shows names alone, or the fix is sealed"),
            given?.latitude.map { Degrees($0) })
        let longitude = try fields.optional(
            2, Label("longitude", .longitude, absent: "the grant shows names alone, or the fix is sealed"),
            given?.longitude.map { Degrees($0) })
        let accuracy = try fields.optional(
            3, Label("horizontalAccuracy", note: "meters", absent: "the grant is coarse"), given?.horizontalAccuracy)
        let timestamp = try fields.required(
            4, Label("timestamp", note: "of the fix; of a sealed one, the beginning of its quarter of an hour"),
            given?.timestamp)
        let place = try fields.optional(5, Label("place", absent: "no name"), given?.placeName)
        let hash = try fields.required(6, Label("answerSHA256", note: "of the answer's bytes"), given?.answerHash)
        let envelopes = try DisclosedEnvelopes.visit(given.map(\.envelopes), &fields, from: 7)
        return Self(
            latitude: latitude?.value, longitude: longitude?.value, horizontalAccuracy: accuracy,
            timestamp: timestamp, placeName: place, answerHash: hash, envelopes: envelopes)
    }
}
