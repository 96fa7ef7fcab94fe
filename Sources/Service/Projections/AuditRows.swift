import SQLite
package import Whereabouts

/// A location query as the audit shows it.
package struct AuditedQuery: Hashable, Sendable {
    /// Number of its event.
    package let number: Int64
    package let query: QueryID
    /// `nil` when nobody of the name asked for existed.
    package let subject: PersonID?
    package let requester: PrincipalID
    package let recordedAt: Timestamp
    package let verdict: Verdict
    package let initiation: LocationQuery.Initiation
    package let deadline: Timestamp
    package let maxAgeSeconds: Int64
    /// `nil` when it can no longer be read.
    package let purposeForSubject: String?
    /// `nil` when the requester is the operator, or it can no longer be read.
    package let purposeForRequester: String?
    /// `nil` while it is open, and for a refused one.
    package let end: QueryEnd?
    package let endedAt: Timestamp?
    /// Number of the event that ended it.
    package let endedNumber: Int64?
    /// Number of the fix that answered it.
    package let fixNumber: Int64?
    /// `nil` when the subject was not asked first.
    package let consent: Consent?
    /// When it was asked, or answered.
    package let consentAt: Timestamp?
    /// The moment when the subject was found to have no device that can be woken.
    package let noDeviceAt: Timestamp?

    package enum Consent: Int64, Sendable {
        case asked = 1
        case given = 2
        case refused = 3
        package var word: String { String(describing: self) }
    }
}

/// One try to wake a device, with its place.
package struct AuditedAttempt: Hashable, Sendable {
    package let number: Int64
    package let subject: PersonID?
    package let recordedAt: Timestamp
    package let attempt: LocationPushAttempt
}

/// A push that was started and has no recorded outcome, with its place.
package struct AuditedStart: Hashable, Sendable {
    package let number: Int64
    package let subject: PersonID
    package let recordedAt: Timestamp
    package let query: QueryID
    package let device: DeviceID
}

/// What was shown in answer to a query, with its place.
package struct AuditedDisclosure: Hashable, Sendable {
    package let number: Int64
    package let recordedAt: Timestamp
    /// Its content is `erased` when it can no longer be read.
    package let disclosure: Disclosure
}

/// A reading of stored data, with its place.
package struct AuditedRead: Hashable, Sendable {
    package let number: Int64
    package let recordedAt: Timestamp
    /// The members of its content are `nil` when they can no longer be read.
    package let read: LocationRead
}

/// An act of the operator that concerns everybody, with its place.
package struct AuditedAct: Hashable, Sendable {
    /// The ``act`` of a restored log.
    static let restore = "restore"
    /// The ``act`` of an accepted loss.
    static let acceptLoss = "acceptLoss"

    package let number: Int64
    /// 1, 2, 3 … in the order of the log.
    package let ordinal: Int64
    package let actor: PrincipalID
    package let recordedAt: Timestamp
    /// A word of ``OperatorAct``, or ``restore`` or ``acceptLoss``.
    package let act: String
    package let projection: String?
    package let version: Int64?
    /// The epoch of a restored log or after an accepted loss.
    package let epoch: Int64?
    /// The moment when its failure was recorded.
    package let failedAt: Timestamp?
}

/// A change of who may see what: persons, devices, tokens, grants, regions.
package struct SettingsChange: Hashable, Sendable {
    package let number: Int64
    /// Whom it is about; `nil` for the house.
    package let subject: PersonID?
    package let actor: PrincipalID
    package let recordedAt: Timestamp
    /// What happened, as the event is called.
    package let kind: EventKind
    /// The person, device, token, grant, invitation or region that was added or ended.
    package let item: Int64
    /// The requester of a grant, or the principal of a token.
    package var other: PrincipalID?
    /// The handle of a person or device, a name granted to that nobody has, the name of a region, the environment of a
    /// device token or the reason it ended, the authorization a device reported; `nil` when it can no longer be read.
    package var name: String?
    /// Of a grant.
    package var precision: Precision?
    /// Of a grant.
    package var includesHistory: Bool?
    /// Of a token.
    package var scopes: Scopes?
    /// Of a grant.
    package var from: Timestamp?
    /// Of a grant, invitation, token or pause.
    package var until: Timestamp?
    /// Of a grant or invitation.
    package var asksEachTime: Bool?
    /// Of a grant or invitation, with the time zone.
    package var hours: String?
    /// Of a grant: the one that was taken up with it.
    package var invitation: InvitationID?

    mutating func take(_ terms: GrantTerms) {
        (precision, includesHistory) = (terms.precision, terms.includesHistory)
        (asksEachTime, from, until) = (terms.asksEachTime, terms.from, terms.until)
        hours = terms.hours.map(Self.text)
    }

    static func text(_ hours: WeeklyHours) -> String { "\(hours.text), \(hours.zone.name)" }
}

/// What one asker was refused beyond the refusals recorded one by one.
package struct CountedRefusals: Hashable, Sendable {
    package let number: Int64
    package let requester: PrincipalID
    package let recordedAt: Timestamp
    package let count: Int64
    package let since: Timestamp
}

/// A report of a device that could not become a fix, with its place.
package struct RejectedReport: Hashable, Sendable {
    package let number: Int64
    package let subject: PersonID
    package let device: DeviceID
    package let reason: RejectionReason
    package let recordedAt: Timestamp
}

/// How many reports of a device could not become fixes, by reason.
package struct RejectedReports: Hashable, Sendable {
    package let subject: PersonID
    package let device: DeviceID
    package let reason: RejectionReason
    package let count: Int64
    package let newestAt: Timestamp
}
