// A house with shards: which shard a person lives in, and what a shard takes over from the directory.

extension Standing {
    /// A command of the service itself about shards.
    func decideShards(_ command: Command, by caller: Caller) throws(Refusal) -> Decision {
        switch command {
        case .foundShard(let shard): try foundShard(shard, by: caller)
        case .followDirectory(let facts): try followDirectory(facts, by: caller)
        case .witnessShards(let sizes): try witnessShards(sizes, by: caller)
        default: preconditionFailure("The command is none about shards.")
        }
    }

    /// Records that the log is a shard's, before it has anything else.
    private func foundShard(_ shard: ShardNumber, by caller: Caller) throws(Refusal) -> Decision {
        try requireHouse(caller)
        guard places.own == nil, persons.all.isEmpty, tokens.all.isEmpty else {
            throw .invalid("This log has tokens or people already, so it cannot become a shard's.")
        }
        var decision = Decision()
        decision.append(.directoryFollowed(shard, directory: nil, upTo: 0), to: .house)
        return decision
    }

    /// The shard for a new person: that with the fewest people, of several the first. `nil` without shards.
    func home(among shards: [ShardNumber]) -> ShardNumber? {
        if shards.isEmpty { return nil }
        let counts = peopleOfShards
        return shards.min { (counts[$0] ?? 0, $0.rawValue) < (counts[$1] ?? 0, $1.rawValue) }
    }

    /// Takes over facts of the directory. They keep their numbers, actors and requests. A command with an erasure has no other fact.
    ///
    /// - Throws: ``Refusal/invalid(_:)`` if they do not continue those before, or are of another directory.
    private func followDirectory(_ facts: DirectoryFacts, by caller: Caller) throws(Refusal) -> Decision {
        try requireHouse(caller)
        guard let own = places.own else { throw .invalid("This log is not a shard's.") }
        guard places.directory == nil || places.directory == facts.directory else {
            throw .invalid("The directory has another log than the one that this shard has followed.")
        }
        guard facts.after >= places.followed, facts.upTo >= facts.after else {
            throw .invalid(
                "The directory's log is shorter than before: this shard has followed it up to event \(places.followed)."
            )
        }
        var decision = Decision()
        var added: Set<PersonID> = []
        for item in facts.items {
            if case .personErased(let person) = item.event {
                guard facts.items.count == 1 else { throw .invalid("An erasure comes alone.") }
                // A shard that never knew the person has nothing to erase.
                if persons[person]?.isErased == false { decision = erasing(person) }
                continue
            }
            try check(item, &added)
            decision.append(item.event, to: item.stream, as: item)
        }
        decision.append(.directoryFollowed(own, directory: facts.directory, upTo: facts.upTo), to: .house)
        return decision
    }

    /// Throws unless a fact continues what the shard knows.
    private func check(_ item: DirectoryFacts.Item, _ added: inout Set<PersonID>) throws(Refusal) {
        func isKnown(_ person: PersonID) -> Bool { added.contains(person) || persons[person]?.isErased == false }
        func isFree(_ number: Int64) -> Bool { ShardNumber(ofID: number) == nil && number >= 1 }
        let owner = item.stream.person
        let fits =
            switch item.event {
            case .personAdded(let person, .open(let handle)):
                isFree(person.rawValue) && persons[person] == nil && self.person(handle) == nil && owner == person
            case .personPlaced(let person, _): isKnown(person) && item.stream == .house
            case .deviceAdded(let device, let person, .open(let handle)):
                isFree(device.rawValue) && devices[device] == nil && self.device(handle) == nil && owner == person
                    && isKnown(person)
            case .deviceRemoved(let device): isFree(device.rawValue) && (owner.map(isKnown) ?? false)
            case .tokenIssued(let token):
                isFree(token.id.rawValue) && tokens[token.id] == nil && tokens.hashed(token.hash) == nil
                    && (owner.map(isKnown) ?? (item.stream == .house))
            case .tokenRevoked(let token): isFree(token.rawValue)
            default: false
            }
        guard fits else { throw .invalid("A fact of the directory does not continue what this shard knows.") }
        if case .personAdded(let person, _) = item.event { added.insert(person) }
    }

    /// Records the sizes of shards that the directory has checked.
    private func witnessShards(_ sizes: ShardSizes, by caller: Caller) throws(Refusal) -> Decision {
        try requireHouse(caller)
        var decision = Decision()
        if !sizes.all.isEmpty { decision.append(.shardsWitnessed(sizes), to: .house) }
        return decision
    }

    /// Throws if a command is not a shard's to decide: people, devices, tokens and sessions are the directory's, and a person
    /// who lives in another shard reports there.
    func requireOwn(_ command: Command, by caller: Caller) throws(Refusal) {
        guard places.own != nil, caller != .house else { return }
        if let device = devices[DeviceID(rawValue: caller.principal.rawValue)], livesElsewhere(device.person) {
            throw .invalid("The owner of this device lives in another shard; send reports to the directory.")
        }
        switch command {
        case .addPerson, .addDevice, .removeDevice, .issueToken, .makeSignInCode, .openSession, .endSession,
            .inviteToAccount, .withdrawAccountInvitation, .openAccount, .erasePerson:
            throw .invalid("This is a shard. People, devices, tokens and sessions change at the directory.")
        case .revokeToken(let token) where ShardNumber(ofID: token.rawValue) == nil:
            throw .invalid("This is a shard. People, devices, tokens and sessions change at the directory.")
        case .importFixes(let person, let device, _, _) where self.person(person) == nil || self.device(device) == nil:
            throw .invalid("This is a shard. Add the person and the device at the directory first.")
        default: return
        }
    }
}
