// Persons: added and erased.

extension Standing {
    /// Adds a person; only the operator may. The reply has the new id.
    ///
    /// - Throws: ``Refusal/alreadyExists(_:)`` if a person has the handle.
    func addPerson(
        _ handle: Handle, among shards: [ShardNumber], by caller: Caller
    ) throws(Refusal) -> Decision {
        try requireOperator(caller)
        guard person(handle) == nil else {
            throw .alreadyExists("A person of this name exists; choose another handle.")
        }
        let person = PersonID(rawValue: persons.next)
        var decision = Decision()
        decision.append(.personAdded(person, handle: .open(handle)), to: .audit(person))
        if let shard = home(among: shards) { decision.append(.personPlaced(person, shard), to: .house) }
        decision.reply = .person(person)
        return decision
    }

    /// Ends everything under way about a person whom the caller may manage, then erases the person.
    func erasePerson(_ handle: Handle, by caller: Caller, at now: Timestamp) throws(Refusal) -> Decision {
        erasing(try manage(handle, by: caller, at: now))
    }

    /// As ``erasePerson(_:by:at:)``, in a restored log that does not have the erasure. The name may be unreadable
    /// already.
    func finishErasure(of person: PersonID, by caller: Caller) throws(Refusal) -> Decision {
        try requireHouse(caller)
        guard persons[person]?.isErased == false else { throw .notFound }
        return erasing(person)
    }

    /// The events of an erasure: the ends of the queries about the person and by them, then the erasure itself. The
    /// keys are destroyed after the commit.
    func erasing(_ person: PersonID) -> Decision {
        var decision = Decision()
        for query in queries.open(about: person) {
            decision.append(
                .locationQueryEnded(query, .cancelled, fix: nil), to: .audit(person),
                cause: queries[query]?.number ?? 0)
        }
        // The person's own queries end too; their subjects' audits record that before the person is erased.
        for id in queries.order {
            guard let query = queries[id], query.requester == person.principal, query.subject != person,
                query.end == nil
            else { continue }
            decision.append(
                .locationQueryEnded(id, .cancelled, fix: nil), to: .audit(query.subject), cause: query.number)
        }
        decision.append(.personErased(person), to: .audit(person))
        decision.reply = .erased(person)
        return decision
    }
}
