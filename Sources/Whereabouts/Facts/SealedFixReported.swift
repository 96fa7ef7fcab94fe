/// A device sent an envelope: a fix that the service cannot read, or the key of such fixes.
///
/// The envelope is sealed again, under the person's key of the month, so that erasure and retention destroy it like an open
/// fix. `envelopes.cddl` describes its bytes.
enum SealedFixReported: Fact {
    static let kind = EventKind.sealedFixReported
    static let streams: FactStreams = .track
    static let item: HouseNumber.Kind? = nil
    static let concerns: FactConcerns = .envelopes

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (device: DeviceID, query: QueryID?, sealed: Part<SealedFix>)?
        if case .sealedFixReported(let device, let query, let sealed)? = event { given = (device, query, sealed) }
        let device = try fact.clear.required(1, "device", given?.device)
        let query = try fact.clear.optional(2, Label("answering", absent: "it answers no query"), given?.query)
        return .sealedFixReported(device: device, answering: query, try fact.part(.track, given?.sealed))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited { .nothing }
}

extension SealedFix: SealedContent {
    package static let rule = "sealed-fix"

    package static func visit<V: FieldVisitor>(_ given: Self?, _ fields: inout V) throws(V.Failure) -> Self {
        let identity = try fields.required(
            1, .hidden("identity", note: "the same for the same fix, kind, tier and query"), given?.identity)
        return Self(
            identity: identity,
            envelope: try fields.required(2, .hidden("envelope", note: "as in envelopes.cddl"), given?.envelope))
    }
}
