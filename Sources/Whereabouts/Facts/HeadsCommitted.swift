/// The heads of the persons' logs, recorded before a checkpoint of the whole log.
enum HeadsCommitted: Fact {
    static let kind = EventKind.headsCommitted
    static let streams: FactStreams = .house
    static let item: HouseNumber.Kind? = nil
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: HeadsCommitment?
        if case .headsCommitted(let heads)? = event { given = heads }
        let size = try fact.clear.required(1, "size", given?.size)
        let root = try fact.clear.required(2, "root", given?.root)
        let upTo = try fact.clear.required(3, Label("upTo", .eventNumber), given?.upTo)
        let name = try fact.clear.required(4, "name", given?.name)
        let commits = try fact.clear.required(
            5, Label("commits", note: "32 bytes for each event of an audit since the previous one"), given?.commits)
        return .headsCommitted(HeadsCommitment(name: name, upTo: upTo, size: size, root: root, commits: commits))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited { .nothing }
}
