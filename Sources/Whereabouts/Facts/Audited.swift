/// The part of an event that the person's audit keeps and the person's feed shows.
package enum Audited: Sendable {
    /// Neither of them shows it.
    case nothing
    /// A change of a setting or a right.
    case change(SettingChange)
    /// A change that the feed does not show: a record of the feed's own deliveries, each of which would otherwise bring
    /// about the next.
    case quietChange(SettingChange)
    /// The person is erased: all earlier rows about them go.
    case erasure(PersonID)
    case query(LocationQuery)
    /// The end of a query, with the number of the fix that answered it.
    case queryEnd(QueryID, QueryEnd, fix: Int64?)
    case consent(QueryID, ConsentStep)
    case pushStart(QueryID, DeviceID)
    case attempt(LocationPushAttempt)
    case withheld(QueryID, PushWithheld)
    case disclosure(Disclosure)
    case read(LocationRead)
    case refusals(by: PrincipalID, count: Int64, since: Timestamp)
    case rejection(DeviceID, RejectionReason)
    /// An act that concerns everyone.
    case act(String, projection: String?, version: Int64?, epoch: Int64?)
    /// The act that the event of this number recorded has failed.
    case actFailed(Int64)
}

/// A change of a setting, as the audit keeps it beside the event's number, stream, actor, time and kind.
package struct SettingChange: Hashable, Sendable {
    /// The id of the thing that was added, changed or ended.
    package let item: Int64
    /// The requester of a grant, or the principal of a token.
    package var other: PrincipalID?
    /// A word about it: a handle, the name of a region, a reason. `nil` if it can no longer be read.
    package var name: String?
    /// The scopes of a token.
    package var scopes: Scopes?
    /// The terms of a grant or an invitation, without its end.
    package var terms: GrantTerms?
    /// The end of a grant, invitation, token or pause.
    package var until: Timestamp?
    /// The hours of a grant or invitation.
    package var hours: WeeklyHours?
    /// The invitation that a grant was made by.
    package var invitation: InvitationID?

    package init(
        item: Int64, other: PrincipalID? = nil, name: String? = nil, scopes: Scopes? = nil, until: Timestamp? = nil,
        terms: GrantTerms? = nil, hours: WeeklyHours? = nil, invitation: InvitationID? = nil
    ) {
        (self.item, self.other, self.name, self.scopes) = (item, other, name, scopes)
        (self.terms, self.until, self.hours, self.invitation) = (terms, until ?? terms?.until, hours, invitation)
    }
}

/// A step of the subject's consent to one question.
package enum ConsentStep: Int64, Sendable {
    case asked = 1
    case given = 2
    case refused = 3
    /// The word in answers.
    package var word: String { String(describing: self) }
}

extension RecordedEvent {
    /// The row of the event in the audit.
    package var audited: Audited { event.kind.fact?.audited(self) ?? .nothing }

    /// The result of a command that ended with this event; `nil` for a refusal.
    var reply: CommandReply? { event.kind.fact?.reply(to: self) }
}

extension Event {
    /// Whether the event records that data about a person left the house.
    package var isDisclosure: Bool { kind.fact?.isDisclosure(self) ?? false }

    /// For the `default:` of a fold's switch: the kind must not declare that it concerns the fold (``Fact/concerns``).
    /// Checked in debug builds; in optimized ones it costs nothing.
    @inlinable
    package func isPassedOver(by fold: FactConcerns) {
        assert(!concerns.contains(fold), "\(kind) concerns a fold that has no case for it.")
    }

    /// The folds that the kind concerns.
    package var concerns: FactConcerns { kind.fact?.concerns ?? [] }
}
