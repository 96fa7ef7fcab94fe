// How long reports are kept, and the destruction of the keys of older ones.

extension Standing {
    /// Decides a command about retention.
    func retain(_ command: Command, by caller: Caller, at now: Timestamp) throws(Refusal) -> Decision {
        switch command {
        case .setRetention(let person, let days): return try setRetention(of: person, days: days, by: caller, at: now)
        case .applyRetention(let person, let keys):
            return try applyRetention(to: person, keys: keys, by: caller, at: now)
        default: preconditionFailure("The command is about something else.")
        }
    }

    /// Sets the days that a person's reports are kept, or with `nil` as handle everyone's; `nil` days for no limit.
    ///
    /// A person's own rule can only be shorter than the house's, so that it never weakens it. The keys of older reports
    /// are destroyed at the next look of the timekeeper, and from then on once a day.
    ///
    /// - Throws: ``Refusal/invalid(_:)`` for days outside ``Limits/retentionDays``, for a rule longer than the house's, and
    ///   after ``Limits/retentionRules`` changes.
    private func setRetention(
        of handle: Handle?, days: Int64?, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        var person: PersonID?
        if let handle {
            person = try manage(handle, by: caller, at: now)
        } else if !caller.scopes.contains(.operate) {
            throw .notFound
        }
        if let days, !Limits.retentionDays.contains(days) {
            throw .invalid(
                "\"trackDays\" must be \(Limits.retentionDays.lowerBound) to \(Limits.retentionDays.upperBound), for example 30; 0 keeps the present day only."
            )
        }
        if person != nil, let days, let most = retention.house.last?.days, days > most {
            throw .invalid("This house keeps reports for \(most) days at most; choose fewer days.")
        }
        let rules = person.map { retention.persons[$0] ?? [] } ?? retention.house
        var decision = Decision()
        if rules.last?.days == days { return decision }
        guard rules.count < Limits.retentionRules else {
            throw .invalid("The rule was changed \(Limits.retentionRules) times, and cannot be changed any more.")
        }
        decision.append(.retentionSet(.track, days: days), to: person.map { StreamID.audit($0) } ?? .house)
        return decision
    }

    /// Destroys keys of a person's track. They are destroyed after the commit.
    ///
    /// - Parameter keys: The ids and periods of keys that exist. Those whose reports are still kept are left out, so that
    ///   a command that comes late or twice destroys nothing else.
    private func applyRetention(
        to person: PersonID, keys: [(id: Int64, period: Int64)], by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        try requireHouse(caller)
        var decision = Decision()
        guard persons[person]?.isErased == false,
            let due = retention.due(of: person, at: now, through: place)
        else { return decision }
        let done = Set(retention.last[person]?.keys ?? [])
        let over = keys.filter { due.isOver($0.period) && !done.contains($0.id) }.map(\.id).sorted()
        if over.isEmpty { return decision }
        let applied = AppliedRetention(
            keyClass: .track, days: due.days,
            before: Timestamp(milliseconds: due.before.number * CalendarDay.milliseconds), keys: over,
            numbers: due.numbers)
        decision.append(
            .retentionApplied(applied, kept(of: person, without: due.numbers).map { .open($0) }), to: .audit(person))
        return decision
    }
}
