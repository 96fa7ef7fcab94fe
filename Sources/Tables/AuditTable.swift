import Cryptography
import Projections
import SQLite
package import Whereabouts

/// The audit: queries, reads and their outcomes, disclosures, and every change of a person's settings and of the rights
/// of others.
///
/// A subject's rows are deleted with the subject. Rows about others keep an erased requester's number, and lose the
/// words that the requester wrote under their own key. Times of recording are content, because the log has them.
package final class AuditTable: Projection {
    static let name = "audit"
    static let versions: [Int64] = [5]
    /// `rejection` has the newest `Limits.rejectionsShown` of each device; the input itself is in the log, sealed.
    /// `act` has the acts that concern everyone, which every person sees. `ordinal` counts them, 1, 2, 3 and so on,
    /// because people do not learn the numbers of events that are not theirs.
    ///
    /// Columns of several tables:
    /// - `number`: the number of the event that the row is made of. `*_ms`: milliseconds since 1970, UTC.
    /// - `subject`: the person whose audit shows the row; NULL if the request named no person.
    /// - `requester`, `reader`, `actor`: a principal. `verdict`, `initiation`, `precision`, `outcome`, `end`, `kind`:
    ///   the code or raw value of the type of that name.
    /// - Purposes, names, hours and disclosed values are sealed in the log; they are NULL if they can no longer be
    ///   read.
    ///
    /// `query` has one row for each query, changed by its later events: `end`, `ended_at_ms`, `ended_number` and
    /// `fix_number` by its end, `consent` and `consent_at_ms` by the last event of consent, `no_device_at_ms` if the
    /// subject has no device that can be woken. `attempt` has every try of a push. `under_way` has the pushes that were
    /// started and have no outcome; the outcome removes the row. `change` has `item` (the changed thing), `other` (a
    /// second principal) and the terms of grants and invitations. `rejected` counts the rejected reports by device and
    /// reason.
    static let schema: StaticString = """
        CREATE TABLE query (
            number INTEGER PRIMARY KEY,
            query BLOB NOT NULL,
            subject INTEGER,
            requester INTEGER NOT NULL,
            recorded_at_ms INTEGER NOT NULL,
            verdict INTEGER NOT NULL,
            initiation INTEGER NOT NULL,
            deadline_ms INTEGER NOT NULL,
            max_age_seconds INTEGER NOT NULL,
            purpose_for_subject TEXT,
            purpose_for_requester TEXT,
            end INTEGER,
            ended_at_ms INTEGER,
            ended_number INTEGER,
            fix_number INTEGER,
            consent INTEGER,
            consent_at_ms INTEGER,
            no_device_at_ms INTEGER
        ) STRICT;
        CREATE INDEX query_by_id ON query (query);
        CREATE TABLE attempt (
            number INTEGER PRIMARY KEY,
            query BLOB NOT NULL,
            subject INTEGER,
            device INTEGER NOT NULL,
            recorded_at_ms INTEGER NOT NULL,
            attempt INTEGER NOT NULL,
            apns_id BLOB NOT NULL,
            status INTEGER,
            reason TEXT,
            duration_ms INTEGER NOT NULL,
            outcome INTEGER NOT NULL,
            started_at_ms INTEGER,
            environment INTEGER,
            priority INTEGER,
            token_hash INTEGER,
            unique_id TEXT
        ) STRICT;
        CREATE TABLE under_way (
            number INTEGER PRIMARY KEY,
            query BLOB NOT NULL,
            subject INTEGER NOT NULL,
            device INTEGER NOT NULL,
            recorded_at_ms INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX under_way_by_query ON under_way (query);
        CREATE TABLE disclosure (
            number INTEGER PRIMARY KEY,
            query BLOB NOT NULL,
            subject INTEGER NOT NULL,
            requester INTEGER NOT NULL,
            recorded_at_ms INTEGER NOT NULL,
            verdict INTEGER NOT NULL,
            precision INTEGER NOT NULL,
            fix_number INTEGER NOT NULL,
            latitude_degrees REAL,
            longitude_degrees REAL,
            horizontal_accuracy_meters REAL,
            timestamp_ms INTEGER,
            place_name TEXT,
            answer_hash BLOB
        ) STRICT;
        CREATE TABLE reading (
            number INTEGER PRIMARY KEY,
            subject INTEGER,
            reader INTEGER NOT NULL,
            recorded_at_ms INTEGER NOT NULL,
            question INTEGER NOT NULL,
            verdict INTEGER NOT NULL,
            precision INTEGER NOT NULL,
            as_of INTEGER NOT NULL,
            count INTEGER NOT NULL,
            purpose TEXT,
            from_ms INTEGER,
            to_ms INTEGER,
            answer_hash BLOB
        ) STRICT;
        CREATE TABLE change (
            number INTEGER PRIMARY KEY,
            subject INTEGER,
            actor INTEGER NOT NULL,
            recorded_at_ms INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            item INTEGER NOT NULL,
            other INTEGER,
            name TEXT,
            precision INTEGER,
            includes_history INTEGER,
            scopes INTEGER,
            from_ms INTEGER,
            until_ms INTEGER,
            asks_each_time INTEGER,
            hours TEXT,
            invitation INTEGER
        ) STRICT;
        CREATE TABLE act (
            number INTEGER PRIMARY KEY,
            ordinal INTEGER NOT NULL,
            actor INTEGER NOT NULL,
            recorded_at_ms INTEGER NOT NULL,
            act TEXT NOT NULL,
            projection TEXT,
            version INTEGER,
            epoch INTEGER,
            failed_at_ms INTEGER
        ) STRICT;
        CREATE TABLE refusals (
            number INTEGER PRIMARY KEY,
            requester INTEGER NOT NULL,
            recorded_at_ms INTEGER NOT NULL,
            count INTEGER NOT NULL,
            since_ms INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE rejected (
            subject INTEGER NOT NULL,
            device INTEGER NOT NULL,
            reason INTEGER NOT NULL,
            count INTEGER NOT NULL,
            newest_at_ms INTEGER NOT NULL,
            PRIMARY KEY (subject, device, reason)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE rejection (
            number INTEGER PRIMARY KEY,
            subject INTEGER NOT NULL,
            device INTEGER NOT NULL,
            reason INTEGER NOT NULL,
            recorded_at_ms INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX rejection_by_device ON rejection (device)
        """
    /// Made after the rows of a refold. `query_by_id`, `under_way_by_query` and `rejection_by_device` are in
    /// ``schema``, because the fold searches by them.
    static let indexes: StaticString = """
        CREATE INDEX query_by_subject ON query (subject);
        CREATE INDEX query_by_requester ON query (requester);
        CREATE INDEX attempt_by_query ON attempt (query);
        CREATE INDEX attempt_by_subject ON attempt (subject);
        CREATE INDEX under_way_by_subject ON under_way (subject);
        CREATE INDEX disclosure_by_query ON disclosure (query);
        CREATE INDEX disclosure_by_subject ON disclosure (subject);
        CREATE INDEX reading_by_subject ON reading (subject);
        CREATE INDEX reading_by_reader ON reading (reader);
        CREATE INDEX change_by_subject ON change (subject);
        CREATE UNIQUE INDEX act_by_ordinal ON act (ordinal);
        CREATE INDEX refusals_by_requester ON refusals (requester);
        CREATE INDEX rejection_by_subject ON rejection (subject)
        """

    let file: ProjectionFile

    init(file: ProjectionFile, version: Int64) { self.file = file }

    /// Writes the rows of each event at once. Fixes, sightings, messages and refused invitations have none.
    func fold(_ batch: [RecordedEvent]) throws(SQLiteError) {
        for event in batch {
            switch event.event {
            case .fixReported, .sightingReported, .messageReported, .invitationRefused: continue
            case .personErased(let person):
                try erase(person)
                try insert(change(event, item: person.rawValue))
            case .locationQueried(let query): try insert(query, event)
            case .locationQueryEnded(let query, let end, let fix): try update(query, end, fix, event)
            case .consentAsked(let query): try update(query, .asked, event)
            case .consentGiven(let query): try update(query, .given, event)
            case .consentRefused(let query): try update(query, .refused, event)
            case .locationPushStarted(let query, let device): try insert(startOf: query, device, event)
            case .locationPushAttempted(let attempt): try insert(attempt, event)
            case .locationPushWithheld(let query, .noDevice): try updateNoDevice(query, event)
            case .locationPushWithheld: continue
            case .locationDisclosed(let disclosure): try insert(disclosure, event)
            case .locationRead(let read): try insert(read, event)
            case .refusalsCounted(let requester, let count, let since):
                try insert(requester, count, since, event)
            case .inputRejected(let device, let reason, _, _):
                try count(device, reason, event)
                try keep(device, reason, event)
            case .logRestored(let epoch):
                try insert(AuditedAct(event, act: AuditedAct.restore, epoch: epoch, ordinal: try nextOrdinal()))
            case .lossAccepted(_, _, let epoch):
                try insert(AuditedAct(event, act: AuditedAct.acceptLoss, epoch: epoch, ordinal: try nextOrdinal()))
            case .operatorActed(.failed(let number)): try noteFailure(of: number, event)
            case .operatorActed(let act) where event.stream == .house:
                try insert(
                    AuditedAct(
                        event, act: act.word, projection: act.projection, version: act.version,
                        ordinal: try nextOrdinal()))
            default: if let row = change(event) { try insert(row) }
            }
        }
    }

    /// Does nothing: no row is kept in memory.
    func flush() throws(SQLiteError) {}

    func forget() {}

    /// The change of a setting that an event makes; `nil` for other events.
    private func change(_ event: RecordedEvent) -> SettingsChange? {
        switch event.event {
        case .personAdded(let person, let handle):
            return change(event, item: person.rawValue, name: handle.content?.text)
        case .deviceAdded(let device, _, let handle):
            return change(event, item: device.rawValue, name: handle.content?.text)
        case .deviceRemoved(let device): return change(event, item: device.rawValue)
        case .tokenIssued(let token):
            var row = change(event, item: token.id.rawValue)
            row.other = token.principal
            row.scopes = token.scopes
            row.until = token.until
            return row
        case .tokenRevoked(let token): return change(event, item: token.rawValue)
        case .grantGiven(let grant):
            var row = change(event, item: grant.id.rawValue)
            row.other = grant.requester?.principal
            row.name = grant.detail?.content?.name?.text
            row.invitation = grant.invitation
            row.take(
                GrantTerms(
                    precision: grant.precision, includesHistory: grant.includesHistory,
                    asksEachTime: grant.asksEachTime, from: grant.from, until: grant.until, hours: grant.hours))
            return row
        case .grantRevoked(let grant): return change(event, item: grant.rawValue)
        case .sharingPaused(let person, let until):
            var row = change(event, item: person.rawValue)
            row.until = until
            return row
        case .sharingResumed(let person): return change(event, item: person.rawValue)
        case .invitationMade(let invitation):
            var row = change(event, item: invitation.id.rawValue)
            row.invitation = invitation.id
            row.take(invitation.terms)
            row.hours = invitation.detail?.content.map(SettingsChange.text)
            return row
        case .invitationWithdrawn(let id): return change(event, item: id.rawValue)
        // Invitations by the operator are about no person.
        case .accountInvitationMade(_, let expires):
            guard event.stream.person != nil else { return nil }
            var row = change(event, item: event.number)
            row.until = expires
            return row
        case .accountInvitationClosed(let id):
            return event.stream.person == nil ? nil : change(event, item: id.rawValue)
        case .regionAdded(let id, let region):
            return change(event, item: id.rawValue, name: region.content?.identifier)
        case .regionRemoved(let id): return change(event, item: id.rawValue)
        case .scheduleSet(let seconds, let until):
            var row = change(event, item: event.number, name: "every \(seconds) s")
            row.until = until
            return row
        case .scheduleRemoved(let schedule): return change(event, item: schedule.rawValue)
        case .webhookAdded(_, _, let target):
            return change(event, item: event.number, name: target.content?.origin)
        case .webhookRemoved(let webhook): return change(event, item: webhook.rawValue)
        case .webhookFailed(let failure): return change(event, item: failure.webhook.rawValue)
        // The read is recorded separately.
        case .webhookSettled(_, .told), .webhookSettled(_, .taken): return nil
        case .webhookSettled(let webhook, .discarded): return change(event, item: webhook.rawValue, name: "discarded")
        case .operatorActed(.retryMessage(let webhook, _)):
            return change(event, item: webhook.rawValue, name: "message posted again")
        case .correctionMade(let correction):
            return change(event, item: event.number, name: correction.content?.kind.word)
        case .correctionWithdrawn(let correction): return change(event, item: correction.rawValue)
        case .authorizationReported(let device, let report):
            return change(event, item: device.rawValue, name: report.content?.words)
        case .locationPushTokenRegistered(let device, let environment, _):
            return change(event, item: device.rawValue, name: environment.word)
        case .locationPushTokenRetired(let device, let reason):
            return change(event, item: device.rawValue, name: reason)
        case .locationPushTested(let attempt):
            let said = [attempt.outcome.word, attempt.status.map { "\($0)" }, attempt.reason].compactMap { $0 }
            return change(
                event, item: attempt.device.rawValue,
                name: attempt.isTestLeaving ? "leaving" : said.joined(separator: " "))
        case .locationReportCommanded(_, let device): return change(event, item: device.rawValue)
        case .fixReported, .sightingReported, .messageReported, .inputRejected, .locationQueried,
            .locationPushStarted, .locationPushAttempted, .locationPushWithheld,
            .locationQueryEnded, .locationDisclosed, .locationRead, .refusalsCounted, .personErased, .clockSteppedBack,
            .logRestored, .lossAccepted, .invitationRefused, .consentAsked, .consentGiven, .consentRefused,
            .operatorActed:
            return nil
        }
    }

    /// A row with the members that all changes share.
    private func change(_ event: RecordedEvent, item: Int64, name: String? = nil) -> SettingsChange {
        SettingsChange(
            number: event.number, subject: event.stream.person, actor: event.actor, recordedAt: event.recordedAt,
            kind: event.event.auditedKind, item: item, name: name)
    }
}

extension AuthorizationReport {
    /// Status and accuracy in words.
    fileprivate var words: String {
        accuracy.map { "\(status.word), \($0.word) accuracy" } ?? status.word
    }
}

extension Event {
    /// The kind under which a change of a setting is kept.
    package var auditedKind: EventKind {
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
        case .scheduleSet: .scheduleSet
        case .scheduleRemoved: .scheduleRemoved
        case .webhookAdded: .webhookAdded
        case .webhookRemoved: .webhookRemoved
        case .webhookSettled: .webhookSettled
        case .webhookFailed: .webhookFailed
        case .operatorActed: .operatorActed
        case .correctionMade: .correctionMade
        case .correctionWithdrawn: .correctionWithdrawn
        case .authorizationReported: .authorizationReported
        case .locationPushTokenRegistered: .locationPushTokenRegistered
        case .locationPushTokenRetired: .locationPushTokenRetired
        case .locationPushTested: .locationPushTested
        case .locationReportCommanded: .locationReportCommanded
        case .personErased: .personErased
        case .sharingPaused: .sharingPaused
        case .sharingResumed: .sharingResumed
        case .invitationMade: .invitationMade
        case .invitationWithdrawn: .invitationWithdrawn
        case .accountInvitationMade: .accountInvitationMade
        case .accountInvitationClosed: .accountInvitationClosed
        case .fixReported, .sightingReported, .messageReported, .inputRejected, .locationQueried,
            .locationPushStarted, .locationPushAttempted, .locationPushWithheld,
            .locationQueryEnded, .locationDisclosed, .locationRead, .refusalsCounted, .clockSteppedBack, .logRestored,
            .lossAccepted,
            .invitationRefused, .consentAsked, .consentGiven, .consentRefused:
            preconditionFailure("Not a change of settings.")
        }
    }
}
