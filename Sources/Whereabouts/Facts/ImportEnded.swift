/// The import that this event's correlation names has ended for the person.
enum ImportEnded: Fact {
    static let kind = EventKind.importEnded
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .event
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (counts: ImportCounts, fault: Part<ImportFault>?)?
        if case .importEnded(let counts, let fault)? = event { given = (counts, fault) }
        let new = try fact.clear.required(1, Label("new", note: "fixes"), given?.counts.new)
        let duplicate = try fact.clear.required(2, Label("duplicate", note: "fixes"), given?.counts.duplicate)
        let visits = try fact.clear.optional(
            3, Label("visits", absent: "0"), given.flatMap { $0.counts.visits.orAbsent })
        let rejected = try fact.clear.optional(
            4, Label("rejected", note: "records", absent: "0"), given.flatMap { $0.counts.rejected.orAbsent })
        return .importEnded(
            ImportCounts(new: new, duplicate: duplicate, visits: visits ?? 0, rejected: rejected ?? 0),
            try fact.optionalPart(.rest, given?.fault))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .importEnded(let counts, _) = recorded.event else { return .nothing }
        return .change(
            SettingChange(item: recorded.number, name: counts.new == 1 ? "1 new fix" : "\(counts.new) new fixes"))
    }
}

extension Int64 {
    /// `nil` for 0, which a field leaves out.
    fileprivate var orAbsent: Int64? { self == 0 ? nil : self }
}

extension ImportFault: SealedContent {
    package static let rule = "import-fault"

    package static func visit<V: FieldVisitor>(_ given: Self?, _ fields: inout V) throws(V.Failure) -> Self {
        Self(try fields.required(1, Label("fault", note: "why the file was not read to its end"), given?.text))
    }
}
