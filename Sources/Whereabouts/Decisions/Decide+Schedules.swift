// The service's own queries: set by the person they are about, and asked when they are due.

extension Standing {
    /// Adds a schedule, at most ``Limits/schedulesPerPerson`` for a person. Its id is the number of its event.
    ///
    /// - Throws: ``Refusal/invalid(_:)`` for an interval outside ``Limits/scheduleSeconds``, or an end in the past.
    func setSchedule(
        of handle: Handle, everySeconds: Int64, until: Timestamp?, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        let person = try manage(handle, by: caller, at: now)
        guard Limits.scheduleSeconds.contains(everySeconds) else {
            throw .invalid(
                "A schedule's interval must be \(Limits.scheduleSeconds.lowerBound) to \(Limits.scheduleSeconds.upperBound) seconds."
            )
        }
        if let until, until <= now { throw .invalid("The schedule's end is in the past; choose a later one.") }
        guard (persons[person]?.schedules.count ?? 0) < Limits.schedulesPerPerson else {
            throw .invalid("A person has at most \(Limits.schedulesPerPerson) schedules; remove one first.")
        }
        var decision = Decision()
        decision.append(.scheduleSet(everySeconds: everySeconds, until: until), to: .audit(person))
        decision.reply = .schedule(ScheduleID(rawValue: place + 1))
        return decision
    }

    /// Ends a schedule. Its open query continues.
    func removeSchedule(
        _ id: ScheduleID, of handle: Handle, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        let person = try manage(handle, by: caller, at: now)
        guard schedules[id]?.person == person else { throw .notFound }
        var decision = Decision()
        decision.append(.scheduleRemoved(id), to: .audit(person))
        return decision
    }

    /// Asks for a person if a schedule of theirs is due. Otherwise does nothing, so that a command repeated after a
    /// restart asks once.
    ///
    /// A fix from the latter half of the interval is recent enough, and needs no push.
    func askScheduled(
        _ id: ScheduleID, query: QueryID, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        try requireHouse(caller)
        var decision = Decision()
        guard let schedule = schedules[id], schedule.isDue(at: now), queries[query] == nil,
            queries.openCount < Limits.openQueries
        else { return decision }
        let audit = StreamID.audit(schedule.person)
        let maxAge = schedule.everySeconds / 2
        decision.append(
            .locationQueried(
                LocationQuery(
                    id: query, subject: schedule.person, requester: .house, verdict: .own, initiation: .server,
                    deadline: now.adding(seconds: Limits.serverQueryDeadlineSeconds), maxAgeSeconds: maxAge,
                    purposeForSubject: .open("schedule \(id.rawValue)"), purposeForRequester: nil)),
            to: audit, cause: id.rawValue)
        decision.reply = .query(query)
        if let newest = persons[schedule.person]?.countedFix, newest.timestamp.adding(seconds: maxAge) >= now {
            decision.append(
                .locationQueryEnded(query, .answeredFromLastKnown, fix: newest.number), to: audit, cause: place + 1)
        }
        return decision
    }
}

extension Order where Reply == ScheduleID {
    /// ``Command/setSchedule(of:everySeconds:until:)``
    package static func setSchedule(of person: Handle, everySeconds: Int64, until: Timestamp?) -> Order {
        Order(.setSchedule(of: person, everySeconds: everySeconds, until: until)) {
            if case .schedule(let id) = $0 { id } else { nil }
        }
    }
}
