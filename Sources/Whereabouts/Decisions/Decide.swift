/// Looks up fixes in the log. The writer provides it, because the pure half cannot read the log or its index.
package protocol FixLookup {
    /// How a fix of this device relates to the fixes in the log.
    mutating func known(_ fix: Fix, device: DeviceID) -> KnownFix
}

/// The result of looking a fix up in the log.
package enum KnownFix: Hashable, Sendable {
    case none
    /// A fix of the same device, time and place that differs in another member, for example in the speed.
    case twin
    /// A fix with equal ``Fix/content``, and the number of its event.
    case same(Int64)

    /// Adds the result for another event. The same fix outranks a twin.
    package mutating func add(_ other: KnownFix) {
        if self == .none || other != .none && self == .twin { self = other }
    }
}

extension Standing {
    /// Turns a command into events, or into a refusal. Reads nothing but its arguments.
    ///
    /// - Throws: ``Refusal``. Refusals about a person are also events: they are returned as a decision with
    ///   ``Decision/refusal``.
    package func decide(
        _ command: Command, by caller: Caller, at now: Timestamp, questionTime: QuestionTime,
        known fixes: inout some FixLookup
    ) throws(Refusal) -> Decision {
        try admit(command, by: caller, at: now)
        switch command {
        case .reportFixes(let device, let reports):
            return try decideFixes(reports, of: device, by: caller, at: now, known: &fixes)
        case .importFixes(let person, let device, let reports, let file):
            return try importFixes(reports, of: person, device, in: file, by: caller, at: now, known: &fixes)
        case .beginImport(let file, let person): return try beginImport(file, of: person, by: caller)
        case .endImport(let id, let counts, let fault, let person):
            return try endImport(id, counts, fault: fault, of: person, by: caller)
        case .addPerson(let handle, let shards): return try addPerson(handle, among: shards, by: caller)
        case .addDevice(let name, let who, let key): return try addDevice(name, of: who, key: key, by: caller, at: now)
        case .removeDevice(let handle): return try removeDevice(handle, by: caller, at: now)
        case .issueToken(let holder, let scopes, let hash, let until):
            return try issueToken(for: holder, scopes: scopes, hash: hash, until: until, by: caller, at: now)
        case .revokeToken(let token): return try revokeToken(token, by: caller, at: now)
        case .giveGrant(let subject, let requester, let terms):
            return try giveGrant(subject: subject, requester: requester, terms, by: caller, at: now)
        case .revokeGrant(let grant): return try revokeGrant(grant, by: caller, at: now)
        case .addLink(let person, let terms, let request):
            return try addLink(of: person, terms, request, by: caller, at: now)
        case .openLink(let hash, let token, let isSession):
            return try openLink(hash, token: token, isSession: isSession, at: now)
        case .endLink(let link): return try endLink(link, by: caller, at: now)
        case .pauseSharing(let person, let until):
            return try pauseSharing(of: person, until: until, by: caller, at: now)
        case .resumeSharing(let person): return try resumeSharing(of: person, by: caller, at: now)
        case .invite(let subject, let terms, let hash, let expires):
            return try invite(subject: subject, terms, hash: hash, expires: expires, by: caller, at: now)
        case .withdrawInvitation(let id): return try withdrawInvitation(id, by: caller, at: now)
        case .makeSignInCode(let holder, let hash): return try makeSignInCode(for: holder, hash, by: caller, at: now)
        case .openSession(let from, let hash): return try openSession(from: from, hash, by: caller, at: now)
        case .endSession(let isEverywhere): return try endSession(isEverywhere: isEverywhere, by: caller, at: now)
        case .redeemInvitation(let hash): return try redeemInvitation(hash, by: caller, at: now)
        case .inviteToAccount(let person, let hash, let expires):
            return try inviteToAccount(of: person, hash: hash, expires: expires, by: caller, at: now)
        case .withdrawAccountInvitation(let id): return try withdrawAccountInvitation(id, by: caller, at: now)
        case .openAccount(let hash, let handle, let key, let shards):
            return try openAccount(hash, as: handle, key: key, among: shards, by: caller, at: now)
        case .answerConsent(let query, let person, let isGiven):
            return try answerConsent(
                query, of: person, isGiven: isGiven, by: caller, at: now, questionTime: questionTime)
        case .addRegion(let region, let person): return try addRegion(region, of: person, by: caller, at: now)
        case .removeRegion(let name, let who): return try removeRegion(name, of: who, by: caller, at: now)
        case .correct(let correction, let person): return try correct(correction, of: person, by: caller, at: now)
        case .withdrawCorrection(let id, let who): return try withdrawCorrection(id, of: who, by: caller, at: now)
        case .withdrawFixes, .restoreFixes, .withdrawVisits, .restoreVisits:
            return try revise(command, by: caller, at: now)
        case .setSchedule(let person, let seconds, let until):
            return try setSchedule(of: person, everySeconds: seconds, until: until, by: caller, at: now)
        case .removeSchedule(let id, let person): return try removeSchedule(id, of: person, by: caller, at: now)
        case .askScheduled(let id, let query): return try askScheduled(id, query: query, by: caller, at: now)
        case .addWebhook(let person, let target, let topics, let terms, let ownToken):
            return try addWebhook(of: person, target, topics, terms, ownToken: ownToken, by: caller, at: now)
        case .confirmWebhook(let id, let who, let code): return try confirm(id, of: who, code, by: caller, at: now)
        case .noteSilences: return try noteSilences(by: caller, at: now)
        case .removeWebhook(let id, let person): return try removeWebhook(id, of: person, by: caller, at: now)
        case .discardDeadLetter(let letter, let webhook, let person):
            return try discardDeadLetter(letter, of: webhook, person, by: caller, at: now)
        case .settleWebhook(let id, let settlement): return try settleWebhook(id, settlement, by: caller)
        case .failWebhook(let failure): return try failWebhook(failure, by: caller)
        case .publishIdentityKey, .publishRecipientKey, .pinRecipientKey, .unpinRecipientKey, .withdrawKey, .sealDevice:
            return try decideKeys(command, by: caller, at: now)
        case .reportEnvelopes(let sent): return try reportEnvelopes(sent, by: caller, at: now, known: &fixes)
        case .registerPushToken(let device, let token, let environment):
            return try registerPushToken(token, environment, of: device, by: caller, at: now)
        case .retirePushToken(let device, let token, let reason, let asOf):
            return try retirePushToken(token, of: device, reason: reason, asOf: asOf, by: caller)
        case .queryLocation(let question): return try queryLocation(question, by: caller, at: now)
        case .startPushes(let query, let devices): return try startPushes(query, to: devices, by: caller, at: now)
        case .recordPushAttempt(let attempt): return try recordPushAttempt(attempt, by: caller)
        case .testPush(let id, let device): return try testPush(id, to: device, by: caller, at: now)
        case .recordPushTest(let attempt): return try recordPushTest(attempt, by: caller)
        case .settlePushes: return try settlePushes(by: caller)
        case .endFailedQuery(let query): return try endFailedQuery(query, by: caller)
        case .endOverdueQueries: return try endOverdueQueries(by: caller, questionTime)
        case .cancelQuery(let query): return try cancelQuery(query, by: caller)
        case .disclose(let query, let content, let precision, let fix):
            return try disclose(query, content, precision: precision, fix: fix, by: caller, at: now)
        case .recordRead: return try recordRead(command, by: caller, at: now)
        case .answerDevice(let friends, let asOf, let hash):
            return try answerDevice(
                friends: friends, asOf: asOf, answerHash: hash, by: caller, at: now, questionTime: questionTime)
        case .commandReports(let device): return try commandReports(of: device, by: caller, questionTime)
        case .recordRefusedRead(let question): return try recordRefusedRead(question, by: caller, at: now)
        case .countRefusals(let who, let n, let t): return try countRefusals(by: who, count: n, since: t, by: caller)
        case .erasePerson(let handle): return try erasePerson(handle, by: caller, at: now)
        case .setRetention, .applyRetention: return try retain(command, by: caller, at: now)
        case .recordAct(let act): return try recordAct(act, by: caller)
        case .retryDeadLetter(let letter, let webhook, let person):
            return try retryDeadLetter(letter, of: webhook, person, by: caller, at: now)
        case .testWebhook(let webhook, let person): return try testWebhook(webhook, of: person, by: caller, at: now)
        case .recordRestore, .recordLoss, .moveLog, .commitHeads: return try recordLog(command, by: caller)
        case .foundShard, .followDirectory, .witnessShards: return try decideShards(command, by: caller)
        case .finishErasure(let person): return try finishErasure(of: person, by: caller)
        }
    }

    /// Throws unless the caller's credentials are valid and the command is one of this log's.
    private func admit(_ command: Command, by caller: Caller, at now: Timestamp) throws(Refusal) {
        guard isValid(caller, at: now) else { throw .notAuthenticated }
        try requireOwn(command, by: caller)
    }

    /// Throws unless the caller may manage the person. Strangers do not learn whether the person exists.
    func manage(_ handle: Handle, by caller: Caller, at now: Timestamp) throws(Refusal) -> PersonID {
        switch authorize(caller, to: .manage, about: handle, at: now) {
        case .success(let permit): return permit.subject
        case .failure: throw .noSuchPerson
        }
    }

    func requireOperator(_ caller: Caller) throws(Refusal) {
        guard caller.principal == .operator, caller.scopes.contains(.manage) else { throw .notFound }
    }

    func requireHouse(_ caller: Caller) throws(Refusal) {
        guard caller == .house else { throw .notFound }
    }
}
