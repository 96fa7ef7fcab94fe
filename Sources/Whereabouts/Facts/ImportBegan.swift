/// A file is being imported into the person's history. All events that the import brings have its id as their
/// correlation.
enum ImportBegan: Fact {
    static let kind = EventKind.importBegan
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .event
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (id: Identifier128, file: Part<ImportedFile>)?
        if case .importBegan(let id, let file)? = event { given = (id, file) }
        let id = try fact.clear.required(1, "import", given?.id)
        return .importBegan(id, try fact.part(.rest, given?.file))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .importBegan(_, let file) = recorded.event else { return .nothing }
        return .change(SettingChange(item: recorded.number, name: file.content?.name))
    }

    static func reply(to recorded: RecordedEvent) -> CommandReply? { .importing(ImportID(rawValue: recorded.number)) }
}

extension ImportedFile: SealedContent {
    package static let rule = "imported-file"

    package static func visit<V: FieldVisitor>(_ given: Self?, _ fields: inout V) throws(V.Failure) -> Self {
        let name = try fields.optional(1, Label("file", note: "its name", absent: "not known"), given?.name)
        let format = try fields.optional(2, Label("format", absent: "not known"), given?.format)
        let bytes = try fields.optional(3, Label("bytes", absent: "not known"), given?.byteCount)
        let head = try fields.optional(4, .hidden("hash of the file's beginning", absent: "not known"), given?.head)
        return Self(name: name, format: format, byteCount: bytes, head: head)
    }
}
