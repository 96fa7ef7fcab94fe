/// Stored data about the person was read, or refused.
enum LocationReadRecorded: Fact {
    static let kind = EventKind.locationRead
    /// In the stream of the house if no person has the name.
    static let streams: FactStreams = [.audit, .house]
    static let item: HouseNumber.Kind? = nil
    static let concerns: FactConcerns = .patterns

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: LocationRead?
        if case .locationRead(let read)? = event { given = read }
        let subject = try fact.knownSubject(nil, given?.subject)
        let reader = try fact.clear.required(1, "reader", given?.reader)
        let question = try fact.clear.required(2, "question", given?.question)
        let verdict = try fact.clear.required(3, "verdict", given?.verdict)
        let precision = try fact.clear.required(4, "precision", given?.precision)
        let asOf = try fact.clear.required(5, Label("asOf", note: "folded up to this number"), given?.asOf)
        let count = try fact.clear.required(6, Label("count", note: "rows"), given?.count)
        let continuing = try fact.clear.optional(
            7, Label("continuing", note: "the request whose read it goes on with", absent: "a read of its own"),
            given?.continuing)
        let content = try fact.part(.rest, of: subject ?? PersonID(rawValue: reader.rawValue), given?.content)
        return .locationRead(
            LocationRead(
                subject: subject, reader: reader, question: question, verdict: verdict, precision: precision,
                asOf: asOf, count: count, continuing: continuing, content: content))
    }

    static func isDisclosure(_ event: Event) -> Bool {
        guard case .locationRead(let read) = event else { return false }
        return read.subject != nil && !read.verdict.isRefused
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .locationRead(let read) = recorded.event else { return .nothing }
        return .read(read)
    }
}

extension LocationRead.Content: SealedContent {
    package static let rule = "question"

    package static func visit<V: FieldVisitor>(_ given: Self?, _ fields: inout V) throws(V.Failure) -> Self {
        let purpose = try fields.optional(1, Label("purpose", absent: "none given"), given?.purpose)
        let from = try fields.optional(2, Label("from", absent: "an open beginning"), given?.from)
        let to = try fields.optional(3, Label("to", absent: "an open end"), given?.to)
        let hash = try fields.optional(
            4, Label("answerSHA256", note: "of the answer's bytes", absent: "refused"), given?.answerHash)
        let envelopes = try DisclosedEnvelopes.visit(given.map(\.envelopes), &fields, from: 5)
        return Self(purpose: purpose, from: from, to: to, answerHash: hash, envelopes: envelopes)
    }
}

extension DisclosedEnvelopes {
    /// The two fields of the envelopes in a record of a disclosure: both, or none.
    ///
    /// - Parameter key: The key of the first field.
    static func visit<V: FieldVisitor>(
        _ given: Self??, _ fields: inout V, from key: Int64
    ) throws(V.Failure) -> Self? {
        let envelopes = given ?? nil
        let hashes = try fields.optional(
            key, Label("envelopes", note: "their SHA-256, one after the other", absent: "the fix was not sealed"),
            envelopes?.hashes)
        let keys = try fields.optional(
            key + 1, Label("keys", note: "the names of those who can open them", absent: "none, or not sealed"),
            envelopes.flatMap { $0.keys.isEmpty ? nil : $0.keys })
        guard let hashes else { return nil }
        return Self(hashes: hashes, keys: keys ?? [])
    }
}
