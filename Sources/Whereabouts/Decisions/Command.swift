/// A request, parsed at the door. The writer decides it against the newest ``Standing``.
package enum Command: Sendable {
    /// In a house with shards, the person gets one of `shards`.
    case addPerson(Handle, among: [ShardNumber] = [])
    /// `key` is the hash of its first reporting key. Only the answer to this command has the key itself.
    case addDevice(Handle, of: Handle, key: Hash256? = nil)
    case removeDevice(Handle)
    /// `hash` is that of the token. Only the answer to this command has the token itself.
    case issueToken(for: TokenHolder, scopes: Scopes, hash: Hash256, until: Timestamp?)
    case revokeToken(TokenID)
    /// `hash` is that of a one-time code for a session of this holder, of whom the device is none.
    case makeSignInCode(for: TokenHolder, hash: Hash256)
    /// A caller shows a token or a one-time code with hash `from`; `hash` is that of the session's cookie.
    case openSession(from: Hash256, hash: Hash256)
    /// The caller signs out: ends the session that sent the command, or all sessions of the caller.
    case endSession(isEverywhere: Bool)
    case giveGrant(subject: Handle, requester: Handle, GrantTerms)
    case revokeGrant(GrantID)
    /// Only the answer to this command has the link's secret itself.
    case addLink(of: Handle, GrantTerms, LinkRequest)
    /// A viewer shows the secret of a link; `token` is the hash of the token that they get, which is good only as the
    /// page's cookie if `isSession`.
    case openLink(Hash256, token: Hash256, isSession: Bool)
    case endLink(LinkID)
    /// Hides the person's location from everyone until then, or until resumed.
    case pauseSharing(Handle, until: Timestamp?)
    case resumeSharing(Handle)
    /// `hash` is that of the code. Only the answer to this command has the code itself.
    case invite(subject: Handle, GrantTerms, hash: Hash256, expires: Timestamp)
    case withdrawInvitation(InvitationID)
    /// A caller shows a code with this hash.
    case redeemInvitation(Hash256)
    /// `hash` is that of the code, which only the answer has. Without a person, the operator invites.
    case inviteToAccount(by: Handle?, hash: Hash256, expires: Timestamp)
    case withdrawAccountInvitation(AccountInvitationID)
    /// A caller without an account shows a code with this hash; `key` is the hash of their first token.
    case openAccount(Hash256, as: Handle, key: Hash256, among: [ShardNumber] = [])
    /// The subject gives or refuses consent to a query.
    case answerConsent(QueryID, of: Handle, isGiven: Bool)
    case addRegion(Region, of: Handle)
    case removeRegion(identifier: String, of: Handle)
    /// A person corrects their derived visits.
    case correct(Correction, of: Handle)
    case withdrawCorrection(CorrectionID, of: Handle)
    /// A person withdraws fixes: they count as if they had never been reported.
    case withdrawFixes(FixNumbers, FixRevision, of: Handle)
    case restoreFixes(FixNumbers, FixRevision, of: Handle)
    /// As for fixes; the numbers are those of reported visits.
    case withdrawVisits(FixNumbers, FixRevision, of: Handle)
    case restoreVisits(FixNumbers, FixRevision, of: Handle)
    /// A file is imported into a person's history. The command's correlation must be the import's id.
    case beginImport(ImportReference, of: Handle)
    /// As ``beginImport(_:of:)``; the counts are those of the person.
    case endImport(Identifier128, ImportCounts, fault: ImportFault?, of: Handle)
    /// The service shall ask for the person at intervals.
    case setSchedule(of: Handle, everySeconds: Int64, until: Timestamp?)
    case removeSchedule(ScheduleID, of: Handle)
    /// A schedule is due.
    case askScheduled(ScheduleID, query: QueryID)
    /// Adds a webhook: the service sends the person's feed to a target, with the rights of the caller's token. A session
    /// ends sooner than a webhook, so with a session the webhook gets a token of this hash.
    case addWebhook(of: Handle, WebhookTarget, FeedTopics, NoticeTerms = NoticeTerms(), ownToken: Hash256? = nil)
    /// The person shows the code that was mailed to the target, by its hash.
    case confirmWebhook(WebhookID, of: Handle, codeHash: Hash256)
    /// Records the devices that have fallen silent, if a webhook has the topic.
    case noteSilences
    case removeWebhook(WebhookID, of: Handle)
    case discardDeadLetter(DeadLetterID, of: WebhookID, Handle)
    /// The target has accepted messages.
    case settleWebhook(WebhookID, WebhookSettlement)
    /// A message has been tried often enough.
    case failWebhook(WebhookFailure)
    /// From a device's own connection, or from an import for a device.
    case reportFixes(device: DeviceReference, [DeviceReport])
    /// The imported reports of a person's device; both are added if they do not exist, and the import is begun for the
    /// person. Its id must be the command's correlation.
    case importFixes(of: Handle, device: Handle, [DeviceReport], in: ImportReference? = nil)
    /// A client publishes the key with which the person signs. The door has checked the key's own signature, and that of the
    /// identity key of this name before it.
    case publishIdentityKey(IdentityKey, of: Handle, after: KeyID?)
    /// A client publishes a key for which others can seal. The door has checked the signature with this identity key.
    case publishRecipientKey(RecipientKey, of: Handle, signedBy: KeyID)
    /// The person accepts a key of another person.
    case pinRecipientKey(PinRequest, by: Handle)
    case unpinRecipientKey(KeyID, by: Handle)
    /// One of the person's own keys is good for nothing new.
    case withdrawKey(KeyID, KeyWithdrawal, of: Handle)
    /// The device only sends envelopes, or sends open fixes again.
    case sealDevice(Handle, isSealed: Bool)
    /// From a device's own connection.
    case reportEnvelopes([EnvelopeReport])
    case registerPushToken(device: Handle, LocationPushToken, PushEnvironment)
    /// APNs reported that the token is no longer valid. The token is kept if the device registered again after `asOf`.
    case retirePushToken(DeviceID, LocationPushToken, reason: String, asOf: Timestamp?)
    case queryLocation(LocationQuestion)
    /// Recorded before the pusher wakes these devices for a query.
    case startPushes(QueryID, to: [DeviceID])
    case recordPushAttempt(LocationPushAttempt)
    /// The operator tests the way to a device; the id is the test's.
    case testPush(QueryID, to: Handle)
    case recordPushTest(LocationPushAttempt)
    /// Settles the pushes that were under way when the service ended, before anything is pushed.
    case settlePushes
    /// All pushes of a query have failed.
    case endFailedQuery(QueryID)
    /// Ends the queries past their deadline.
    case endOverdueQueries
    case cancelQuery(QueryID)
    /// Recorded before the answer to a query leaves.
    case disclose(QueryID, content: Disclosure.Content, precision: Precision, fix: Int64)
    /// Recorded before an answer from stored data leaves. `permitted` is the permit that it was computed under.
    case recordRead(
        ReadQuestion, permitted: Permit, asOf: Int64, count: Int64, answerHash: Hash256,
        envelopes: DisclosedEnvelopes? = nil)
    /// Recorded before the answer to a device's own message leaves. It shows these friends' newest locations, each
    /// permitted to the device's owner, and tells the device to report if a query waits for its owner.
    case answerDevice(friends: [Permit], asOf: Int64, answerHash: Hash256)
    /// Recorded before the service asks a device at a broker to report, for the queries that wait for its owner.
    case commandReports(DeviceID)
    /// A read that ``Standing/authorize(_:toRead:at:)`` refused, or that comes too often.
    case recordRefusedRead(ReadQuestion)
    case erasePerson(Handle)
    /// Records an act of the operator before it is done, or its failure.
    case recordAct(OperatorAct)
    /// Recorded before a message that the webhook gave up on is posted again.
    case retryDeadLetter(DeadLetterID, of: WebhookID, Handle)
    /// Recorded before a test message is sent to the webhook's target.
    case testWebhook(WebhookID, of: Handle)
    /// The log was restored from a copy and continues under this epoch. `mark` is random.
    case recordRestore(epoch: Int64, mark: Int64)
    /// Records that these events were durable and are lost; the log continues under this epoch. `mark` is random.
    case recordLoss(from: Int64, to: Int64, epoch: Int64, mark: Int64)
    /// The log's events become durable at another place from the next event on.
    case moveLog(to: LogPlace)
    /// Records the heads of the persons' logs, before a checkpoint of the whole log.
    case commitHeads(HeadsCommitment)
    /// The log becomes a shard's.
    case foundShard(ShardNumber)
    /// A shard takes over what the directory has recorded.
    case followDirectory(DirectoryFacts)
    /// The directory has checked the logs of shards.
    case witnessShards(ShardSizes)
    /// Repeats the erasure of a person who was erased after the copy was made.
    case finishErasure(PersonID)
    /// For how many days a person's reports are kept, or without a handle everyone's; `nil` for no limit.
    case setRetention(of: Handle?, days: Int64?)
    /// Destroys keys of a person's track that the rule no longer allows.
    case applyRetention(to: PersonID, keys: [(id: Int64, period: Int64)])
    /// The refusals of one requester beyond those recorded one by one.
    case countRefusals(by: PrincipalID, count: Int64, since: Timestamp)
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
}
