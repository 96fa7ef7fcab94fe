/// The log was restored from a copy and continues under a higher epoch.
enum LogRestored: Fact {
    static let kind = EventKind.logRestored
    static let streams: FactStreams = .house
    static let item: HouseNumber.Kind? = nil
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (epoch: Int64, mark: Int64?)?
        if case .logRestored(let epoch, let mark)? = event { given = (epoch, mark) }
        let epoch = try fact.clear.required(1, "epoch", given?.epoch)
        let mark = try fact.clear.optional(2, Label("mark", absent: "restored by an earlier version"), given?.mark)
        return .logRestored(epoch: epoch, mark: mark)
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .logRestored(let epoch, _) = recorded.event else { return .nothing }
        return .act("restore", projection: nil, version: nil, epoch: epoch)
    }
}
