import Cryptography
import Projections
import SQLite
import Whereabouts

/// The rows that events write. Each function changes a row and the fingerprint together, inside the follower's
/// transaction.
extension AuditTable {
    /// Adds a query, open unless it was refused.
    ///
    /// The row has the purpose twice, because each copy is sealed under another person's key: erasing the requester
    /// takes away the requester's words and leaves the subject their own copy.
    func insert(_ query: LocationQuery, _ event: RecordedEvent) throws(SQLiteError) {
        let row = AuditedQuery(
            number: event.number, query: query.id, subject: query.subject, requester: query.requester,
            recordedAt: event.recordedAt, verdict: query.verdict, initiation: query.initiation,
            deadline: query.deadline,
            maxAgeSeconds: query.maxAgeSeconds, purposeForSubject: query.purposeForSubject.content,
            purposeForRequester: query.purposeForRequester?.content, end: nil, endedAt: nil, endedNumber: nil,
            fixNumber: nil, consent: nil, consentAt: nil, noDeviceAt: nil)
        try file.connection.cached(
            """
            INSERT INTO query
                (number, query, subject, requester, recorded_at_ms, verdict, initiation, deadline_ms, max_age_seconds,
                purpose_for_subject, purpose_for_requester)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        ) { (statement) throws(SQLiteError) in
            try statement.bind(row.number, at: 1)
            try statement.bind(row.query.bytes, at: 2)
            try statement.bind(row.subject?.rawValue, at: 3)
            try statement.bind(row.requester.rawValue, at: 4)
            try statement.bind(row.recordedAt.milliseconds, at: 5)
            try statement.bind(row.verdict.code, at: 6)
            try statement.bind(row.initiation.rawValue, at: 7)
            try statement.bind(row.deadline.milliseconds, at: 8)
            try statement.bind(row.maxAgeSeconds, at: 9)
            try statement.bind(row.purposeForSubject, at: 10)
            try statement.bind(row.purposeForRequester, at: 11)
            try statement.run()
        }
        file.fingerprint.add(file.hasher.hash(row))
    }

    /// Ends a query. One that has ended stays as it is, and a query whose subject has been erased meanwhile has no row.
    ///
    /// - Parameters:
    ///   - end: How it ended, as the subject sees it.
    ///   - fix: The number of the fix that answered it; `nil` for another end.
    func update(_ query: QueryID, _ end: QueryEnd, _ fix: Int64?, _ event: RecordedEvent) throws(SQLiteError) {
        guard let before = try storedQuery(query), before.end == nil else { return }
        try file.connection.cached(
            "UPDATE query SET end = ?, ended_at_ms = ?, ended_number = ?, fix_number = ? WHERE number = ?"
        ) { (statement) throws(SQLiteError) in
            try statement.bind(end.rawValue, at: 1)
            try statement.bind(event.recordedAt.milliseconds, at: 2)
            try statement.bind(event.number, at: 3)
            try statement.bind(fix, at: 4)
            try statement.bind(before.number, at: 5)
            try statement.run()
        }
        guard let after = try storedQuery(query) else { throw .damagedProjection }
        file.fingerprint.subtract(file.hasher.hash(before))
        file.fingerprint.add(file.hasher.hash(after))
    }

    /// Notes that the subject was asked for consent, or gave or refused it.
    ///
    /// Only the last step is kept: a consent that was given replaces the one that was asked.
    func update(_ query: QueryID, _ consent: ConsentStep, _ event: RecordedEvent) throws(SQLiteError) {
        guard let before = try storedQuery(query) else { return }
        try file.connection.cached("UPDATE query SET consent = ?, consent_at_ms = ? WHERE number = ?") {
            (statement) throws(SQLiteError) in
            try statement.bind(consent.rawValue, at: 1)
            try statement.bind(event.recordedAt.milliseconds, at: 2)
            try statement.bind(before.number, at: 3)
            try statement.run()
        }
        guard let after = try storedQuery(query) else { throw .damagedProjection }
        file.fingerprint.subtract(file.hasher.hash(before))
        file.fingerprint.add(file.hasher.hash(after))
    }

    /// Notes that the subject has no device that can be woken.
    ///
    /// The query stays open until its deadline. The requester cannot distinguish it from a query whose phone is
    /// switched off.
    func updateNoDevice(_ query: QueryID, _ event: RecordedEvent) throws(SQLiteError) {
        guard let before = try storedQuery(query) else { return }
        try file.connection.cached("UPDATE query SET no_device_at_ms = ? WHERE number = ?") {
            (statement) throws(SQLiteError) in
            try statement.bind(event.recordedAt.milliseconds, at: 1)
            try statement.bind(before.number, at: 2)
            try statement.run()
        }
        guard let after = try storedQuery(query) else { throw .damagedProjection }
        file.fingerprint.subtract(file.hasher.hash(before))
        file.fingerprint.add(file.hasher.hash(after))
    }

    /// The row of a query as it is in the file now.
    ///
    /// `nil` if there is no row: the query's subject was erased. One search by `query_by_id`.
    private func storedQuery(_ query: QueryID) throws(SQLiteError) -> AuditedQuery? {
        try file.connection.cached(AuditReader.querySQL) { (statement) throws(SQLiteError) in
            try statement.bind(query.bytes, at: 1)
            return try statement.step() ? try AuditedQuery(statement) : nil
        }
    }

    /// Adds a push under way; the record of its outcome removes it.
    ///
    /// A second start for the same query and device replaces the first, which a crash left without an outcome. An
    /// event of the house's stream, which has no person, makes no row.
    func insert(startOf query: QueryID, _ device: DeviceID, _ event: RecordedEvent) throws(SQLiteError) {
        guard let subject = event.stream.person else { return }
        try removeStarts(of: query, device)
        let row = AuditedStart(
            number: event.number, subject: subject, recordedAt: event.recordedAt, query: query, device: device)
        try file.connection.cached(
            "INSERT INTO under_way (number, query, subject, device, recorded_at_ms) VALUES (?, ?, ?, ?, ?)"
        ) { (statement) throws(SQLiteError) in
            try statement.bind(row.number, at: 1)
            try statement.bind(query.bytes, at: 2)
            try statement.bind(subject.rawValue, at: 3)
            try statement.bind(device.rawValue, at: 4)
            try statement.bind(row.recordedAt.milliseconds, at: 5)
            try statement.run()
        }
        file.fingerprint.add(file.hasher.hash(row))
    }

    /// Removes the pushes under way of a query to a device.
    ///
    /// One search by `under_way_by_query`; a query has at most one push under way for each device.
    private func removeStarts(of query: QueryID, _ device: DeviceID) throws(SQLiteError) {
        var removed: [AuditedStart] = []
        try file.connection.cached("SELECT * FROM under_way WHERE query = ? AND device = ?") {
            (statement) throws(SQLiteError) in
            try statement.bind(query.bytes, at: 1)
            try statement.bind(device.rawValue, at: 2)
            while try statement.step() { removed.append(try AuditedStart(statement)) }
        }
        for row in removed {
            try file.connection.cached("DELETE FROM under_way WHERE number = ?") { (statement) throws(SQLiteError) in
                try statement.bind(row.number, at: 1)
                try statement.run()
            }
            file.fingerprint.subtract(file.hasher.hash(row))
        }
    }

    /// Adds an attempt, which ends a push under way unless nothing was sent.
    ///
    /// A withheld push leaves the row of the start in place if there is one, since the push that it describes may
    /// still end.
    func insert(_ attempt: LocationPushAttempt, _ event: RecordedEvent) throws(SQLiteError) {
        if attempt.outcome != .withheld { try removeStarts(of: attempt.query, attempt.device) }
        let row = AuditedAttempt(
            number: event.number, subject: event.stream.person, recordedAt: event.recordedAt, attempt: attempt)
        try file.connection.cached(
            """
            INSERT INTO attempt
                (number, query, subject, device, recorded_at_ms, attempt, apns_id, status, reason, duration_ms,
                outcome, started_at_ms, environment, priority, token_hash, unique_id)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        ) { (statement) throws(SQLiteError) in
            try statement.bind(row.number, at: 1)
            try statement.bind(attempt.query.bytes, at: 2)
            try statement.bind(row.subject?.rawValue, at: 3)
            try statement.bind(attempt.device.rawValue, at: 4)
            try statement.bind(row.recordedAt.milliseconds, at: 5)
            try statement.bind(attempt.attempt, at: 6)
            try statement.bind(attempt.apnsID.bytes, at: 7)
            try statement.bind(attempt.status, at: 8)
            try statement.bind(attempt.reason, at: 9)
            try statement.bind(attempt.durationMilliseconds, at: 10)
            try statement.bind(attempt.outcome.rawValue, at: 11)
            try statement.bind(attempt.startedAt?.milliseconds, at: 12)
            try statement.bind(attempt.environment?.rawValue, at: 13)
            try statement.bind(attempt.priority, at: 14)
            try statement.bind(attempt.tokenHash.map { Int64($0.rawValue) }, at: 15)
            try statement.bind(attempt.uniqueID, at: 16)
            try statement.run()
        }
        file.fingerprint.add(file.hasher.hash(row))
    }

    /// Adds a disclosure; without its key, only that it happened.
    ///
    /// If the subject's key is gone, the columns of degrees, time, place and hash are NULL.
    func insert(_ disclosure: Disclosure, _ event: RecordedEvent) throws(SQLiteError) {
        let row = AuditedDisclosure(number: event.number, recordedAt: event.recordedAt, disclosure: disclosure)
        let content = disclosure.content.content
        try file.connection.cached(
            """
            INSERT INTO disclosure
                (number, query, subject, requester, recorded_at_ms, verdict, precision, fix_number, latitude_degrees,
                longitude_degrees, horizontal_accuracy_meters, timestamp_ms, place_name, answer_hash)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        ) { (statement) throws(SQLiteError) in
            try statement.bind(row.number, at: 1)
            try statement.bind(disclosure.query.bytes, at: 2)
            try statement.bind(disclosure.subject.rawValue, at: 3)
            try statement.bind(disclosure.requester.rawValue, at: 4)
            try statement.bind(row.recordedAt.milliseconds, at: 5)
            try statement.bind(disclosure.verdict.code, at: 6)
            try statement.bind(disclosure.precision.rawValue, at: 7)
            try statement.bind(disclosure.fix, at: 8)
            try statement.bind(content?.latitude, at: 9)
            try statement.bind(content?.longitude, at: 10)
            try statement.bind(content?.horizontalAccuracy, at: 11)
            try statement.bind(content?.timestamp.milliseconds, at: 12)
            try statement.bind(content?.placeName, at: 13)
            try statement.bind(content?.answerHash.bytes, at: 14)
            try statement.run()
        }
        file.fingerprint.add(file.hasher.hash(row))
    }

    /// Adds a read, allowed or refused.
    ///
    /// A refused read has no `answer_hash`. Without the subject's key, purpose, range and hash are NULL.
    func insert(_ read: LocationRead, _ event: RecordedEvent) throws(SQLiteError) {
        let row = AuditedRead(number: event.number, recordedAt: event.recordedAt, read: read)
        let content = read.content.content
        try file.connection.cached(
            """
            INSERT INTO reading
                (number, subject, reader, recorded_at_ms, question, verdict, precision, as_of, count, purpose, from_ms,
                to_ms, answer_hash)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        ) { (statement) throws(SQLiteError) in
            try statement.bind(row.number, at: 1)
            try statement.bind(read.subject?.rawValue, at: 2)
            try statement.bind(read.reader.rawValue, at: 3)
            try statement.bind(row.recordedAt.milliseconds, at: 4)
            try statement.bind(read.question.rawValue, at: 5)
            try statement.bind(read.verdict.code, at: 6)
            try statement.bind(read.precision.rawValue, at: 7)
            try statement.bind(read.asOf, at: 8)
            try statement.bind(read.count, at: 9)
            try statement.bind(content?.purpose, at: 10)
            try statement.bind(content?.from?.milliseconds, at: 11)
            try statement.bind(content?.to?.milliseconds, at: 12)
            try statement.bind(content?.answerHash?.bytes, at: 13)
            try statement.run()
        }
        file.fingerprint.add(file.hasher.hash(row))
    }

    /// Adds a change of a setting.
    ///
    /// One row for each event. `number` is the primary key, so a second insertion of the same event fails.
    func insert(_ row: SettingsChange) throws(SQLiteError) {
        try file.connection.cached(
            """
            INSERT INTO change
                (number, subject, actor, recorded_at_ms, kind, item, other, name, precision, includes_history, scopes,
                from_ms, until_ms, asks_each_time, hours, invitation)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        ) { (statement) throws(SQLiteError) in
            try statement.bind(row.number, at: 1)
            try statement.bind(row.subject?.rawValue, at: 2)
            try statement.bind(row.actor.rawValue, at: 3)
            try statement.bind(row.recordedAt.milliseconds, at: 4)
            try statement.bind(row.kind.rawValue, at: 5)
            try statement.bind(row.item, at: 6)
            try statement.bind(row.other?.rawValue, at: 7)
            try statement.bind(row.name, at: 8)
            try statement.bind(row.precision?.rawValue, at: 9)
            try statement.bind(row.includesHistory.map { $0 ? Int64(1) : 0 }, at: 10)
            try statement.bind(row.scopes?.rawValue, at: 11)
            try statement.bind(row.from?.milliseconds, at: 12)
            try statement.bind(row.until?.milliseconds, at: 13)
            try statement.bind(row.asksEachTime.map { $0 ? Int64(1) : 0 }, at: 14)
            try statement.bind(row.hours, at: 15)
            try statement.bind(row.invitation?.rawValue, at: 16)
            try statement.run()
        }
        file.fingerprint.add(file.hasher.hash(row))
    }

    /// The ordinal of the next act, from 1.
    ///
    /// Cost: one look at the end of `act_by_ordinal`. During a refold this index does not exist yet, and the search
    /// reads the table, which has few rows.
    func nextOrdinal() throws(SQLiteError) -> Int64 {
        try file.connection.cached("SELECT ifnull(max(ordinal), 0) + 1 FROM act") { (statement) throws(SQLiteError) in
            try statement.step() ? statement.int(at: 0) : 1
        }
    }

    /// Adds an act of the operator.
    ///
    /// `failed_at_ms` is NULL until ``noteFailure(of:_:)`` sets it.
    func insert(_ row: AuditedAct) throws(SQLiteError) {
        try file.connection.cached(
            """
            INSERT INTO act (number, ordinal, actor, recorded_at_ms, act, projection, version, epoch)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """
        ) { (statement) throws(SQLiteError) in
            try statement.bind(row.number, at: 1)
            try statement.bind(row.ordinal, at: 2)
            try statement.bind(row.actor.rawValue, at: 3)
            try statement.bind(row.recordedAt.milliseconds, at: 4)
            try statement.bind(row.act, at: 5)
            try statement.bind(row.projection, at: 6)
            try statement.bind(row.version, at: 7)
            try statement.bind(row.epoch, at: 8)
            try statement.run()
        }
        file.fingerprint.add(file.hasher.hash(row))
    }

    /// Notes that the act recorded under this number failed.
    ///
    /// The first failure counts. A number without an act is ignored.
    func noteFailure(of number: Int64, _ event: RecordedEvent) throws(SQLiteError) {
        guard let before = try storedAct(number), before.failedAt == nil else { return }
        try file.connection.cached("UPDATE act SET failed_at_ms = ? WHERE number = ?") {
            (statement) throws(SQLiteError) in
            try statement.bind(event.recordedAt.milliseconds, at: 1)
            try statement.bind(number, at: 2)
            try statement.run()
        }
        guard let after = try storedAct(number) else { throw .damagedProjection }
        file.fingerprint.subtract(file.hasher.hash(before))
        file.fingerprint.add(file.hasher.hash(after))
    }

    /// The act with the number; `nil` if there is none.
    private func storedAct(_ number: Int64) throws(SQLiteError) -> AuditedAct? {
        try file.connection.cached("SELECT * FROM act WHERE number = ?") { (statement) throws(SQLiteError) in
            try statement.bind(number, at: 1)
            return try statement.step() ? try AuditedAct(statement) : nil
        }
    }

    /// Adds a count of refusals.
    ///
    /// - Parameters:
    ///   - count: The refusals since the last such event, at least 1.
    ///   - since: When the first of them was refused.
    func insert(
        _ requester: PrincipalID, _ count: Int64, _ since: Timestamp, _ event: RecordedEvent
    ) throws(SQLiteError) {
        let row = CountedRefusals(
            number: event.number, requester: requester, recordedAt: event.recordedAt, count: count, since: since)
        try file.connection.cached(
            "INSERT INTO refusals (number, requester, recorded_at_ms, count, since_ms) VALUES (?, ?, ?, ?, ?)"
        ) { (statement) throws(SQLiteError) in
            try statement.bind(row.number, at: 1)
            try statement.bind(row.requester.rawValue, at: 2)
            try statement.bind(row.recordedAt.milliseconds, at: 3)
            try statement.bind(row.count, at: 4)
            try statement.bind(row.since.milliseconds, at: 5)
            try statement.run()
        }
        file.fingerprint.add(file.hasher.hash(row))
    }

    /// Counts a rejected report of a device by its reason.
    ///
    /// One search and one write by the primary key. `newestAt` is the later of the two times, so a clock that was set
    /// back does not make it go back. An event without a person makes no row.
    func count(_ device: DeviceID, _ reason: RejectionReason, _ event: RecordedEvent) throws(SQLiteError) {
        guard let subject = event.stream.person else { return }
        let before: RejectedReports? = try file.connection.cached(
            """
            SELECT subject, device, reason, count, newest_at_ms
            FROM rejected
            WHERE subject = ? AND device = ? AND reason = ?
            """
        ) { (statement) throws(SQLiteError) in
            try statement.bind(subject.rawValue, at: 1)
            try statement.bind(device.rawValue, at: 2)
            try statement.bind(reason.rawValue, at: 3)
            return try statement.step() ? try RejectedReports(statement) : nil
        }
        let row = RejectedReports(
            subject: subject, device: device, reason: reason, count: (before?.count ?? 0) + 1,
            newestAt: max(before?.newestAt ?? event.recordedAt, event.recordedAt))
        try file.connection.cached(
            "INSERT OR REPLACE INTO rejected (subject, device, reason, count, newest_at_ms) VALUES (?, ?, ?, ?, ?)"
        ) { (statement) throws(SQLiteError) in
            try statement.bind(subject.rawValue, at: 1)
            try statement.bind(device.rawValue, at: 2)
            try statement.bind(reason.rawValue, at: 3)
            try statement.bind(row.count, at: 4)
            try statement.bind(row.newestAt.milliseconds, at: 5)
            try statement.run()
        }
        if let before { file.fingerprint.subtract(file.hasher.hash(before)) }
        file.fingerprint.add(file.hasher.hash(row))
    }

    /// Keeps the place of a rejected report, and only the newest of the device's other ones.
    ///
    /// At most one old row is deleted, because each call adds one. ``count(_:_:_:)`` still counts the deleted ones.
    func keep(_ device: DeviceID, _ reason: RejectionReason, _ event: RecordedEvent) throws(SQLiteError) {
        guard let subject = event.stream.person else { return }
        let row = RejectedReport(
            number: event.number, subject: subject, device: device, reason: reason, recordedAt: event.recordedAt)
        try file.connection.cached(
            "INSERT INTO rejection (number, subject, device, reason, recorded_at_ms) VALUES (?, ?, ?, ?, ?)"
        ) { (statement) throws(SQLiteError) in
            try statement.bind(row.number, at: 1)
            try statement.bind(row.subject.rawValue, at: 2)
            try statement.bind(row.device.rawValue, at: 3)
            try statement.bind(row.reason.rawValue, at: 4)
            try statement.bind(row.recordedAt.milliseconds, at: 5)
            try statement.run()
        }
        file.fingerprint.add(file.hasher.hash(row))
        let old: RejectedReport? = try file.connection.cached(Self.rejectionTooManySQL) {
            (statement) throws(SQLiteError) in
            try statement.bind(device.rawValue, at: 1)
            try statement.bind(Int64(Limits.rejectionsShown), at: 2)
            return try statement.step() ? try RejectedReport(statement) : nil
        }
        guard let old else { return }
        try file.connection.cached("DELETE FROM rejection WHERE number = ?") { (statement) throws(SQLiteError) in
            try statement.bind(old.number, at: 1)
            try statement.run()
        }
        file.fingerprint.subtract(file.hasher.hash(old))
    }

    /// The device's newest rejection beyond the kept ones.
    ///
    /// By `rejection_by_device`, in the order of numbers. The offset is `Limits.rejectionsShown`.
    static let rejectionTooManySQL: StaticString =
        "SELECT * FROM rejection WHERE device = ? ORDER BY number DESC LIMIT 1 OFFSET ?"
}
