/// Every fact the log can hold, on one page. What an event means is written in the Events page of the catalog, what its
/// bytes are in `events.cddl`, and how it is stored in `EventCoding.swift`.
///
/// Personal data stands in a ``Part``, sealed under a key of the person it belongs to, so that it can be erased.
///
/// Indirect: an event of hundreds of bytes is handed from reader to projections to folds, and each time by one pointer.
package indirect enum Event: Hashable, Sendable {
    case personAdded(PersonID, handle: Part<Handle>)
    case deviceAdded(DeviceID, of: PersonID, handle: Part<Handle>)
    case deviceRemoved(DeviceID)
    case tokenIssued(AccessToken)
    case tokenRevoked(TokenID)
    case grantGiven(Grant)
    case grantRevoked(GrantID)
    case regionAdded(RegionID, Part<Region>)
    case regionRemoved(RegionID)
    /// `until` `nil`: until resumed. During a pause: it ends then instead.
    case sharingPaused(PersonID, until: Timestamp?)
    case sharingResumed(PersonID)
    case invitationMade(Invitation)
    case invitationWithdrawn(InvitationID)
    /// Somebody showed a code that opens nothing.
    case invitationRefused(by: PrincipalID)
    /// Whoever shows a code of this hash first becomes a person.
    case accountInvitationMade(hash: Hash256, expires: Timestamp)
    /// Its code opens nothing any more.
    case accountInvitationClosed(AccountInvitationID)
    /// The service asks where the person is, once in so many seconds.
    case scheduleSet(everySeconds: Int64, until: Timestamp?)
    case scheduleRemoved(ScheduleID)
    case correctionMade(Part<Correction>)
    case correctionWithdrawn(CorrectionID)
    /// Posts what happens about the person to a target, by the rights of `token`.
    case webhookAdded(token: TokenID, FeedTopics, Part<WebhookTarget>)
    case webhookRemoved(WebhookID)
    case webhookSettled(WebhookID, WebhookSettlement)
    case webhookFailed(WebhookFailure)
    /// `answering` names the location query whose push made the device report.
    case fixReported(device: DeviceID, answering: QueryID?, Part<Fix>)
    case inputRejected(device: DeviceID, reason: RejectionReason, length: Int64, Part<RejectedInput>)
    case authorizationReported(device: DeviceID, Part<AuthorizationReport>)
    /// A heading, beacon, visit or crossing of the device's own; each has a kind of event of its own.
    case sightingReported(device: DeviceID, Sighting.Kind, Part<Sighting>)
    /// Something else, in the client's own words.
    case messageReported(device: DeviceID, Part<ClientMessage>)
    case locationPushTokenRegistered(device: DeviceID, environment: PushEnvironment, Part<LocationPushToken>)
    case locationPushTokenRetired(device: DeviceID, reason: String)
    case locationQueried(LocationQuery)
    /// The subject is asked whether the question may be passed on; nothing is pushed before the answer.
    case consentAsked(QueryID)
    case consentGiven(QueryID)
    case consentRefused(QueryID)
    /// A push to one device is about to leave.
    case locationPushStarted(query: QueryID, device: DeviceID)
    case locationPushAttempted(LocationPushAttempt)
    /// No push is started for a query, for a reason that concerns no particular device.
    case locationPushWithheld(query: QueryID, PushWithheld)
    /// A push without a query, to try out the way to a device. ``LocationPushAttempt/query`` is an id of the test's own;
    /// attempt 0: it is about to leave.
    case locationPushTested(LocationPushAttempt)
    /// The device is about to be told, in the answer to its own message, to say where it is.
    case locationReportCommanded(query: QueryID, device: DeviceID)
    /// `fix` is the number of the event that answered.
    case locationQueryEnded(QueryID, QueryEnd, fix: Int64?)
    case locationDisclosed(Disclosure)
    case locationRead(LocationRead)
    /// What one asker was refused beyond the rate at which refusals are recorded one by one.
    case refusalsCounted(by: PrincipalID, count: Int64, since: Timestamp)
    case personErased(PersonID)
    case clockSteppedBack(byMilliseconds: Int64)
    case logRestored(epoch: Int64)
    /// The events of these numbers were durable before and are lost; the operator accepted the loss.
    case lossAccepted(from: Int64, to: Int64, epoch: Int64)
    /// The operator is about to do something that concerns everybody.
    case operatorActed(OperatorAct)
}

/// The number a kind of event is stored under. Numbers are never reused; the ones without an ``Event`` case are
/// reserved from the first version of the log on.
package enum EventKind: Int64, Sendable, CaseIterable {
    case personAdded = 1
    case deviceAdded = 2
    case deviceRemoved = 3
    case tokenIssued = 4
    case tokenRevoked = 5
    case grantGiven = 6
    case grantRevoked = 7
    case regionAdded = 8
    case regionRemoved = 9
    case fixReported = 10
    case inputRejected = 11
    case locationPushTokenRegistered = 12
    case locationPushTokenRetired = 13
    case locationQueried = 14
    case locationPushAttempted = 15
    case locationQueryEnded = 16
    case locationDisclosed = 17
    case locationRead = 18
    case refusalsCounted = 19
    case personErased = 20
    case clockSteppedBack = 21
    case logRestored = 22
    case authorizationReported = 23
    case locationPushStarted = 24
    case sharingPaused = 25
    case sharingResumed = 26
    case invitationMade = 27
    case invitationWithdrawn = 28
    case invitationRefused = 29
    case locationPushTested = 31
    case sealedFixReported = 32
    case consentAsked = 33
    case consentGiven = 34
    case consentRefused = 35
    case headingReported = 36
    case beaconSighted = 37
    case visitReported = 38
    case crossingReported = 39
    case retentionApplied = 40
    case correctionMade = 41
    case correctionWithdrawn = 42
    case webhookAdded = 43
    case webhookRemoved = 44
    case scheduleSet = 45
    case scheduleRemoved = 46
    case messageReported = 47
    case locationReportCommanded = 48
    case webhookSettled = 53
    case webhookFailed = 54
    case accountInvitationMade = 55
    case accountInvitationClosed = 56
    case operatorActed = 57
    case lossAccepted = 58
    case locationPushWithheld = 59

    /// The name people and machines see: the case name with a capital, `FixReported`.
    package var name: String {
        let word = String(describing: self)
        return word.prefix(1).uppercased() + word.dropFirst()
    }
}

/// What is sealed under one person's key. The bytes stay in the log for ever; whether they can be read does not.
package enum Part<Content: Hashable & Sendable>: Hashable, Sendable {
    case open(Content)
    /// The key was destroyed on purpose.
    case erased
    /// The key is missing without a record of its destruction: a fault that `verify` tells.
    case keyLost

    package var content: Content? {
        if case .open(let content) = self { content } else { nil }
    }
}

/// An access token as the log knows it: never the secret, only its SHA-256.
package struct AccessToken: Hashable, Sendable {
    package let id: TokenID
    /// Who acts when it is shown: the operator, a person or a device.
    package let principal: PrincipalID
    package let scopes: Scopes
    package let hash: Hash256
    package let until: Timestamp?

    package init(id: TokenID, principal: PrincipalID, scopes: Scopes, hash: Hash256, until: Timestamp?) {
        (self.id, self.principal, self.scopes, self.hash, self.until) = (id, principal, scopes, hash, until)
    }
}

/// A one-time offer of a grant to whoever shows its code.
package struct Invitation: Hashable, Sendable {
    package let id: InvitationID
    package let subject: PersonID
    /// Of the code; the code itself is never stored.
    package let hash: Hash256
    /// The code opens nothing from this moment on.
    package let expires: Timestamp
    /// Of the grant, whose time limit begins when the invitation is taken up unless an end is named here. Its hours are
    /// `nil` here, and in ``detail``.
    package let terms: GrantTerms
    package let detail: Part<WeeklyHours>?

    package init(
        id: InvitationID, subject: PersonID, hash: Hash256, expires: Timestamp, terms: GrantTerms,
        detail: Part<WeeklyHours>?
    ) {
        (self.id, self.subject, self.hash, self.expires) = (id, subject, hash, expires)
        (self.terms, self.detail) = (terms, detail)
    }
}

/// A report that could not become a fix.
package struct RejectedInput: Hashable, Sendable {
    package let hash: Hash256
    /// Its first ``Limits/rejectedBytes`` bytes.
    package let head: [UInt8]

    package init(hash: Hash256, head: [UInt8]) { (self.hash, self.head) = (hash, head) }
}

/// Which of Apple's two services a device token belongs to.
package enum PushEnvironment: Int64, Sendable {
    case production = 0
    case development = 1
    package var word: String { self == .production ? "production" : "development" }
}

/// What `startMonitoringLocationPushes` gave a device.
package struct LocationPushToken: Hashable, Sendable {
    package let bytes: [UInt8]
    package let bundleID: String

    package init(bytes: [UInt8], bundleID: String) { (self.bytes, self.bundleID) = (bytes, bundleID) }
}

/// Whether a question was let through, and why.
package enum Verdict: Hashable, Sendable {
    /// One's own data.
    case own
    /// The operator, who reads on record.
    case operatorOnRecord
    case granted(GrantID)
    case refused(RefusalCode)

    package var isRefused: Bool { if case .refused = self { true } else { false } }
}

/// The true reason of a refusal, for the subject; the asker always sees the same "no such person".
package enum RefusalCode: Int64, Sendable {
    case unknownPerson = 1
    case noGrant = 2
    case notInForce = 3
    case precisionNone = 4
    case historyNotGranted = 5
    case missingScope = 6
    case erased = 7
    /// The grant asks the subject each time, and what is stored is shown without asking.
    case consentNeeded = 8
    /// The asker may, and has asked too often.
    case tooOften = 9

    package var word: String { String(describing: self) }
}

/// "Where is this person?", asked once.
package struct LocationQuery: Hashable, Sendable {
    package enum Initiation: Int64, Sendable {
        /// A person waits for the answer.
        case user = 0
        /// The service asks by itself, periodically.
        case server = 1
        package var word: String { self == .user ? "user" : "server" }
    }
    package let id: QueryID
    /// `nil` when nobody of that name exists: the refusal is recorded all the same.
    package let subject: PersonID?
    package let requester: PrincipalID
    package let verdict: Verdict
    package let initiation: Initiation
    package let deadline: Timestamp
    /// A fix at most this old answers without a push.
    package let maxAgeSeconds: Int64
    /// The purpose as the subject may read it, for as long as the subject is not erased.
    package let purposeForSubject: Part<String>
    /// The same under the requester's own key; absent when the operator asks.
    package let purposeForRequester: Part<String>?

    package init(
        id: QueryID, subject: PersonID?, requester: PrincipalID, verdict: Verdict, initiation: Initiation,
        deadline: Timestamp, maxAgeSeconds: Int64, purposeForSubject: Part<String>, purposeForRequester: Part<String>?
    ) {
        (self.id, self.subject, self.requester, self.verdict) = (id, subject, requester, verdict)
        (self.initiation, self.deadline, self.maxAgeSeconds) = (initiation, deadline, maxAgeSeconds)
        (self.purposeForSubject, self.purposeForRequester) = (purposeForSubject, purposeForRequester)
    }
}

/// How a query truly ended, for the subject. Exactly one per granted query.
package enum QueryEnd: Int64, Sendable, CaseIterable {
    case answered = 1
    case answeredFromLastKnown = 2
    case refused = 3
    case pushFailed = 4
    case timedOut = 5
    case cancelled = 6
    package var word: String { String(describing: self) }
}

/// What left the house in answer to a location query.
package struct Disclosure: Hashable, Sendable {
    /// The words of the answer, under the subject's key alone: erasing the subject erases them.
    package struct Content: Hashable, Sendable {
        package let latitude, longitude: Double
        package let horizontalAccuracy: Double?
        package let timestamp: Timestamp
        package let placeName: String?
        /// SHA-256 of the bytes of the answer.
        package let answerHash: Hash256

        package init(
            latitude: Double, longitude: Double, horizontalAccuracy: Double?, timestamp: Timestamp, placeName: String?,
            answerHash: Hash256
        ) {
            (self.latitude, self.longitude, self.horizontalAccuracy) = (latitude, longitude, horizontalAccuracy)
            (self.timestamp, self.placeName, self.answerHash) = (timestamp, placeName, answerHash)
        }
    }
    package let query: QueryID
    package let subject: PersonID
    package let requester: PrincipalID
    package let verdict: Verdict
    package let precision: Precision
    /// Number of the event whose fix was shown.
    package let fix: Int64
    package let content: Part<Content>

    package init(
        query: QueryID, subject: PersonID, requester: PrincipalID, verdict: Verdict, precision: Precision, fix: Int64,
        content: Part<Content>
    ) {
        (self.query, self.subject, self.requester, self.verdict) = (query, subject, requester, verdict)
        (self.precision, self.fix, self.content) = (precision, fix, content)
    }
}

/// A reading of stored data about a person: a query too, recorded before its bytes leave.
package struct LocationRead: Hashable, Sendable {
    package enum Question: Int64, Sendable {
        case location = 1
        case track = 2
        case visits = 3
        case crossings = 4
        case audit = 5
        case events = 6
        case settings = 7
        /// Which questions wait for the subject's word.
        case consent = 8
        /// What happens about the person, as it happens.
        case live = 9
        case trips = 10
        case places = 11
        /// A friend's newest location, in the answer to a report of one's own phone.
        case friends = 12
        case summary = 13
        package var word: String { String(describing: self) }
    }
    package struct Content: Hashable, Sendable {
        package let purpose: String?
        package let from, to: Timestamp?
        /// SHA-256 of the bytes of the answer; `nil` for a refusal.
        package let answerHash: Hash256?

        package init(purpose: String?, from: Timestamp?, to: Timestamp?, answerHash: Hash256?) {
            (self.purpose, self.from, self.to, self.answerHash) = (purpose, from, to, answerHash)
        }
    }
    /// `nil` when nobody of that name exists.
    package let subject: PersonID?
    package let reader: PrincipalID
    package let question: Question
    package let verdict: Verdict
    package let precision: Precision
    /// Number of the log up to which the answer was folded.
    package let asOf: Int64
    /// Rows in the answer.
    package let count: Int64
    /// The request that began this read, if it is a further page of it; such a page is not counted as a read of its own.
    package let continuing: RequestID?
    package let content: Part<Content>

    package init(
        subject: PersonID?, reader: PrincipalID, question: Question, verdict: Verdict, precision: Precision,
        asOf: Int64, count: Int64, continuing: RequestID? = nil, content: Part<Content>
    ) {
        (self.subject, self.reader, self.question, self.verdict) = (subject, reader, question, verdict)
        (self.precision, self.asOf, self.count, self.content) = (precision, asOf, count, content)
        self.continuing = continuing
    }
}

/// An event with its place in the log.
package struct RecordedEvent: Sendable {
    /// 1, 2, 3 … in commit order.
    package let number: Int64
    package let stream: StreamID
    /// 1, 2, 3 … in the stream.
    package let version: Int64
    package let recordedAt: Timestamp
    package let actor: PrincipalID
    package let correlation: RequestID
    /// Number of the event that led to this one; 0 for none.
    package let cause: Int64
    package let event: Event

    package init(
        number: Int64, stream: StreamID, version: Int64, recordedAt: Timestamp, actor: PrincipalID,
        correlation: RequestID, cause: Int64, event: Event
    ) {
        (self.number, self.stream, self.version, self.recordedAt) = (number, stream, version, recordedAt)
        (self.actor, self.correlation, self.cause, self.event) = (actor, correlation, cause, event)
    }
}
