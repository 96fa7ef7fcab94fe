/// A message of a client that the service does not interpret.
enum MessageReported: Fact {
    static let kind = EventKind.messageReported
    static let streams: FactStreams = .track
    static let item: HouseNumber.Kind? = nil
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (device: DeviceID, message: Part<ClientMessage>)?
        if case .messageReported(let device, let message)? = event { given = (device, message) }
        let device = try fact.clear.required(1, "device", given?.device)
        return .messageReported(device: device, try fact.part(.track, given?.message))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited { .nothing }
}

extension ClientMessage: SealedContent {
    package static let rule = "message"

    package static func visit<V: FieldVisitor>(_ given: Self?, _ fields: inout V) throws(V.Failure) -> Self {
        let hash = try fields.required(1, .hidden("hash of type and text"), given?.hash)
        let type = try fields.required(2, Label("type", note: "the client's own name"), given?.type)
        let text = try fields.required(3, .hidden("its other members, a JSON object"), given?.text)
        return Self(type: type, text: text, hash: hash)
    }

    package func show(in shown: inout ShownFields) {
        shown.add("type", .text(type))
        shown.add("message", .json(Array(text.utf8)))
    }
}
