/// The events of these numbers were durable and are lost.
enum LossAccepted: Fact {
    static let kind = EventKind.lossAccepted
    static let streams: FactStreams = .house
    static let item = ChangedItem.nothing
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (from: Int64, to: Int64, epoch: Int64)?
        if case .lossAccepted(let from, let to, let epoch)? = event { given = (from, to, epoch) }
        let from = try fact.clear.required(1, Label("from", .eventNumber), given?.from)
        let to = try fact.clear.required(2, Label("to", .eventNumber), given?.to)
        return .lossAccepted(from: from, to: to, epoch: try fact.clear.required(3, "epoch", given?.epoch))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .lossAccepted(_, _, let epoch) = recorded.event else { return .nothing }
        return .act("acceptLoss", projection: nil, version: nil, epoch: epoch)
    }
}
