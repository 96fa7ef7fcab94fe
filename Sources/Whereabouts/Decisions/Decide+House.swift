// Persons, devices, tokens and regions.

extension Standing {
    /// Adds a person; only the operator may. The reply has the new id.
    ///
    /// - Throws: ``Refusal/alreadyExists(_:)`` if a person has the handle.
    func addPerson(_ handle: Handle, by caller: Caller) throws(Refusal) -> Decision {
        try requireOperator(caller)
        guard personByHandle[handle] == nil else {
            throw .alreadyExists("A person of this name exists; choose another handle.")
        }
        let person = PersonID(rawValue: nextPrincipal)
        var decision = Decision()
        decision.append(.personAdded(person, handle: .open(handle)), to: .audit(person))
        decision.reply = .person(person)
        return decision
    }

    /// Adds a device to a person, with a reporting key if `key` has its hash. The reply is then the token, otherwise
    /// the device.
    ///
    /// Except for the operator, the handle must be `OWNER.NAME`, so that no other person's device can have it.
    func addDevice(
        _ handle: Handle, of owner: Handle, key: Hash256?, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        let person = try manage(owner, by: caller, at: now)
        // Only the operator may learn from a refusal which names other people's devices have.
        guard caller.principal == .operator || handle.isDevice(of: owner) else {
            throw .invalid("Name your device \(owner.text).NAME, with no \".\" in NAME.")
        }
        guard deviceByHandle[handle] == nil else {
            throw .alreadyExists("A device of this name exists; choose another handle.")
        }
        let device = DeviceID(rawValue: nextPrincipal)
        var decision = Decision()
        decision.append(.deviceAdded(device, of: person, handle: .open(handle)), to: .audit(person))
        decision.reply = .device(device)
        if let key {
            let token = TokenID(rawValue: nextToken)
            decision.append(
                .tokenIssued(
                    AccessToken(id: token, principal: device.principal, scopes: .report, hash: key, until: nil)),
                to: .audit(person))
            decision.reply = .token(token)
        }
        return decision
    }

    /// Removes a device. Its tokens no longer count; its fixes stay.
    func removeDevice(_ handle: Handle, by caller: Caller, at now: Timestamp) throws(Refusal) -> Decision {
        let (device, person) = try managedDevice(handle, by: caller, at: now)
        var decision = Decision()
        decision.append(.deviceRemoved(device), to: .audit(person))
        return decision
    }

    /// A device whose owner the caller may manage. Another person's device is refused like one that does not exist.
    private func managedDevice(
        _ handle: Handle, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> (DeviceID, PersonID) {
        guard let device = deviceByHandle[handle], let person = devices[device]?.person,
            let owner = persons[person]?.handle,
            case .success = authorize(caller, to: .manage, about: owner, at: now)
        else { throw .notFound }
        return (device, person)
    }

    /// Records the hash of a new token; the secret is never in the log.
    ///
    /// - Throws: ``Refusal/invalid(_:)`` without scopes, for scopes that the holder cannot have, or for an end in the
    ///   past.
    func issueToken(
        for holder: TokenHolder, scopes: Scopes, hash: Hash256, until: Timestamp?, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        guard !scopes.isEmpty else { throw .invalid("A token needs at least one scope; name one with --scopes.") }
        if let until, until <= now { throw .invalid("The token's end is in the past; choose a later one.") }
        guard tokenByHash[hash] == nil else { throw .invalid("This token exists already; try again.") }
        let principal: PrincipalID
        let stream: StreamID
        let allowed: Scopes
        switch holder {
        case .operator:
            guard caller == .house else {
                throw .invalid("The service itself makes the operator's token; it is in the file admin.token.")
            }
            (principal, stream) = (.operator, .house)
            allowed = [.query, .audit, .manage, .operate]
        case .person(let handle):
            let person = try manage(handle, by: caller, at: now)
            (principal, stream, allowed) = (person.principal, .audit(person), [.query, .audit, .manage])
        case .device(let handle):
            let (device, person) = try managedDevice(handle, by: caller, at: now)
            (principal, stream, allowed) = (device.principal, .audit(person), [.report])
        }
        guard allowed.isSuperset(of: scopes) else {
            throw .invalid("A token of this holder can only have the scopes \(allowed.words.joined(separator: ", ")).")
        }
        let token = TokenID(rawValue: nextToken)
        var decision = Decision()
        decision.append(
            .tokenIssued(AccessToken(id: token, principal: principal, scopes: scopes, hash: hash, until: until)),
            to: stream)
        decision.reply = .token(token)
        return decision
    }

    /// Revokes a token, and the sessions and unused codes that were made from it.
    ///
    /// - Throws: ``Refusal/notFound`` for an unknown or revoked token, and for one whose holder the caller may not
    ///   manage.
    func revokeToken(_ id: TokenID, by caller: Caller, at now: Timestamp) throws(Refusal) -> Decision {
        guard let token = tokens[id], !token.isRevoked else { throw .notFound }
        let holder = token.issued.principal
        let owner = devices[DeviceID(rawValue: holder.rawValue)]?.person ?? PersonID(rawValue: holder.rawValue)
        guard let handle = persons[owner]?.handle else { throw .notFound }
        guard case .success = authorize(caller, to: .manage, about: handle, at: now) else { throw .notFound }
        var decision = Decision()
        decision.append(.tokenRevoked(id), to: .audit(owner))
        // The sessions that go back to it end with it, and so do codes that are still unused.
        let number = place + 1
        for other in liveTokens(at: now, where: { $0.madeFrom == id }) {
            decision.append(.tokenRevoked(other), to: stream(of: other), cause: number)
        }
        return decision
    }

    /// Adds a region, at most ``Limits/regionsPerPerson`` for a person.
    ///
    /// - Throws: ``Refusal/alreadyExists(_:)`` if the person has a region of this name.
    func addRegion(
        _ region: Region, of owner: Handle, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        let person = try manage(owner, by: caller, at: now)
        let existing = persons[person]?.regions ?? []
        guard existing.count < Limits.regionsPerPerson else {
            throw .invalid("A person has at most \(Limits.regionsPerPerson) regions; remove one first.")
        }
        guard !existing.contains(where: { regions[$0]?.identifier == region.identifier }) else {
            throw .alreadyExists("A region of this name exists; remove it first or choose another name.")
        }
        let id = RegionID(rawValue: nextRegion)
        var decision = Decision()
        decision.append(.regionAdded(id, .open(region)), to: .audit(person))
        decision.reply = .region(id)
        return decision
    }

    /// Removes a region by its name. Its crossings so far stay.
    func removeRegion(
        _ identifier: String, of owner: Handle, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        let person = try manage(owner, by: caller, at: now)
        guard let id = persons[person]?.regions.first(where: { regions[$0]?.identifier == identifier }) else {
            throw .notFound
        }
        var decision = Decision()
        decision.append(.regionRemoved(id), to: .audit(person))
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

    /// Records that the log was restored from a backup, and the new epoch.
    func recordRestore(epoch: Int64, by caller: Caller) throws(Refusal) -> Decision {
        try requireHouse(caller)
        var decision = Decision()
        decision.append(.logRestored(epoch: epoch), to: .house)
        return decision
    }

    /// Records that the operator accepts the loss of durable events.
    func recordLoss(from: Int64, to: Int64, epoch: Int64, by caller: Caller) throws(Refusal) -> Decision {
        try requireHouse(caller)
        var decision = Decision()
        decision.append(.lossAccepted(from: from, to: to, epoch: epoch), to: .house)
        return decision
    }

    /// - Throws: ``Refusal`` unless the caller may operate the service.
    func recordAct(_ act: OperatorAct, by caller: Caller) throws(Refusal) -> Decision {
        guard caller.scopes.contains(.operate) else { throw .notFound }
        var decision = Decision()
        if case .failed(let number) = act {
            decision.append(.operatorActed(act), to: .house, cause: number)
        } else {
            decision.append(.operatorActed(act), to: .house)
        }
        return decision
    }

    /// The events of an erasure: the ends of the queries about the person and by them, then the erasure itself. The
    /// keys are destroyed after the commit.
    private func erasing(_ person: PersonID) -> Decision {
        var decision = Decision()
        for query in openQueries[person] ?? [] {
            decision.append(
                .locationQueryEnded(query, .cancelled, fix: nil), to: .audit(person),
                cause: queries[query]?.number ?? 0)
        }
        // The person's own queries end too; their subjects' audits record that before the person is erased.
        for id in queryOrder {
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

extension Handle {
    /// Whether it has the form of the person's own devices, which no other person's can have.
    fileprivate func isDevice(of owner: Handle) -> Bool {
        guard let dot = text.lastIndex(of: "."), text.index(after: dot) < text.endIndex else { return false }
        return text[..<dot] == owner.text
    }
}
