/// The writer's result of a command, in the form that the standing keeps for a repeated request. A caller who uses it
/// sends an ``Order``, which knows the type.
package enum CommandReply: Hashable, Sendable {
    case done
    case person(PersonID)
    case device(DeviceID)
    case token(TokenID)
    case grant(GrantID)
    case link(LinkID)
    case region(RegionID)
    case invitation(InvitationID)
    case accountInvitation(AccountInvitationID)
    case schedule(ScheduleID)
    case webhook(WebhookID)
    case correction(CorrectionID)
    case importing(ImportID)
    /// One outcome for each report, in their order.
    case fixes([FixOutcome])
    /// As ``fixes(_:)``, with the person and device that were added first.
    case imported(ImportOutcome)
    case query(QueryID)
    /// One order for each device that can be woken.
    case pushes([PushOrder])
    case erased(PersonID)
}

/// The outcome of an import's fixes of one device.
package struct ImportOutcome: Hashable, Sendable {
    /// Whether the person or the device did not exist before.
    package let addedPerson, addedDevice: Bool
    /// One outcome for each report, in their order.
    package let fixes: [FixOutcome]

    package init(addedPerson: Bool, addedDevice: Bool, fixes: [FixOutcome]) {
        (self.addedPerson, self.addedDevice, self.fixes) = (addedPerson, addedDevice, fixes)
    }
}

/// The outcome of one reported fix.
package enum FixOutcome: Hashable, Sendable {
    /// An event was made of it.
    case new
    /// New, with the device, time and place of another fix that differs in another field. Both are events.
    case twin
    /// Known already: acknowledged, without another event.
    case duplicate
    /// It cannot be used; it is kept with the reason.
    case rejected(RejectionReason)
}
