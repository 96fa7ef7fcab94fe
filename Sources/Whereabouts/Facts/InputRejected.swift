/// A report could not become a fix; it is kept with the reason.
enum InputRejected: Fact {
    static let kind = EventKind.inputRejected
    static let streams: FactStreams = .track
    static let item: HouseNumber.Kind? = nil
    static let concerns: FactConcerns = [.feed, .tally]

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (device: DeviceID, reason: RejectionReason, length: Int64, input: Part<RejectedInput>)?
        if case .inputRejected(let device, let reason, let length, let input)? = event {
            given = (device, reason, length, input)
        }
        let device = try fact.clear.required(1, "device", given?.device)
        let reason = try fact.clear.required(2, "reason", given?.reason)
        let length = try fact.clear.required(3, "length", given?.length)
        return .inputRejected(
            device: device, reason: reason, length: length, try fact.part(.track, given?.input))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .inputRejected(let device, let reason, _, _) = recorded.event else { return .nothing }
        return .rejection(device, reason)
    }
}

extension RejectedInput: SealedContent {
    package static let rule = "rejected"

    package static func visit<V: FieldVisitor>(_ given: Self?, _ fields: inout V) throws(V.Failure) -> Self {
        let hash = try fields.required(1, Label("sha256", note: "of all of it"), given?.hash)
        return Self(hash: hash, head: try fields.required(2, .hidden("its first 4 KiB"), given?.head))
    }
}
