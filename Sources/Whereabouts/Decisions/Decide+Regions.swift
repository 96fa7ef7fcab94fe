// Regions of persons, by name. Those that an app draws are in `WaypointChanges`.

extension Standing {
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
        let id = RegionID(rawValue: regions.next)
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
}
