extension EventKind {
    /// The declaration of the kind; `nil` for a kind that is reserved.
    package var fact: (any Fact.Type)? {
        switch self {
        case .personAdded: PersonAdded.self
        case .deviceAdded: DeviceAdded.self
        case .deviceRemoved: DeviceRemoved.self
        case .tokenIssued: TokenIssued.self
        case .tokenRevoked: TokenRevoked.self
        case .grantGiven: GrantGiven.self
        case .grantRevoked: GrantRevoked.self
        case .regionAdded: RegionAdded.self
        case .regionRemoved: RegionRemoved.self
        case .fixReported: FixReported.self
        case .inputRejected: InputRejected.self
        case .locationPushTokenRegistered: LocationPushTokenRegistered.self
        case .locationPushTokenRetired: LocationPushTokenRetired.self
        case .locationQueried: LocationQueried.self
        case .locationPushAttempted: LocationPushAttempted.self
        case .locationQueryEnded: LocationQueryEnded.self
        case .locationDisclosed: LocationDisclosed.self
        case .locationRead: LocationReadRecorded.self
        case .refusalsCounted: RefusalsCounted.self
        case .personErased: PersonErased.self
        case .clockSteppedBack: ClockSteppedBack.self
        case .logRestored: LogRestored.self
        case .authorizationReported: AuthorizationReported.self
        case .locationPushStarted: LocationPushStarted.self
        case .sharingPaused: SharingPaused.self
        case .sharingResumed: SharingResumed.self
        case .invitationMade: InvitationMade.self
        case .invitationWithdrawn: InvitationWithdrawn.self
        case .invitationRefused: InvitationRefused.self
        case .locationPushTested: LocationPushTested.self
        case .consentAsked: ConsentAsked.self
        case .consentGiven: ConsentGiven.self
        case .consentRefused: ConsentRefused.self
        case .headingReported: HeadingReported.self
        case .beaconSighted: BeaconSighted.self
        case .visitReported: VisitReported.self
        case .crossingReported: CrossingReported.self
        case .correctionMade: CorrectionMade.self
        case .correctionWithdrawn: CorrectionWithdrawn.self
        case .fixesWithdrawn: FixesWithdrawn.self
        case .fixesRestored: FixesRestored.self
        case .visitsWithdrawn: VisitsWithdrawn.self
        case .visitsRestored: VisitsRestored.self
        case .importBegan: ImportBegan.self
        case .importEnded: ImportEnded.self
        case .linkAdded: LinkAdded.self
        case .linkOpened: LinkOpened.self
        case .linkEnded: LinkEnded.self
        case .webhookAdded: WebhookAdded.self
        case .webhookRemoved: WebhookRemoved.self
        case .webhookConfirmed: WebhookConfirmed.self
        case .phoneFellSilent: PhoneFellSilent.self
        case .scheduleSet: ScheduleSet.self
        case .scheduleRemoved: ScheduleRemoved.self
        case .messageReported: MessageReported.self
        case .locationReportCommanded: LocationReportCommanded.self
        case .webhookSettled: WebhookSettled.self
        case .webhookFailed: WebhookFailed.self
        case .accountInvitationMade: AccountInvitationMade.self
        case .accountInvitationClosed: AccountInvitationClosed.self
        case .operatorActed: OperatorActed.self
        case .lossAccepted: LossAccepted.self
        case .logMoved: LogMoved.self
        case .headsCommitted: HeadsCommitted.self
        case .locationPushWithheld: LocationPushWithheld.self
        case .retentionSet: RetentionSet.self
        case .retentionApplied: RetentionApplied.self
        case .sealedFixReported: nil
        }
    }
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
        case .messageReported: .messageReported
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
        case .operatorActed: .operatorActed
        }
    }
}
