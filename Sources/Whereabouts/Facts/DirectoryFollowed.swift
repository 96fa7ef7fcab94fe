/// The log is that of a shard. It has the people, devices and tokens of the directory up to this event of the directory's log.
enum DirectoryFollowed: Fact {
    static let kind = EventKind.directoryFollowed
    static let streams: FactStreams = .house
    static let item: HouseNumber.Kind? = nil
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (shard: ShardNumber, directory: Identifier128?, upTo: Int64)?
        if case .directoryFollowed(let shard, let directory, let upTo)? = event { given = (shard, directory, upTo) }
        let shard = try fact.clear.required(1, Label("shard", note: "the own number"), given?.shard)
        let directory = try fact.clear.optional(
            2, Label("directory", note: "the id of the directory's log", absent: "none was followed yet"),
            given?.directory)
        let upTo = try fact.clear.required(3, "upTo", given?.upTo)
        return .directoryFollowed(shard, directory: directory, upTo: upTo)
    }

    static func audited(_ recorded: RecordedEvent) -> Audited { .nothing }
}
