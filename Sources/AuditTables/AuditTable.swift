import Cryptography
import Projections
import SQLite
import Whereabouts

/// The audit: queries, reads and their outcomes, disclosures, and every change of a person's settings and of the rights
/// of others.
///
/// A subject's rows are deleted with the subject. Rows about others keep an erased requester's number, and lose the
/// words that the requester wrote under their own key. Times of recording are content, because the log has them.
///
/// Cost of a fold: one insertion for each event that the audit shows, and a search by `query_by_id` for each later
/// event of a query. Fixes, which are most of a log, have no row here.
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
    ///
    /// The other columns, by table:
    /// - `query`: `deadline_ms` is the time at which an open query ends; `max_age_seconds` the greatest age of a fix
    ///   that answers it; `consent` is 1 (asked), 2 (given) or 3 (refused).
    /// - `attempt`: `attempt` counts the tries of one query and device from 1, and is 0 if nothing was sent.
    ///   `apns_id` is 16 bytes. `status` is the HTTP status of APNs. `duration_ms` is the time from sending to the
    ///   end. `priority` is 10 or 5. `token_hash` has 32 bits of the hash of the device token.
    /// - `disclosure`: `latitude_degrees` and `longitude_degrees` are WGS 84 as shown, `horizontal_accuracy_meters`
    ///   is NULL for a coarse grant, `timestamp_ms` is the device's time as shown, `answer_hash` is the SHA-256 of
    ///   the body.
    /// - `reading`: `question` is the raw value of `LocationRead.Question`, `as_of` the number of the log up to which
    ///   the answer was folded, `count` the number of its rows, `from_ms` and `to_ms` the asked range.
    /// - `change`: `includes_history` and `asks_each_time` are 0 or 1, `scopes` the bits of `Scopes`, `hours` the
    ///   text of `WeeklyHours` with its zone.
    /// - `act`: `act` is a word, for example `restore`; `epoch` is the log's epoch after it.
    /// - `refusals`: `count` refusals since `since_ms`. `rejected`: `count` reports, the newest at `newest_at_ms`.
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
    ///
    /// Each index has one column. Its entries also contain the rowid, which is `number`, so a page in the order of
    /// numbers is read from the index without sorting. A test reads `EXPLAIN QUERY PLAN` for each query.
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
    ///
    /// - Throws: `SQLiteError` of a write, and a damaged projection if a row is missing that an earlier event of the
    ///   log must have written. The follower then deletes the file and folds it again.
    func fold(_ batch: [RecordedEvent]) throws(SQLiteError) {
        for index in batch.indices {
            let audited = batch[index].audited
            // Most events have no row, and are not copied.
            if case .nothing = audited { continue }
            let event = batch[index]
            switch audited {
            case .nothing: continue
            case .change(let change), .quietChange(let change): try insert(SettingsChange(event, change))
            case .erasure(let person):
                try erase(person)
                try insert(SettingsChange(event, SettingChange(item: person.rawValue)))
            case .query(let query): try insert(query, event)
            case .queryEnd(let query, let end, let fix): try update(query, end, fix, event)
            case .consent(let query, let step): try update(query, step, event)
            case .pushStart(let query, let device): try insert(startOf: query, device, event)
            case .attempt(let attempt): try insert(attempt, event)
            case .withheld(let query, .noDevice): try updateNoDevice(query, event)
            case .withheld: continue
            case .disclosure(let disclosure): try insert(disclosure, event)
            case .read(let read): try insert(read, event)
            case .refusals(let requester, let count, let since): try insert(requester, count, since, event)
            case .rejection(let device, let reason):
                try count(device, reason, event)
                try keep(device, reason, event)
            case .act(let act, let projection, let version, let epoch):
                try insert(
                    AuditedAct(
                        event, act: act, projection: projection, version: version, epoch: epoch,
                        ordinal: try nextOrdinal()))
            case .actFailed(let number): try noteFailure(of: number, event)
            }
        }
    }

    /// Does nothing: no row is kept in memory.
    func flush() throws(SQLiteError) {}

    /// Does nothing, as `flush()`.
    func forget() {}
}
