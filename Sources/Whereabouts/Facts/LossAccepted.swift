/// The events of these numbers were durable and are lost.
enum LossAccepted: Fact {
    static let kind = EventKind.lossAccepted
    static let streams: FactStreams = .house
    static let item: HouseNumber.Kind? = nil
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (from: Int64, to: Int64, epoch: Int64, mark: Int64?)?
        if case .lossAccepted(let from, let to, let epoch, let mark)? = event { given = (from, to, epoch, mark) }
        let from = try fact.clear.required(1, Label("from", .eventNumber), given?.from)
        let to = try fact.clear.required(2, Label("to", .eventNumber), given?.to)
        let epoch = try fact.clear.required(3, "epoch", given?.epoch)
        let mark = try fact.clear.optional(4, Label("mark", absent: "accepted by an earlier version"), given?.mark)
        return .lossAccepted(from: from, to: to, epoch: epoch, mark: mark)
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .lossAccepted(_, _, let epoch, _) = recorded.event else { return .nothing }
        return .act("acceptLoss", projection: nil, version: nil, epoch: epoch)
    }
}
