/// The reports and the audit of a person are in the log of this shard.
enum PersonPlaced: Fact {
    static let kind = EventKind.personPlaced
    static let streams: FactStreams = .house
    static let item: HouseNumber.Kind? = nil
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (person: PersonID, shard: ShardNumber)?
        if case .personPlaced(let person, let shard)? = event { given = (person, shard) }
        let person = try fact.clear.required(1, "person", given?.person)
        return .personPlaced(person, try fact.clear.required(2, "shard", given?.shard))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited { .nothing }
}

extension ShardNumber: IntegerValue {
    package static let form = FieldForm("shard", as: "1..255", .integers(range))
}
