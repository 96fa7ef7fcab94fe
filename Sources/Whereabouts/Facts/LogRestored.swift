/// The log was restored from a copy and continues under a higher epoch.
enum LogRestored: Fact {
    static let kind = EventKind.logRestored
    static let streams: FactStreams = .house
    static let item = ChangedItem.nothing
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: Int64?
        if case .logRestored(let epoch)? = event { given = epoch }
        return .logRestored(epoch: try fact.clear.required(1, "epoch", given))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .logRestored(let epoch) = recorded.event else { return .nothing }
        return .act("restore", projection: nil, version: nil, epoch: epoch)
    }
}
