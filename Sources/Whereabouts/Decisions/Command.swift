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

/// The owner of a new token.
package enum TokenHolder: Hashable, Sendable {
    case `operator`
    /// Someone whom the operator lets check the log.
    case auditor
    case person(Handle)
    case device(Handle)
}

/// The reporting device: the one whose key was used, or one named by an import.
package enum DeviceReference: Hashable, Sendable {
    case caller
    case named(Handle)
}

/// One report of a device, parsed.
package enum DeviceReport: Sendable {
    /// A location, and the query that the device says it answers.
    case fix(Fix, answering: QueryID?)
    /// The permission that the phone's owner gives the app.
    case authorization(AuthorizationReport)
    /// Another event of Core Location.
    case sighting(Sighting)
    /// A region that the user drew in the app.
    case waypoint(Waypoint)
    /// A message that the service keeps without interpreting it.
    case message(ClientMessage)
    /// A report that cannot be used, with its beginning and its length in bytes.
    case rejected(RejectionReason, RejectedInput, length: Int64)
}

/// A location query as the requester sends it.
package struct LocationQuestion: Sendable {
    /// Chosen by the caller, so that a repetition has the same id.
    package let id: QueryID
    /// The person to locate, who may not exist.
    package let subject: Handle
    /// At most ``Limits/purposeCharacters`` characters; the subject sees it.
    package let purpose: String
    /// Whether a person waits, or a service asks at intervals.
    package let initiation: LocationQuery.Initiation
    /// How long the query may wait for an answer, 1 to ``Limits/longestQueryDeadlineSeconds``.
    package let deadlineSeconds: Int64
    /// The greatest age of a fix that answers, in seconds.
    package let maxAgeSeconds: Int64

    package init(
        id: QueryID, subject: Handle, purpose: String, initiation: LocationQuery.Initiation, deadlineSeconds: Int64,
        maxAgeSeconds: Int64
    ) {
        (self.id, self.subject, self.purpose) = (id, subject, purpose)
        (self.initiation, self.deadlineSeconds, self.maxAgeSeconds) = (initiation, deadlineSeconds, maxAgeSeconds)
    }
}

/// The events of a command. Draft `i` gets the number `standing.place + 1 + i`, because nothing comes between a
/// decision and its numbers.
package struct Decision: Sendable {
    /// One event without its number.
    package struct Draft: Sendable {
        /// The stream that the event continues.
        package let stream: StreamID
        /// What happens.
        package let event: Event
        /// The number of the event that led to this one; 0 without one.
        package let cause: Int64
        /// The fact of the directory that it repeats; `nil` for an event of the command's own actor and request.
        package let followed: DirectoryFacts.Item?
    }
    /// The events to append, in order.
    package internal(set) var drafts: [Draft] = []
    /// The result for the caller.
    package internal(set) var reply: CommandReply = .done
    /// The refusal that the caller gets although the drafts are appended: a recorded refusal.
    package internal(set) var refusal: Refusal?
    /// Whether the refusal is one of many in this minute, and is only counted.
    package internal(set) var isCountedRefusal = false

    /// Who led to an event: the caller of the command, or the actor of the fact that it repeats.
    package func actor(_ index: Int, of caller: Caller) -> PrincipalID {
        drafts[index].followed?.actor ?? caller.principal
    }

    /// The request that led to an event.
    package func request(_ index: Int, of request: RequestID) -> RequestID {
        drafts[index].followed?.correlation ?? request
    }

    mutating func append(
        _ event: Event, to stream: StreamID, cause: Int64 = 0, as followed: DirectoryFacts.Item? = nil
    ) {
        drafts.append(Draft(stream: stream, event: event, cause: cause, followed: followed))
    }
}
