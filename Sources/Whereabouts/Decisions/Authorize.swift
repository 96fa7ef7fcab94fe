/// What a caller may see of a subject, and why.
package struct Permit: Hashable, Sendable {
    package let subject: PersonID
    package let verdict: Verdict
    package let precision: Precision
    /// Nothing from before this moment may be shown.
    package let notBefore: Timestamp?
    /// Nothing from outside these hours may be shown.
    package let hours: WeeklyHours?
    /// Nothing from these stretches may be shown, and no question is passed on during one.
    package let pauses: [Pause]
    /// The subject answers each question before it is passed on.
    package let asksEachTime: Bool

    /// One without a grant.
    init(subject: PersonID, _ verdict: Verdict) {
        (self.subject, self.verdict, precision) = (subject, verdict, .exact)
        (notBefore, hours, pauses, asksEachTime) = (nil, nil, [], false)
    }

    init(_ grant: Grant, pauses: [Pause]) {
        (subject, verdict, precision) = (grant.subject, .granted(grant.id), grant.precision)
        (notBefore, hours, asksEachTime) = (grant.from, grant.hours, grant.asksEachTime)
        self.pauses = pauses
    }

    package func isPaused(at now: Timestamp) -> Bool { pauses.contains { $0.contains(now) } }

    /// Whether something that was so at `moment` may be shown.
    package func shows(_ moment: Timestamp) -> Bool {
        (notBefore.map { $0 <= moment } ?? true) && (hours?.contains(moment) ?? true) && !isPaused(at: moment)
    }

    /// Whether something that was so from `start` to `end` may be shown: a part of it would tell of the rest.
    package func shows(from start: Timestamp, to end: Timestamp) -> Bool {
        (hours?.hold(from: start, to: end) ?? true)
            && !pauses.contains { $0.from <= end && ($0.until.map { start < $0 } ?? true) }
    }

    /// The latest moment at or before `moment` from which something may be shown.
    package func latestShown(atOrBefore moment: Timestamp) -> Timestamp? {
        var moment = moment
        while true {
            if let hours {
                guard let held = hours.latest(atOrBefore: moment) else { return nil }
                moment = held
            }
            if let notBefore, moment < notBefore { return nil }
            guard let pause = pauses.first(where: { $0.contains(moment) }) else { return moment }
            moment = Timestamp(milliseconds: pause.from.milliseconds - 1)
        }
    }
}

/// What a caller wants to do about a person.
package enum Act: Hashable, Sendable {
    /// Ask where the person is now.
    case ask
    /// Read the newest location that is stored.
    case readLocation
    /// Read the person's past.
    case readHistory
    /// Read who asked for the person.
    case audit
    /// Change the person's devices, grants and regions.
    case manage
    /// Say yes or no to a question, in the person's own name.
    case consent
}

extension Standing {
    /// The one place where it is decided who may do what about whom.
    ///
    /// The subject may do everything about themselves that the token's scopes allow; the operator may manage, and read on
    /// record; anybody else needs a grant in force, of which the newest counts. A phone of the subject says yes or no in
    /// the subject's name, and the operator never does.
    ///
    /// - Returns: the permit, or the true reason of the refusal, which is recorded; the caller is told
    ///   ``Refusal/noSuchPerson`` in every case.
    package func authorize(
        _ caller: Caller, to act: Act, about handle: Handle, at now: Timestamp
    ) -> Result<Permit, RefusedAct> {
        guard let subject = person(handle) else { return .failure(RefusedAct(subject: nil, code: .unknownPerson)) }
        func refused(_ code: RefusalCode) -> Result<Permit, RefusedAct> {
            .failure(RefusedAct(subject: subject, code: code))
        }
        let needed: Scopes =
            switch act {
            case .ask, .readLocation, .readHistory: .query
            case .audit: .audit
            case .manage: .manage
            case .consent: isPhone(caller, of: subject) ? .report : .manage
            }
        guard caller.scopes.contains(needed) else { return refused(.missingScope) }
        if caller.principal == .operator, act != .consent {
            return .success(Permit(subject: subject, .operatorOnRecord))
        }
        if caller.principal == subject.principal || (act == .consent && isPhone(caller, of: subject)) {
            return .success(Permit(subject: subject, .own))
        }
        guard act == .ask || act == .readLocation || act == .readHistory else { return refused(.noGrant) }
        let held = grants(of: subject, for: PersonID(rawValue: caller.principal.rawValue))
        guard !held.isEmpty else { return refused(.noGrant) }
        guard let grant = held.last(where: { $0.isInForce(at: now) }) else { return refused(.notInForce) }
        guard grant.precision > .none else { return refused(.precisionNone) }
        // What is stored is shown without anybody being asked.
        guard act == .ask || !grant.asksEachTime else { return refused(.consentNeeded) }
        // A history of snapped places would still tell the time of every step from cell to cell.
        guard act != .readHistory || (grant.includesHistory && grant.precision == .exact) else {
            return refused(.historyNotGranted)
        }
        return .success(Permit(grant, pauses: persons[subject]?.pauses ?? []))
    }

    private func isPhone(_ caller: Caller, of person: PersonID) -> Bool {
        devices[DeviceID(rawValue: caller.principal.rawValue)].map { $0.person == person && !$0.isRemoved } ?? false
    }

    /// What reading the stored answer to `question` needs.
    package func authorize(
        _ caller: Caller, toRead question: ReadQuestion, at now: Timestamp
    ) -> Result<Permit, RefusedAct> {
        let act: Act =
            switch question.question {
            case .location, .friends: .readLocation
            case .track, .visits, .crossings, .trips, .places, .summary: .readHistory
            case .audit, .events, .live: .audit
            case .settings: .manage
            case .consent: .consent
            }
        return authorize(caller, to: act, about: question.subject, at: now)
    }

    /// Whether the credentials a caller showed still hold; looked at again by the writer for every command.
    package func isValid(_ caller: Caller, at now: Timestamp) -> Bool {
        guard let id = caller.token else { return caller.principal == .house }
        guard let token = tokens[id], !token.isRevoked else { return false }
        return token.issued.until.map { now < $0 } ?? true
    }

    /// The caller whose secret has this hash.
    package func caller(tokenHash: Hash256, at now: Timestamp) -> Caller? {
        guard let id = tokenByHash[tokenHash], let token = tokens[id] else { return nil }
        let caller = Caller(principal: token.issued.principal, scopes: token.issued.scopes, token: id)
        return isValid(caller, at: now) ? caller : nil
    }
}

/// A refusal before it is recorded: its true reason, and whom it is about if there is such a person.
package struct RefusedAct: Error, Hashable, Sendable {
    package let subject: PersonID?
    package let code: RefusalCode
}
