/// An act that a caller requests on a person's data.
package enum Act: Hashable, Sendable {
    /// Ask where the person is now.
    case ask
    /// Read the newest location that is stored.
    case readLocation
    /// Read the person's past.
    case readHistory
    /// Read the envelopes that are sealed for the caller.
    case readEnvelopes
    /// Read the person's audit.
    case audit
    /// Change the person's devices, grants and other settings.
    case manage
    /// Give or refuse consent in the person's name.
    case consent
}

extension Standing {
    /// Decides whether a caller may do an act on a person's data. No other code decides it.
    ///
    /// The subject may do everything with their own data that the token's scopes allow. The operator may manage, and
    /// read with a record. Everyone else needs a valid grant; the newest one counts. The subject's phone may give
    /// consent in the subject's name, the operator never.
    ///
    /// - Returns: The permit, or the true reason of the refusal. The reason is recorded; the caller gets
    ///   ``Refusal/noSuchPerson`` in every case.
    package func authorize(
        _ caller: Caller, to act: Act, about handle: Handle, at now: Timestamp
    ) -> Result<Permit, RefusedAct> {
        guard let subject = person(handle), !livesElsewhere(subject) else {
            return .failure(RefusedAct(subject: nil, code: .unknownPerson))
        }
        func refused(_ code: RefusalCode) -> Result<Permit, RefusedAct> {
            .failure(RefusedAct(subject: subject, code: code))
        }
        let needed: Scopes =
            switch act {
            case .ask, .readLocation, .readHistory, .readEnvelopes: .query
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
        guard act == .ask || act == .readLocation || act == .readHistory || act == .readEnvelopes else {
            return refused(.noGrant)
        }
        let held = grants(of: subject, for: PersonID(rawValue: caller.principal.rawValue))
        guard !held.isEmpty else { return refused(.noGrant) }
        guard let grant = held.last(where: { $0.isInForce(at: now) }) else { return refused(.notInForce) }
        guard grant.precision > .none else { return refused(.precisionNone) }
        // A link cannot wake the phone: anyone with the address could do so again and again. And it has no key.
        guard act != .ask && act != .readEnvelopes || links[LinkID(rawValue: caller.principal.rawValue)] == nil else {
            return refused(.missingScope)
        }
        // Stored data would be shown without consent.
        guard act == .ask || !grant.asksEachTime else { return refused(.consentNeeded) }
        // A history of snapped places would still disclose the time of every move from one cell to another.
        guard act != .readHistory || (grant.includesHistory && grant.precision == .exact) else {
            return refused(.historyNotGranted)
        }
        return .success(Permit(grant, pauses: persons[subject]?.sharing.pauses ?? []))
    }

    /// Whether the caller is one of the person's devices, and not a removed one.
    private func isPhone(_ caller: Caller, of person: PersonID) -> Bool {
        devices[DeviceID(rawValue: caller.principal.rawValue)].map { $0.person == person && !$0.isRemoved } ?? false
    }

    /// The rights that reading the stored answer to `question` needs.
    package func authorize(
        _ caller: Caller, toRead question: ReadQuestion, at now: Timestamp
    ) -> Result<Permit, RefusedAct> {
        let act: Act =
            switch question.question {
            case .location, .friends: .readLocation
            case .envelopes: .readEnvelopes
            case .track, .visits, .crossings, .trips, .places, .summary: .readHistory
            case .audit, .events, .live: .audit
            case .settings: .manage
            case .consent: .consent
            }
        return authorize(caller, to: act, about: question.subject, at: now)
    }

    /// Whether the caller's credentials are still valid. The writer checks again for every command.
    package func isValid(_ caller: Caller, at now: Timestamp) -> Bool {
        guard let id = caller.token else { return caller.principal == .house }
        return tokens[id]?.isValid(at: now) ?? false
    }

    /// The caller whose secret has this hash; `nil` also for a session's secret, which is good only as a cookie, and
    /// for a one-time code.
    package func caller(tokenHash: Hash256, at now: Timestamp) -> Caller? {
        guard let id = tokens.hashed(tokenHash), let token = tokens[id],
            token.issued.scopes.isDisjoint(with: [.session, .signIn])
        else { return nil }
        let caller = Caller(principal: token.issued.principal, scopes: token.issued.scopes, token: id)
        return isValid(caller, at: now) ? caller : nil
    }
}

/// A refusal before it is recorded: its true reason, and the subject if there is one.
package struct RefusedAct: Error, Hashable, Sendable {
    /// The person, if the name belongs to one.
    package let subject: PersonID?
    /// The true reason, which only the subject and the operator see.
    package let code: RefusalCode
}
