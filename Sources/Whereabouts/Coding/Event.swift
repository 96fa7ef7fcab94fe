/// Every fact that the log can hold, on one page. The page Events of the documentation explains the meaning of each
/// event, the folder `Facts` declares its fields, and `events.cddl` lists its bytes.
///
/// Personal data is in a ``Part``, sealed under a key of the person it belongs to, so that it can be erased.
///
/// Indirect, because an event has hundreds of bytes and passes from the reader to projections and folds; this way only
/// a pointer is copied.
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
    /// `until` `nil` lasts until sharing is resumed. During a pause, the event changes its end.
    case sharingPaused(PersonID, until: Timestamp?)
    case sharingResumed(PersonID)
    case invitationMade(Invitation)
    case invitationWithdrawn(InvitationID)
    /// A wrong, used or expired code was shown.
    case invitationRefused(by: PrincipalID)
    /// An invitation to an account: the first caller with a code of this hash becomes a person.
    case accountInvitationMade(hash: Hash256, expires: Timestamp)
    /// The invitation's code no longer opens an account.
    case accountInvitationClosed(AccountInvitationID)
    /// The service asks for the person at this interval.
    case scheduleSet(everySeconds: Int64, until: Timestamp?)
    case scheduleRemoved(ScheduleID)
    case correctionMade(Part<Correction>)
    case correctionWithdrawn(CorrectionID)
    /// Fixes no longer count, as if they had never been reported.
    case fixesWithdrawn(FixNumbers, Part<FixRevision>)
    case fixesRestored(FixNumbers, Part<FixRevision>)
    /// Reported visits no longer count. The numbers are those of their events.
    case visitsWithdrawn(FixNumbers, Part<FixRevision>)
    case visitsRestored(FixNumbers, Part<FixRevision>)
    /// The import's id is also the correlation of this event and of everything that the import brings.
    case importBegan(Identifier128, Part<ImportedFile>)
    /// `fault` says why the file was not read to its end.
    case importEnded(ImportCounts, Part<ImportFault>?)
    /// An address that shows the person to every viewer who opens it. Its grant comes before it.
    case linkAdded(ShareLink)
    case linkOpened(LinkID)
    case linkEnded(LinkID)
    /// The service hands the person's feed to a target, with the rights of `token`.
    case webhookAdded(token: TokenID, FeedTopics, NoticeTerms, Part<WebhookTarget>)
    /// The person has shown the code that was mailed to the target.
    case webhookConfirmed(WebhookID)
    case webhookRemoved(WebhookID)
    case webhookSettled(WebhookID, WebhookSettlement)
    case webhookFailed(WebhookFailure)
    /// A device has sent no fix for as long as a webhook chose; once for each silence and length.
    case phoneFellSilent(Silence)
    /// `answering` is the location query whose push made the device report, if the device named one.
    case fixReported(device: DeviceID, answering: QueryID?, Part<Fix>)
    case inputRejected(device: DeviceID, reason: RejectionReason, length: Int64, Part<RejectedInput>)
    case authorizationReported(device: DeviceID, Part<AuthorizationReport>)
    /// A heading, beacon, visit or crossing that the device detected. Each has its own kind of event.
    case sightingReported(device: DeviceID, Sighting.Kind, Part<Sighting>)
    /// An envelope, which the service cannot open. `answering` is the query that it answers.
    case sealedFixReported(device: DeviceID, answering: QueryID?, Part<SealedFix>)
    /// A message of a client that the service does not interpret.
    case messageReported(device: DeviceID, Part<ClientMessage>)
    case locationPushTokenRegistered(device: DeviceID, environment: PushEnvironment, Part<LocationPushToken>)
    case locationPushTokenRetired(device: DeviceID, reason: String)
    /// The key with which the person signs from now on.
    case identityKeyPublished(IdentityKey)
    /// A key for which others can seal.
    case recipientKeyPublished(RecipientKey)
    /// The person accepts another person's key: their phones may seal for it.
    case recipientKeyPinned(KeyPin)
    case recipientKeyUnpinned(KeyID)
    /// One of the person's own keys is good for nothing new.
    case sealingKeyWithdrawn(KeyID, KeyWithdrawal)
    /// The device only sends envelopes, or sends open fixes again.
    case deviceSealed(DeviceID, isSealed: Bool)
    /// The phone did not answer a query with an envelope.
    case sealingRefused(device: DeviceID, query: QueryID, SealingRefusal)
    case locationQueried(LocationQuery)
    /// The subject is asked for consent; nothing is pushed before the answer.
    case consentAsked(QueryID)
    case consentGiven(QueryID)
    case consentRefused(QueryID)
    /// Recorded before a push to one device is sent.
    case locationPushStarted(query: QueryID, device: DeviceID)
    case locationPushAttempted(LocationPushAttempt)
    /// No push is started for a query, for a reason that does not concern a single device.
    case locationPushWithheld(query: QueryID, PushWithheld)
    /// A push without a query, to test the way to a device. ``LocationPushAttempt/query`` is the test's id. Attempt 0
    /// is recorded before the push is sent.
    case locationPushTested(LocationPushAttempt)
    /// Recorded before the answer to a device's own message tells the device to report.
    case locationReportCommanded(query: QueryID, device: DeviceID)
    /// `fix` is the number of the event that answered.
    case locationQueryEnded(QueryID, QueryEnd, fix: Int64?)
    case locationDisclosed(Disclosure)
    case locationRead(LocationRead)
    /// The refusals of one requester beyond those recorded one by one.
    case refusalsCounted(by: PrincipalID, count: Int64, since: Timestamp)
    case personErased(PersonID)
    /// In the stream of the house, the rule for everyone.
    case retentionSet(RetentionClass, days: Int64?)
    case retentionApplied(AppliedRetention, Part<KeptNewest>?)
    case clockSteppedBack(byMilliseconds: Int64)
    /// `mark` is random, so that two restores of one backup have different names; `nil` from earlier versions.
    case logRestored(epoch: Int64, mark: Int64?)
    /// These events were durable and are lost; the operator has accepted the loss. `mark` as in a restore.
    case lossAccepted(from: Int64, to: Int64, epoch: Int64, mark: Int64?)
    /// The log's place is another one from here on; its events are the same.
    case logMoved(LogPlace)
    /// Recorded before the operator does something that concerns everyone.
    case operatorActed(OperatorAct)
    /// The heads of the persons' logs, recorded before a checkpoint of the whole log.
    case headsCommitted(HeadsCommitment)
    /// The sizes of shards, and their roots, as the directory has checked them.
    case shardsWitnessed(ShardSizes)
    /// The person lives in this shard. In the directory's log and in the shards'.
    case personPlaced(PersonID, ShardNumber)
    /// The log is this shard's, and has the facts of the directory up to this event of the directory.
    case directoryFollowed(ShardNumber, directory: Identifier128?, upTo: Int64)
}

/// The number under which a kind of event is stored. Numbers are never reused. Kinds without a case of ``Event`` were
/// reserved in the first version of the log.
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
    case fixesWithdrawn = 60
    case fixesRestored = 61
    case linkAdded = 62
    case linkOpened = 63
    case linkEnded = 64
    case importBegan = 65
    case importEnded = 66
    case visitsWithdrawn = 67
    case visitsRestored = 68
    case phoneFellSilent = 69
    case webhookConfirmed = 70
    case headsCommitted = 71
    case retentionSet = 72
    case logMoved = 73
    case identityKeyPublished = 74
    case recipientKeyPublished = 75
    case recipientKeyPinned = 76
    case recipientKeyUnpinned = 77
    case sealingKeyWithdrawn = 78
    case deviceSealed = 79
    case sealingRefused = 80
    case shardsWitnessed = 81
    case personPlaced = 82
    case directoryFollowed = 83

    /// The name in answers and documentation: the case name with a capital letter, for example `FixReported`.
    package var name: String { Self.names[self, default: ""] }

    private static let names = caseNames.mapValues { $0.prefix(1).uppercased() + $0.dropFirst() }
}

extension Event {
    /// The kind under which the event is stored.
    package var kind: EventKind {
        switch self {
        case .personAdded: .personAdded
        case .deviceAdded: .deviceAdded
        case .deviceRemoved: .deviceRemoved
        case .tokenIssued: .tokenIssued
        case .tokenRevoked: .tokenRevoked
        case .grantGiven: .grantGiven
        case .grantRevoked: .grantRevoked
        case .regionAdded: .regionAdded
        case .regionRemoved: .regionRemoved
        case .sharingPaused: .sharingPaused
        case .sharingResumed: .sharingResumed
        case .invitationMade: .invitationMade
        case .invitationWithdrawn: .invitationWithdrawn
        case .invitationRefused: .invitationRefused
        case .accountInvitationMade: .accountInvitationMade
        case .accountInvitationClosed: .accountInvitationClosed
        case .scheduleSet: .scheduleSet
        case .scheduleRemoved: .scheduleRemoved
        case .correctionMade: .correctionMade
        case .correctionWithdrawn: .correctionWithdrawn
        case .fixesWithdrawn: .fixesWithdrawn
        case .fixesRestored: .fixesRestored
        case .visitsWithdrawn: .visitsWithdrawn
        case .visitsRestored: .visitsRestored
        case .importBegan: .importBegan
        case .importEnded: .importEnded
        case .linkAdded: .linkAdded
        case .linkOpened: .linkOpened
        case .linkEnded: .linkEnded
        case .webhookAdded: .webhookAdded
        case .webhookRemoved: .webhookRemoved
        case .webhookConfirmed: .webhookConfirmed
        case .phoneFellSilent: .phoneFellSilent
        case .webhookSettled: .webhookSettled
        case .webhookFailed: .webhookFailed
        case .fixReported: .fixReported
        case .inputRejected: .inputRejected
        case .authorizationReported: .authorizationReported
        case .sightingReported(_, .heading, _): .headingReported
        case .sightingReported(_, .beacon, _): .beaconSighted
        case .sightingReported(_, .visit, _): .visitReported
        case .sightingReported(_, .crossing, _): .crossingReported
        case .sealedFixReported: .sealedFixReported
        case .messageReported: .messageReported
        case .identityKeyPublished: .identityKeyPublished
        case .recipientKeyPublished: .recipientKeyPublished
        case .recipientKeyPinned: .recipientKeyPinned
        case .recipientKeyUnpinned: .recipientKeyUnpinned
        case .sealingKeyWithdrawn: .sealingKeyWithdrawn
        case .deviceSealed: .deviceSealed
        case .sealingRefused: .sealingRefused
        case .locationPushTokenRegistered: .locationPushTokenRegistered
        case .locationPushTokenRetired: .locationPushTokenRetired
        case .locationQueried: .locationQueried
        case .consentAsked: .consentAsked
        case .consentGiven: .consentGiven
        case .consentRefused: .consentRefused
        case .locationPushStarted: .locationPushStarted
        case .locationPushAttempted: .locationPushAttempted
        case .locationPushWithheld: .locationPushWithheld
        case .locationPushTested: .locationPushTested
        case .locationReportCommanded: .locationReportCommanded
        case .locationQueryEnded: .locationQueryEnded
        case .locationDisclosed: .locationDisclosed
        case .locationRead: .locationRead
        case .refusalsCounted: .refusalsCounted
        case .personErased: .personErased
        case .retentionSet: .retentionSet
        case .retentionApplied: .retentionApplied
        case .clockSteppedBack: .clockSteppedBack
        case .logRestored: .logRestored
        case .lossAccepted: .lossAccepted
        case .logMoved: .logMoved
        case .headsCommitted: .headsCommitted
        case .shardsWitnessed: .shardsWitnessed
        case .personPlaced: .personPlaced
        case .directoryFollowed: .directoryFollowed
        case .operatorActed: .operatorActed
        }
    }
}
