/// What a caller may see of a subject, and why.
package struct Permit: Hashable, Sendable {
    package let subject: PersonID
    package let verdict: Verdict
    package let precision: Precision
    /// Nothing from before this moment may be shown.
    package let notBefore: Timestamp?
}

/// What a caller wants to do about a person.
package enum Act: Hashable, Sendable {
    /// Ask where the person is now, or read the newest fix.
    case ask
    /// Read the person's past.
    case readHistory
    /// Read who asked for the person.
    case audit
    /// Change the person's devices, grants and regions.
    case manage
}

extension Standing {
    /// The one place where it is decided who may do what about whom.
    ///
    /// The subject may do everything about themselves that the token's scopes allow; the operator may manage, and read on
    /// record; anybody else needs a grant in force, of which the newest counts.
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
            case .ask, .readHistory: .query
            case .audit: .audit
            case .manage: .manage
            }
        guard caller.scopes.contains(needed) else { return refused(.missingScope) }
        if caller.principal == .operator {
            return .success(Permit(subject: subject, verdict: .operatorOnRecord, precision: .exact, notBefore: nil))
        }
        if caller.principal == subject.principal {
            return .success(Permit(subject: subject, verdict: .own, precision: .exact, notBefore: nil))
        }
        guard act == .ask || act == .readHistory else { return refused(.noGrant) }
        let held = grants(of: subject, for: PersonID(rawValue: caller.principal.rawValue))
        guard !held.isEmpty else { return refused(.noGrant) }
        guard let grant = held.last(where: { $0.isInForce(at: now) }) else { return refused(.notInForce) }
        guard grant.precision > .none else { return refused(.precisionNone) }
        // A history of snapped places would still tell the time of every step from cell to cell.
        guard act == .ask || (grant.includesHistory && grant.precision == .exact) else {
            return refused(.historyNotGranted)
        }
        return .success(
            Permit(
                subject: subject, verdict: .granted(grant.id), precision: grant.precision, notBefore: grant.from))
    }

    /// What reading the stored answer to `question` needs.
    package func authorize(
        _ caller: Caller, toRead question: ReadQuestion, at now: Timestamp
    ) -> Result<Permit, RefusedAct> {
        let act: Act =
            switch question.question {
            case .location: .ask
            case .track, .visits, .crossings: .readHistory
            case .audit, .events: .audit
            case .settings: .manage
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
