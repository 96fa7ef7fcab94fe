// Withdrawing and restoring fixes and reported visits. The caller has read their events in the log, which never change.

extension Standing {
    /// Withdraws or restores fixes or reported visits, as the command says.
    func revise(_ command: Command, by caller: Caller, at now: Timestamp) throws(Refusal) -> Decision {
        switch command {
        case .withdrawFixes(let fixes, let revision, let person):
            return try withdraw(fixes, revision, of: person, by: caller, at: now) { .fixesWithdrawn($0, $1) }
        case .restoreFixes(let fixes, let revision, let person):
            return try restore(fixes, revision, of: person, by: caller, at: now) { .fixesRestored($0, $1) }
        case .withdrawVisits(let visits, let revision, let person):
            return try withdraw(visits, revision, of: person, by: caller, at: now) { .visitsWithdrawn($0, $1) }
        case .restoreVisits(let visits, let revision, let person):
            return try restore(visits, revision, of: person, by: caller, at: now) { .visitsRestored($0, $1) }
        default: preconditionFailure("Only the four commands that revise reports come here.")
        }
    }

    /// Withdraws fixes or visits. If all of them are withdrawn already, there is no event.
    private func withdraw(
        _ fixes: FixNumbers, _ revision: FixRevision, of handle: Handle, by caller: Caller, at now: Timestamp,
        _ event: (FixNumbers, Part<FixRevision>) -> Event
    ) throws(Refusal) -> Decision {
        let (id, person) = try owner(of: fixes, revision, handle, by: caller, at: now)
        var decision = Decision()
        if person.withdrawn.numbers.contains(fixes.numbers) { return decision }
        guard person.withdrawn.numbers.ranges.count < Limits.withdrawnRangesPerPerson else {
            throw .invalid(
                "A person has at most \(Limits.withdrawnRangesPerPerson) runs of withdrawn fixes; restore some first.")
        }
        decision.append(event(fixes, .open(revision)), to: .audit(id))
        return decision
    }

    /// Restores withdrawn fixes or visits. If none of them is withdrawn, there is no event.
    private func restore(
        _ fixes: FixNumbers, _ revision: FixRevision, of handle: Handle, by caller: Caller, at now: Timestamp,
        _ event: (FixNumbers, Part<FixRevision>) -> Event
    ) throws(Refusal) -> Decision {
        let (id, person) = try owner(of: fixes, revision, handle, by: caller, at: now)
        var decision = Decision()
        guard person.withdrawn.numbers.overlaps(fixes.numbers) else { return decision }
        var rest = person.withdrawn.numbers
        rest.remove(fixes.numbers)
        guard rest.ranges.count <= max(person.withdrawn.numbers.ranges.count, Limits.withdrawnRangesPerPerson) else {
            throw .invalid(
                "A person has at most \(Limits.withdrawnRangesPerPerson) runs of withdrawn fixes; restore whole runs.")
        }
        decision.append(event(fixes, .open(revision)), to: .audit(id))
        return decision
    }

    /// The person whose device reported the fixes, if the caller may withdraw and restore them.
    private func owner(
        of fixes: FixNumbers, _ revision: FixRevision, _ handle: Handle, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> (PersonID, Person) {
        let id = try manage(handle, by: caller, at: now)
        guard let person = persons[id], devices[fixes.device]?.person == id, fixes.numbers.lowerBound > 0,
            fixes.numbers.upperBound <= place
        else { throw .notFound }
        if let defect = FixRevision.defect(ofReason: revision.reason) { throw .invalid(defect) }
        return (id, person)
    }
}
