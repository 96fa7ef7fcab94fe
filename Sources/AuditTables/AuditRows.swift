import SQLite
package import Whereabouts

/// A location query as the audit shows it.
///
/// One row of `query`, keyed by `number`; answers find it by `query` through an index. Later events change the row:
/// its end, its consent and the lack of a device.
///
/// For example, Ben's question about Anna that her phone answered has `verdict` `granted(7)`, `end` `answered` and
/// `fixNumber` the number of the fix.
package struct AuditedQuery: Hashable, Sendable {
    /// The number of its event.
    package let number: Int64
    /// The id of the query.
    package let query: QueryID
    /// `nil` if there was no person of the requested name.
    package let subject: PersonID?
    /// The principal who asked.
    package let requester: PrincipalID
    /// When the event was recorded, by the service's clock.
    package let recordedAt: Timestamp
    /// Whether the query was allowed, and why.
    package let verdict: Verdict
    /// Whether a person asked, or a schedule.
    package let initiation: LocationQuery.Initiation
    /// The time at which the query ends unanswered.
    package let deadline: Timestamp
    /// The greatest age of a fix that answers, in seconds.
    package let maxAgeSeconds: Int64
    /// `nil` if it can no longer be read.
    package let purposeForSubject: String?
    /// `nil` if the requester is the operator, or if it can no longer be read.
    package let purposeForRequester: String?
    /// `nil` for an open query and for a refused one.
    package let end: QueryEnd?
    /// When it ended; `nil` while it is open.
    package let endedAt: Timestamp?
    /// The number of the event that ended it.
    package let endedNumber: Int64?
    /// The number of the fix that answered it.
    package let fixNumber: Int64?
    /// `nil` if the subject's consent was not asked.
    package let consent: ConsentStep?
    /// When consent was asked, given or refused.
    package let consentAt: Timestamp?
    /// When the subject was found to have no device that can be woken.
    package let noDeviceAt: Timestamp?
}

/// One attempt to wake a device, with its place in the log.
///
/// One row of `attempt`. A try that was withheld is a row too, with `attempt` 0, no status and the reason in words,
/// for example `coalesced`.
package struct AuditedAttempt: Hashable, Sendable {
    /// The number of its event.
    package let number: Int64
    /// The person who was asked for; `nil` if they were erased before the attempt was recorded.
    package let subject: PersonID?
    /// When its event was recorded: at the end of the attempt.
    package let recordedAt: Timestamp
    /// The attempt as the event has it.
    package let attempt: LocationPushAttempt
}

/// A push that was started and has no recorded outcome, with its place in the log.
///
/// One row of `under_way`. It exists from `LocationPushStarted` to `LocationPushAttempted`, usually for less than a
/// second.
package struct AuditedStart: Hashable, Sendable {
    /// The number of the event that recorded the start, before the push left.
    package let number: Int64
    /// The person whose device is woken.
    package let subject: PersonID
    /// When the start was recorded, by the service's clock.
    package let recordedAt: Timestamp
    /// The query that the push is for.
    package let query: QueryID
    /// The device to wake.
    package let device: DeviceID
}

/// One disclosure in answer to a query, with its place in the log.
///
/// One row of `disclosure`. `disclosure.content` has the values as they were shown, not as the device reported them:
/// for a grant of precision `kilometer`, the center of the cell.
package struct AuditedDisclosure: Hashable, Sendable {
    /// The number of its event.
    package let number: Int64
    /// When it was recorded, which is before the answer left.
    package let recordedAt: Timestamp
    /// Its content is `erased` if it can no longer be read.
    package let disclosure: Disclosure
}

/// A read of stored data, with its place in the log.
///
/// One row of `reading`. `read.count` is the number of rows in the answer, and `read.asOf` the number of the log up
/// to which they were folded.
package struct AuditedRead: Hashable, Sendable {
    /// The number of its event.
    package let number: Int64
    /// When it was recorded, which is before the answer left.
    package let recordedAt: Timestamp
    /// The members of its content are `nil` if they can no longer be read.
    package let read: LocationRead
}

/// An act of the operator that concerns everyone, with its place in the log.
///
/// One row of `act`, for example the restore of a backup. Every person sees it, because it may have changed the data
/// about each of them. It has no coordinates and no names.
package struct AuditedAct: Hashable, Sendable {
    /// The number of its event. People see the ordinal instead.
    package let number: Int64
    /// 1, 2, 3 and so on, in the order of the log.
    package let ordinal: Int64
    /// The operator, or the house itself.
    package let actor: PrincipalID
    /// When the act was recorded, by the service's clock.
    package let recordedAt: Timestamp
    /// A word of `OperatorAct`, or `restore`, `acceptLoss` or `moveLog`.
    package let act: String
    /// The projection that the act is about; `nil` for other acts.
    package let projection: String?
    /// The version of the projection in the act; `nil` if the act has none.
    package let version: Int64?
    /// The epoch of a restored log or after an accepted loss.
    package let epoch: Int64?
    /// When its failure was recorded; `nil` if it succeeded.
    package let failedAt: Timestamp?
}

/// A change of a setting: persons, devices, tokens, grants, regions and so on.
///
/// One row of `change`, from one event. Which optional members have a value depends on `kind`: a `grantGiven` has
/// `other`, `precision`, `includesHistory`, `from`, `until`, `asksEachTime` and `hours`; a `regionAdded` has `name`
/// only.
package struct SettingsChange: Hashable, Sendable {
    /// The number of its event.
    package let number: Int64
    /// The person it is about; `nil` for the house.
    package let subject: PersonID?
    /// The principal who made the change.
    package let actor: PrincipalID
    /// When the change was recorded, by the service's clock.
    package let recordedAt: Timestamp
    /// The kind of the event.
    package let kind: EventKind
    /// The id of the person, device, token, grant, invitation or region that was added or ended.
    package let item: Int64
    /// The requester of a grant, or the principal of a token.
    package var other: PrincipalID?
    /// The handle of a person or device, the name in a grant if no person has it, the name of a region, the environment
    /// of a device token or the reason why it ended, or the authorization that a device reported. `nil` if it can no
    /// longer be read.
    package var name: String?
    /// The precision of a grant.
    package var precision: Precision?
    /// Whether a grant includes history.
    package var includesHistory: Bool?
    /// The scopes of a token.
    package var scopes: Scopes?
    /// The beginning of a grant.
    package var from: Timestamp?
    /// The end of a grant, invitation, token or pause.
    package var until: Timestamp?
    /// Whether a grant or invitation asks for consent each time.
    package var asksEachTime: Bool?
    /// The weekly hours of a grant or invitation, with the time zone.
    package var hours: String?
    /// The invitation that a grant was made by.
    package var invitation: InvitationID?
}

extension SettingsChange {
    /// The change that an event made.
    init(_ event: RecordedEvent, _ change: SettingChange) {
        self.init(
            number: event.number, subject: event.stream.person, actor: event.actor, recordedAt: event.recordedAt,
            kind: event.event.kind, item: change.item, other: change.other, name: change.name,
            precision: change.terms?.precision, includesHistory: change.terms?.includesHistory, scopes: change.scopes,
            from: change.terms?.from, until: change.until, asksEachTime: change.terms?.asksEachTime,
            // For example `Mo-Fr 08:00-18:00, Europe/Vienna`.
            hours: change.hours.map { "\($0.text), \($0.zone.name)" }, invitation: change.invitation)
    }
}

/// The refusals of one requester beyond those recorded one by one.
///
/// One row of `refusals`. It exists so that a caller who guesses names all day cannot fill the log.
package struct CountedRefusals: Hashable, Sendable {
    /// The number of the event with the count.
    package let number: Int64
    /// The requester who was refused.
    package let requester: PrincipalID
    /// When the count was recorded, by the service's clock.
    package let recordedAt: Timestamp
    /// The number of refusals since `since`.
    package let count: Int64
    /// When the first of them was refused.
    package let since: Timestamp
}

/// A report of a device that was rejected, with its place in the log.
///
/// One row of `rejection`. The table keeps the newest 20 of each device (`Limits.rejectionsShown`); older rows are
/// deleted, and their events stay in the log.
package struct RejectedReport: Hashable, Sendable {
    /// The number of its event, whose sealed part has the beginning of the report.
    package let number: Int64
    /// The owner of the device.
    package let subject: PersonID
    /// The device whose token sent the report.
    package let device: DeviceID
    /// Why the report was rejected, for example `badCoordinate`.
    package let reason: RejectionReason
    /// When the report came, by the service's clock.
    package let recordedAt: Timestamp
}

/// The number of a device's rejected reports with one reason.
///
/// One row of `rejected`, keyed by subject, device and reason.
package struct RejectedReports: Hashable, Sendable {
    /// The owner of the device.
    package let subject: PersonID
    /// The device whose token sent the reports.
    package let device: DeviceID
    /// The reason that all of them share.
    package let reason: RejectionReason
    /// The number of reports, at least 1. A report that equals one of the device's recent ones makes no event and is
    /// not counted again.
    package let count: Int64
    /// When the newest of them was recorded.
    package let newestAt: Timestamp
}
