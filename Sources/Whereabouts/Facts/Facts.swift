// The lists to which a new fact and a new id are added.

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
        case .sealedFixReported: SealedFixReported.self
        case .identityKeyPublished: IdentityKeyPublished.self
        case .recipientKeyPublished: RecipientKeyPublished.self
        case .recipientKeyPinned: RecipientKeyPinned.self
        case .recipientKeyUnpinned: RecipientKeyUnpinned.self
        case .sealingKeyWithdrawn: SealingKeyWithdrawn.self
        case .deviceSealed: DeviceSealed.self
        case .sealingRefused: SealingRefused.self
        case .shardsWitnessed: ShardsWitnessed.self
        case .personPlaced: PersonPlaced.self
        case .directoryFollowed: DirectoryFollowed.self
        }
    }
}

// How facts store ids.

extension PrincipalID: IntegerValue { package static let form = FieldForm.principal }
extension PersonID: IntegerValue { package static let form = FieldForm.principal }
extension DeviceID: IntegerValue { package static let form = FieldForm.principal }
extension GrantID: IntegerValue { package static let form = FieldForm.ordinal }
extension InvitationID: IntegerValue { package static let form = FieldForm.ordinal }
extension AccountInvitationID: IntegerValue { package static let form = FieldForm.eventNumber }
extension RegionID: IntegerValue { package static let form = FieldForm.ordinal }
extension ScheduleID: IntegerValue { package static let form = FieldForm.eventNumber }
extension CorrectionID: IntegerValue { package static let form = FieldForm.eventNumber }
extension WebhookID: IntegerValue { package static let form = FieldForm.eventNumber }
extension DeadLetterID: IntegerValue { package static let form = FieldForm.eventNumber }
extension TokenID: IntegerValue { package static let form = FieldForm.ordinal }
extension LinkID: IntegerValue { package static let form = FieldForm.principal }
extension ImportID: IntegerValue { package static let form = FieldForm.eventNumber }
