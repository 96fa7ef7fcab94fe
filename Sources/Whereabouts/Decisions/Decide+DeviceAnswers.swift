// The answer to a device's own message, as the OwnTracks apps expect it: the locations of its owner's friends, and
// whether to report at once.

extension Standing {
    /// The owner of the calling device; `nil` if the caller is not a device.
    package func owner(of caller: Caller) -> PersonID? {
        guard caller.scopes.contains(.report), let device = devices[DeviceID(rawValue: caller.principal.rawValue)],
            !device.isRemoved
        else { return nil }
        return device.person
    }

    /// The permits of the friends whose newest location `person` may be shown now without asking, in the order in which
    /// they were added; at most ``Limits/friendsInAnswer``. Friends who were shown too often already, who want to be
    /// asked each time, or who show names of places alone, which the apps cannot draw, are left out.
    package func friends(of person: PersonID, at now: Timestamp) -> [Permit] {
        let subjects = Set(grants.held(by: person).compactMap { grants[$0]?.subject }).sorted()
        var permits: [Permit] = []
        // No lazy sequence: its closure would copy the whole standing, for every report.
        for subject in subjects where permits.count < Limits.friendsInAnswer {
            if let permit = permit(for: subject, shownTo: person, at: now) { permits.append(permit) }
        }
        return permits
    }

    /// The persons whom the caller may locate now, by handle: the person itself and those who gave a grant. For the
    /// operator, everyone.
    package func locatable(by caller: Caller, at now: Timestamp) -> [Handle] {
        if caller.principal == .operator { return persons.handles.sorted() }
        let person = PersonID(rawValue: caller.principal.rawValue)
        guard let own = persons[person]?.handle else { return [] }
        let subjects = Set(grants.held(by: person).compactMap { grants[$0]?.subject })
        let handles = subjects.compactMap { persons[$0]?.handle }.filter { handle in
            if case .success = authorize(caller, to: .readLocation, about: handle, at: now) { true } else { false }
        }
        return ([own] + handles).sorted()
    }

    /// The devices of a person that were not removed, in the order in which they were added.
    package func deviceHandles(of person: PersonID) -> [(DeviceID, Handle)] {
        (persons[person]?.devices ?? []).compactMap { id in
            guard let device = devices[id], !device.isRemoved else { return nil }
            return device.handle.map { (id, $0) }
        }
    }

    private func permit(for subject: PersonID, shownTo person: PersonID, at now: Timestamp) -> Permit? {
        // The grant is the person's: only here does a reporting key act for its owner.
        let owner = Caller(principal: person.principal, scopes: .query, token: nil)
        guard let handle = persons[subject]?.handle,
            case .success(let permit) = authorize(owner, to: .readLocation, about: handle, at: now),
            permit.precision > .place,
            secondsUntil(.read, under: permit.verdict, of: person.principal, about: subject, at: now) == nil
        else { return nil }
        return permit
    }

    /// The open queries about `person` that may be passed on to their devices.
    package func questionsToPassOn(about person: PersonID, _ questionTime: QuestionTime) -> [QueryID] {
        queries.open(about: person).filter { id in
            queries[id].map { !$0.awaitsConsent && questionTime(id, $0) < $0.deadline } ?? false
        }
    }

    /// Records that each of `friends` is shown to the device's owner, and the queries that the device must report for,
    /// each once.
    ///
    /// - Throws: ``Refusal/noSuchPerson`` if one of the friends may no longer be shown as computed. The answer is then
    ///   dropped.
    func answerDevice(
        friends: [Permit], asOf: Int64, answerHash: Hash256, by caller: Caller, at now: Timestamp,
        questionTime: QuestionTime
    ) throws(Refusal) -> Decision {
        guard let person = owner(of: caller) else { throw .notFound }
        var decision = Decision()
        for friend in friends {
            guard permit(for: friend.subject, shownTo: person, at: now) == friend else { throw .noSuchPerson }
            decision.append(
                .locationRead(
                    LocationRead(
                        subject: friend.subject, reader: person.principal, question: .friends, verdict: friend.verdict,
                        precision: friend.precision, asOf: asOf, count: 1,
                        content: .open(
                            LocationRead.Content(purpose: nil, from: nil, to: nil, answerHash: answerHash)))),
                to: .audit(friend.subject))
        }
        command(DeviceID(rawValue: caller.principal.rawValue), of: person, questionTime, in: &decision)
        return decision
    }

    /// Records that the house commands a device to report, as
    /// ``answerDevice(friends:asOf:answerHash:by:at:questionTime:)`` does for an answer to the device.
    func commandReports(
        of device: DeviceID, by caller: Caller, _ questionTime: QuestionTime
    ) throws(Refusal) -> Decision {
        try requireHouse(caller)
        var decision = Decision()
        guard let known = devices[device], !known.isRemoved else { return decision }
        command(device, of: known.person, questionTime, in: &decision)
        return decision
    }

    /// Whether a query for the device's owner is open for which the device has not been told to report.
    package func isToBeCommanded(_ device: DeviceID, _ questionTime: QuestionTime) -> Bool {
        guard let known = devices[device], !known.isRemoved else { return false }
        return !questionsToCommand(device, of: known.person, questionTime).isEmpty
    }

    /// The open queries for the owner for which the device has not been told to report.
    private func questionsToCommand(
        _ device: DeviceID, of person: PersonID, _ questionTime: QuestionTime
    ) -> [QueryID] {
        questionsToPassOn(about: person, questionTime).filter {
            queries[$0]?.waking.commanded.contains(device) == false
        }
    }

    /// Appends one event for each such query.
    private func command(
        _ device: DeviceID, of person: PersonID, _ questionTime: QuestionTime, in decision: inout Decision
    ) {
        for id in questionsToCommand(device, of: person, questionTime) {
            decision.append(
                .locationReportCommanded(query: id, device: device), to: .audit(person), cause: queries[id]?.number ?? 0
            )
        }
    }
}
