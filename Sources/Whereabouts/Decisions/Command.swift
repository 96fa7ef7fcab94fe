/// Who wishes something: what the door found out about the credentials that came with a request.
package struct Caller: Hashable, Sendable {
    package let principal: PrincipalID
    package let scopes: Scopes
    /// The token that was shown; `nil` for the house itself. The writer looks again whether it still holds.
    package let token: TokenID?

    package init(principal: PrincipalID, scopes: Scopes, token: TokenID?) {
        (self.principal, self.scopes, self.token) = (principal, scopes, token)
    }

    /// The service's own reactors.
    package static let house = Caller(principal: .house, scopes: [], token: nil)
}

/// A wish, parsed at the door. The writer decides it against the newest ``Standing``.
package enum Command: Sendable {
    case addPerson(Handle)
    /// `key` is the hash of its first reporting key, which only the answer to this command carries.
    case addDevice(Handle, of: Handle, key: Hash256? = nil)
    case removeDevice(Handle)
    /// `hash` is of a secret that only the answer to this command carries.
    case issueToken(for: TokenHolder, scopes: Scopes, hash: Hash256, until: Timestamp?)
    case revokeToken(TokenID)
    case giveGrant(subject: Handle, requester: Handle, GrantTerms)
    case revokeGrant(GrantID)
    /// Nobody sees where the person is until then, or until resumed.
    case pauseSharing(Handle, until: Timestamp?)
    case resumeSharing(Handle)
    /// `hash` is of a code that only the answer to this command carries.
    case invite(subject: Handle, GrantTerms, hash: Hash256, expires: Timestamp)
    case withdrawInvitation(InvitationID)
    /// Somebody shows a code of this hash.
    case redeemInvitation(Hash256)
    /// `hash` is of a code that only the answer to this command carries; without a person it is the operator who invites.
    case inviteToAccount(by: Handle?, hash: Hash256, expires: Timestamp)
    case withdrawAccountInvitation(AccountInvitationID)
    /// Somebody without an account shows a code of this hash; `key` is that of their first token.
    case openAccount(Hash256, as: Handle, key: Hash256)
    /// The subject says yes or no to a question.
    case answerConsent(QueryID, of: Handle, isGiven: Bool)
    case addRegion(Region, of: Handle)
    case removeRegion(identifier: String, of: Handle)
    /// The person knows better than what is derived.
    case correct(Correction, of: Handle)
    case withdrawCorrection(CorrectionID, of: Handle)
    /// The service is to ask for the person by itself.
    case setSchedule(of: Handle, everySeconds: Int64, until: Timestamp?)
    case removeSchedule(ScheduleID, of: Handle)
    /// A schedule is due.
    case askScheduled(ScheduleID, query: QueryID)
    /// The person is to be told by posts to a target, by the rights of the caller's token.
    case addWebhook(of: Handle, WebhookTarget, FeedTopics)
    case removeWebhook(WebhookID, of: Handle)
    case discardDeadLetter(DeadLetterID, of: WebhookID, Handle)
    /// The target took what it was sent.
    case settleWebhook(WebhookID, WebhookSettlement)
    /// A message was tried often enough.
    case failWebhook(WebhookFailure)
    /// From a device's own connection, or from an import in its name.
    case reportFixes(device: DeviceReference, [DeviceReport])
    case registerPushToken(device: Handle, LocationPushToken, PushEnvironment)
    /// APNs said that the token is no longer good; kept if the device registered again after `asOf`.
    case retirePushToken(DeviceID, LocationPushToken, reason: String, asOf: Timestamp?)
    case queryLocation(LocationQuestion)
    /// The pusher is about to wake these devices for a query.
    case startPushes(QueryID, to: [DeviceID])
    case recordPushAttempt(LocationPushAttempt)
    /// The operator tries out the way to a device, under an id of the test's own.
    case testPush(QueryID, to: Handle)
    case recordPushTest(LocationPushAttempt)
    /// Settle the pushes that were under way when the service ended; done before anything is pushed.
    case settlePushes
    /// All attempts of a query failed.
    case endFailedQuery(QueryID)
    /// Ends what is past its deadline.
    case endOverdueQueries
    case cancelQuery(QueryID)
    /// The answer to a query is about to leave.
    case disclose(QueryID, content: Disclosure.Content, precision: Precision, fix: Int64)
    /// An answer from stored data is about to leave; `permitted` is what it was computed under.
    case recordRead(ReadQuestion, permitted: Permit, asOf: Int64, count: Int64, answerHash: Hash256)
    /// The answer to a device's own message is about to leave: it shows these friends' newest places, each permitted to
    /// the device's owner, and tells the device to report if a question waits for its owner.
    case answerDevice(friends: [Permit], asOf: Int64, answerHash: Hash256)
    /// A device that came by a broker is about to be told to report, for the questions that wait for its owner.
    case commandReports(DeviceID)
    /// A reading that ``Standing/authorize(_:toRead:at:)`` refused, or that comes too often.
    case recordRefusedRead(ReadQuestion)
    case erasePerson(Handle)
    /// Record an act that the operator is about to do, or that failed.
    case recordAct(OperatorAct)
    /// Record that a message that the webhook gave up on is about to be posted again.
    case retryDeadLetter(DeadLetterID, of: WebhookID, Handle)
    /// The log was put back from a copy and goes on under this epoch.
    case recordRestore(epoch: Int64)
    /// Record that the events of these numbers were durable and are lost; the log continues under this epoch.
    case recordLoss(from: Int64, to: Int64, epoch: Int64)
    /// The person was erased after the copy was made.
    case finishErasure(PersonID)
    /// Refusals of one asker beyond those recorded one by one.
    case countRefusals(by: PrincipalID, count: Int64, since: Timestamp)
}

package enum TokenHolder: Hashable, Sendable {
    case `operator`
    case person(Handle)
    case device(Handle)
}

/// The device that reports: the one whose key was shown, or one named by an import.
package enum DeviceReference: Hashable, Sendable {
    case caller
    case named(Handle)
}

/// One report of a device as the door understood it.
package enum DeviceReport: Sendable {
    case fix(Fix, answering: QueryID?)
    case authorization(AuthorizationReport)
    case sighting(Sighting)
    case waypoint(Waypoint)
    case message(ClientMessage)
    case rejected(RejectionReason, RejectedInput, length: Int64)
}

package struct LocationQuestion: Sendable {
    package let id: QueryID
    package let subject: Handle
    package let purpose: String
    package let initiation: LocationQuery.Initiation
    package let deadlineSeconds: Int64
    package let maxAgeSeconds: Int64

    package init(
        id: QueryID, subject: Handle, purpose: String, initiation: LocationQuery.Initiation, deadlineSeconds: Int64,
        maxAgeSeconds: Int64
    ) {
        (self.id, self.subject, self.purpose) = (id, subject, purpose)
        (self.initiation, self.deadlineSeconds, self.maxAgeSeconds) = (initiation, deadlineSeconds, maxAgeSeconds)
    }
}

package struct ReadQuestion: Hashable, Sendable {
    package let subject: Handle
    package let question: LocationRead.Question
    package let from, to: Timestamp?
    package let purpose: String?
    /// The request that began the read of which a further page is wanted.
    package let continuing: RequestID?

    package init(
        subject: Handle, question: LocationRead.Question, from: Timestamp?, to: Timestamp?, purpose: String?,
        continuing: RequestID? = nil
    ) {
        (self.subject, self.question, self.from, self.to, self.purpose) = (subject, question, from, to, purpose)
        self.continuing = continuing
    }
}

/// What the writer answers to a command.
package enum Reply: Hashable, Sendable {
    case done
    case person(PersonID)
    case device(DeviceID)
    case token(TokenID)
    case grant(GrantID)
    case region(RegionID)
    case invitation(InvitationID)
    case accountInvitation(AccountInvitationID)
    case schedule(ScheduleID)
    case webhook(WebhookID)
    case correction(CorrectionID)
    /// One outcome for each report, in order.
    case fixes([FixOutcome])
    case query(QueryID)
    /// One order for each device that can be woken.
    case pushes([PushOrder])
    case erased(PersonID)
}

package enum FixOutcome: Hashable, Sendable {
    case new
    /// New, and shares device, time and place with another fix that differs in another member: both are events.
    case twin
    /// Known already: acknowledged, and no event.
    case duplicate
    case rejected(RejectionReason)
}

/// The events a command came to. Draft `i` will get the number `standing.place + 1 + i`: nothing comes between a decision
/// and its numbers.
package struct Decision: Sendable {
    package struct Draft: Sendable {
        package let stream: StreamID
        package let event: Event
        /// Number of the event that led to this one; 0 for none.
        package let cause: Int64
    }
    package internal(set) var drafts: [Draft] = []
    package internal(set) var reply: Reply = .done
    /// What the caller is told although the drafts are appended: a refusal on record.
    package internal(set) var refusal: Refusal?
    /// The refusal is one of many in this minute and only counted.
    package internal(set) var isCountedRefusal = false

    mutating func append(_ event: Event, to stream: StreamID, cause: Int64 = 0) {
        drafts.append(Draft(stream: stream, event: event, cause: cause))
    }
}
