extension Standing {
    /// Where people's logs are: in this one, or in those of shards. Empty in a house without shards.
    package struct Places: Sendable, Equatable {
        /// The number of the shard whose log it is; `nil` in the directory, and in a house without shards.
        package internal(set) var own: ShardNumber?
        /// The id of the directory's log; `nil` before the shard has followed any.
        package internal(set) var directory: Identifier128?
        /// The event of the directory up to which the shard has its facts.
        package internal(set) var followed: Int64 = 0
        /// The sizes of the shards that the directory has witnessed.
        package internal(set) var witnessed = ShardSizes([])
    }

    /// Where people's logs are.
    package internal(set) var places: Places {
        get { persons.places }
        _modify { yield &persons.places }
    }

    /// The shard in which a person lives; `nil` in a house without shards, and for an erased person.
    package func home(of person: PersonID) -> ShardNumber? { persons[person]?.home }

    /// Whether the person lives in another shard than this one. Never in the directory, nor in a house without shards.
    func livesElsewhere(_ person: PersonID) -> Bool {
        guard let own = places.own else { return false }
        return persons[person]?.home != own
    }

    /// The number of people in each shard that has any. Cost: a look at every person.
    package var peopleOfShards: [ShardNumber: Int] {
        var counts: [ShardNumber: Int] = [:]
        for (_, person) in persons.all { if let home = person.home { counts[home, default: 0] += 1 } }
        return counts
    }

    /// Folds an event about shards.
    mutating func foldPlaces(_ event: Event) {
        switch event {
        case .shardsWitnessed(let sizes): places.witnessed = ShardSizes(places.witnessed.all + sizes.all)
        case .personPlaced(let person, let shard): persons.change(person) { $0.home = shard }
        case .directoryFollowed(let shard, let directory, let upTo): follow(shard, directory, upTo: upTo)
        default: return
        }
    }

    private mutating func follow(_ shard: ShardNumber, _ directory: Identifier128?, upTo number: Int64) {
        if places.own == nil {
            places.own = shard
            persons.next = shard.firstID
            tokens.next = shard.firstID
            grants.next = shard.firstID
            regions.next = shard.firstID
            invitations.next = shard.firstID
        }
        if let directory { places.directory = directory }
        places.followed = number
    }
}
