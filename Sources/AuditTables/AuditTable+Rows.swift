import Cryptography
import Projections
import SQLite
import Whereabouts

// Each kind of row: the columns it is read from, in the order its initializer expects them, and the hash of its
// content.

/// The hash has all columns except for the three numbers, which ``AuditRow/numbers`` adds.
extension AuditedQuery: AuditRow {
    static let table: StaticString = "query"

    var numbers: [Int64?] { [number, endedNumber, fixNumber] }

    init(_ statement: borrowing Statement) throws(SQLiteError) {
        guard let query = statement.withBytes(at: 1, { QueryID(bytes: $0) }),
            let verdict = Verdict(code: statement.int(at: 5)),
            let initiation = LocationQuery.Initiation(rawValue: statement.int(at: 6))
        else { throw .damagedProjection }
        self.init(
            number: statement.int(at: 0), query: query,
            subject: statement.optionalInt(at: 2).map(PersonID.init(rawValue:)),
            requester: PrincipalID(rawValue: statement.int(at: 3)),
            recordedAt: Timestamp(milliseconds: statement.int(at: 4)), verdict: verdict, initiation: initiation,
            deadline: Timestamp(milliseconds: statement.int(at: 7)), maxAgeSeconds: statement.int(at: 8),
            purposeForSubject: statement.optionalText(at: 9), purposeForRequester: statement.optionalText(at: 10),
            end: statement.optionalInt(at: 11).flatMap(QueryEnd.init(rawValue:)),
            endedAt: statement.optionalInt(at: 12).map(Timestamp.init(milliseconds:)),
            endedNumber: statement.optionalInt(at: 13), fixNumber: statement.optionalInt(at: 14),
            consent: statement.optionalInt(at: 15).flatMap(ConsentStep.init(rawValue:)),
            consentAt: statement.optionalInt(at: 16).map(Timestamp.init(milliseconds:)),
            noDeviceAt: statement.optionalInt(at: 17).map(Timestamp.init(milliseconds:)))
    }

    var person: PersonID? { subject }
    var key: String { "query \(query)" }
    var summary: String { "requester \(requester.rawValue), verdict \(verdict.code), \(end?.word ?? "open")" }
    var columns: [ProjectionRow.Column] {
        [
            .init("requester", requester.rawValue), .init("verdict", verdict.code), .init("end", end?.word ?? "open"),
            .init("deadline", deadline), .init("ended", endedAt),
        ]
    }

    func write(to writer: inout CBORWriter) {
        writer.array(16)
        writer.text("query")
        writer.byteString(query.bytes)
        writer.optional(subject?.rawValue)
        writer.integer(requester.rawValue)
        writer.integer(recordedAt.milliseconds)
        writer.integer(verdict.code)
        writer.integer(initiation.rawValue)
        writer.integer(deadline.milliseconds)
        writer.integer(maxAgeSeconds)
        writer.optional(purposeForSubject)
        writer.optional(purposeForRequester)
        writer.optional(end?.rawValue)
        writer.optional(endedAt?.milliseconds)
        writer.optional(consent?.rawValue)
        writer.optional(consentAt?.milliseconds)
        writer.optional(noDeviceAt?.milliseconds)
    }
}

/// Attempts of old events have NULL in the columns from `started_at_ms` on, which later versions added.
extension AuditedAttempt: AuditRow {
    static let table: StaticString = "attempt"

    var numbers: [Int64?] { [number] }

    init(_ statement: borrowing Statement) throws(SQLiteError) {
        guard let query = statement.withBytes(at: 1, { QueryID(bytes: $0) }),
            let apnsID = statement.withBytes(at: 6, { Identifier128(bytes: $0) }),
            let outcome = LocationPushAttempt.Outcome(rawValue: statement.int(at: 10))
        else { throw .damagedProjection }
        self.init(
            number: statement.int(at: 0), subject: statement.optionalInt(at: 2).map(PersonID.init(rawValue:)),
            recordedAt: Timestamp(milliseconds: statement.int(at: 4)),
            attempt: LocationPushAttempt(
                query: query, device: DeviceID(rawValue: statement.int(at: 3)), attempt: statement.int(at: 5),
                apnsID: apnsID, status: statement.optionalInt(at: 7), reason: statement.optionalText(at: 8),
                durationMilliseconds: statement.int(at: 9), outcome: outcome,
                startedAt: statement.optionalInt(at: 11).map(Timestamp.init(milliseconds:)),
                environment: statement.optionalInt(at: 12).flatMap(PushEnvironment.init(rawValue:)),
                priority: statement.optionalInt(at: 13),
                tokenHash: statement.optionalInt(at: 14).flatMap { UInt32(exactly: $0) }
                    .map(PushTokenHash.init(rawValue:)),
                uniqueID: statement.optionalText(at: 15)))
    }

    var person: PersonID? { subject }
    var key: String { "attempt \(number)" }
    var summary: String { "query \(attempt.query), \(attempt.outcome.word)" }
    var columns: [ProjectionRow.Column] {
        [.init("query", attempt.query), .init("outcome", attempt.outcome.word)]
    }

    func write(to writer: inout CBORWriter) {
        writer.array(16)
        writer.text("attempt")
        writer.byteString(attempt.query.bytes)
        writer.optional(subject?.rawValue)
        writer.integer(attempt.device.rawValue)
        writer.integer(recordedAt.milliseconds)
        writer.integer(attempt.attempt)
        writer.byteString(attempt.apnsID.bytes)
        writer.optional(attempt.status)
        writer.optional(attempt.reason)
        writer.integer(attempt.durationMilliseconds)
        writer.integer(attempt.outcome.rawValue)
        writer.optional(attempt.startedAt?.milliseconds)
        writer.optional(attempt.environment?.rawValue)
        writer.optional(attempt.priority)
        writer.optional(attempt.tokenHash.map { Int64($0.rawValue) })
        writer.optional(attempt.uniqueID)
    }
}

/// A row has no content beyond its key, query, device and time.
extension AuditedStart: AuditRow {
    static let table: StaticString = "under_way"

    var numbers: [Int64?] { [number] }

    init(_ statement: borrowing Statement) throws(SQLiteError) {
        guard let query = statement.withBytes(at: 1, { QueryID(bytes: $0) }) else { throw .damagedProjection }
        self.init(
            number: statement.int(at: 0), subject: PersonID(rawValue: statement.int(at: 2)),
            recordedAt: Timestamp(milliseconds: statement.int(at: 4)), query: query,
            device: DeviceID(rawValue: statement.int(at: 3)))
    }

    var person: PersonID? { subject }
    var key: String { "under way \(number)" }
    var summary: String { "query \(query)" }
    var columns: [ProjectionRow.Column] { [.init("query", query)] }

    func write(to writer: inout CBORWriter) {
        writer.array(5)
        writer.text("under_way")
        writer.byteString(query.bytes)
        writer.integer(subject.rawValue)
        writer.integer(device.rawValue)
        writer.integer(recordedAt.milliseconds)
    }
}

/// `answer_hash` decides whether the content is there: an erased disclosure has NULL in all columns of the content.
extension AuditedDisclosure: AuditRow {
    static let table: StaticString = "disclosure"

    var numbers: [Int64?] { [number, disclosure.fix] }

    init(_ statement: borrowing Statement) throws(SQLiteError) {
        guard let query = statement.withBytes(at: 1, { QueryID(bytes: $0) }),
            let verdict = Verdict(code: statement.int(at: 5)),
            let precision = Precision(rawValue: statement.int(at: 6))
        else { throw .damagedProjection }
        var content: Part<Disclosure.Content> = .erased
        if let hash = statement.optionalBytes(at: 13) {
            guard let answerHash = Hash256(bytes: hash) else { throw .damagedProjection }
            content = .open(
                Disclosure.Content(
                    latitude: statement.optionalDouble(at: 8), longitude: statement.optionalDouble(at: 9),
                    horizontalAccuracy: statement.optionalDouble(at: 10),
                    timestamp: Timestamp(milliseconds: statement.int(at: 11)),
                    placeName: statement.optionalText(at: 12),
                    answerHash: answerHash))
        }
        self.init(
            number: statement.int(at: 0), recordedAt: Timestamp(milliseconds: statement.int(at: 4)),
            disclosure: Disclosure(
                query: query, subject: PersonID(rawValue: statement.int(at: 2)),
                requester: PrincipalID(rawValue: statement.int(at: 3)), verdict: verdict, precision: precision,
                fix: statement.int(at: 7), content: content))
    }

    var person: PersonID? { disclosure.subject }
    var key: String { "disclosure \(number)" }
    var summary: String { "query \(disclosure.query), requester \(disclosure.requester.rawValue)" }
    var columns: [ProjectionRow.Column] {
        [.init("query", disclosure.query), .init("requester", disclosure.requester.rawValue)]
    }

    func write(to writer: inout CBORWriter) {
        writer.array(13)
        writer.text("disclosure")
        writer.byteString(disclosure.query.bytes)
        writer.integer(disclosure.subject.rawValue)
        writer.integer(disclosure.requester.rawValue)
        writer.integer(recordedAt.milliseconds)
        writer.integer(disclosure.verdict.code)
        writer.integer(disclosure.precision.rawValue)
        let content = disclosure.content.content
        writer.optional(content?.latitude)
        writer.optional(content?.longitude)
        writer.optional(content?.horizontalAccuracy)
        writer.optional(content?.timestamp.milliseconds)
        writer.optional(content?.placeName)
        writer.optional(content?.answerHash.bytes)
    }
}

/// An erased content reads as one whose members are all `nil`: the table does not distinguish them, since the audit
/// shows both the same way.
extension AuditedRead: AuditRow {
    static let table: StaticString = "reading"

    var numbers: [Int64?] { [number, read.asOf] }

    init(_ statement: borrowing Statement) throws(SQLiteError) {
        guard let question = LocationRead.Question(rawValue: statement.int(at: 4)),
            let verdict = Verdict(code: statement.int(at: 5)), let precision = Precision(rawValue: statement.int(at: 6))
        else { throw .damagedProjection }
        var answerHash: Hash256?
        if let bytes = statement.optionalBytes(at: 12) {
            guard let hash = Hash256(bytes: bytes) else { throw .damagedProjection }
            answerHash = hash
        }
        let content = LocationRead.Content(
            purpose: statement.optionalText(at: 9),
            from: statement.optionalInt(at: 10).map(Timestamp.init(milliseconds:)),
            to: statement.optionalInt(at: 11).map(Timestamp.init(milliseconds:)), answerHash: answerHash)
        self.init(
            number: statement.int(at: 0), recordedAt: Timestamp(milliseconds: statement.int(at: 3)),
            read: LocationRead(
                subject: statement.optionalInt(at: 1).map(PersonID.init(rawValue:)),
                reader: PrincipalID(rawValue: statement.int(at: 2)), question: question, verdict: verdict,
                precision: precision, asOf: statement.int(at: 7), count: statement.int(at: 8), content: .open(content)))
    }

    var person: PersonID? { read.subject }
    var key: String { "reading \(number)" }
    var summary: String { "\(read.question.word) by \(read.reader.rawValue), \(read.count) rows" }
    var columns: [ProjectionRow.Column] {
        [.init("question", read.question.word), .init("reader", read.reader.rawValue), .init("count", read.count)]
    }

    func write(to writer: inout CBORWriter) {
        writer.array(12)
        writer.text("reading")
        writer.optional(read.subject?.rawValue)
        writer.integer(read.reader.rawValue)
        writer.integer(recordedAt.milliseconds)
        writer.integer(read.question.rawValue)
        writer.integer(read.verdict.code)
        writer.integer(read.precision.rawValue)
        writer.integer(read.count)
        let content = read.content.content
        writer.optional(content?.purpose)
        writer.optional(content?.from?.milliseconds)
        writer.optional(content?.to?.milliseconds)
        writer.optional(content?.answerHash?.bytes)
    }
}

/// Unknown precisions read as `nil`; an unknown kind of event is damage, because the fold writes only kinds that it
/// knows.
extension SettingsChange: AuditRow {
    static let table: StaticString = "change"

    var numbers: [Int64?] { [number] }

    init(_ statement: borrowing Statement) throws(SQLiteError) {
        guard let kind = EventKind(rawValue: statement.int(at: 4)) else { throw .damagedProjection }
        self.init(
            number: statement.int(at: 0), subject: statement.optionalInt(at: 1).map(PersonID.init(rawValue:)),
            actor: PrincipalID(rawValue: statement.int(at: 2)),
            recordedAt: Timestamp(milliseconds: statement.int(at: 3)),
            kind: kind, item: statement.int(at: 5),
            other: statement.optionalInt(at: 6).map(PrincipalID.init(rawValue:)),
            name: statement.optionalText(at: 7),
            precision: statement.optionalInt(at: 8).flatMap(Precision.init(rawValue:)),
            includesHistory: try statement.optionalBool(at: 9),
            scopes: statement.optionalInt(at: 10).map(Scopes.init(rawValue:)),
            from: statement.optionalInt(at: 11).map(Timestamp.init(milliseconds:)),
            until: statement.optionalInt(at: 12).map(Timestamp.init(milliseconds:)),
            asksEachTime: try statement.optionalBool(at: 13), hours: statement.optionalText(at: 14),
            invitation: statement.optionalInt(at: 15).map(InvitationID.init(rawValue:)))
    }

    var person: PersonID? { subject }
    var key: String { "change \(number)" }
    var summary: String { "\(kind.name) \(item) by \(actor.rawValue)" }
    var columns: [ProjectionRow.Column] {
        [.init("kind", kind.name), .init("item", item), .init("actor", actor.rawValue)]
    }

    func write(to writer: inout CBORWriter) {
        writer.array(16)
        writer.text("change")
        writer.optional(subject?.rawValue)
        writer.integer(actor.rawValue)
        writer.integer(recordedAt.milliseconds)
        writer.integer(kind.rawValue)
        writer.integer(item)
        writer.optional(other?.rawValue)
        writer.optional(name)
        writer.optional(precision?.rawValue)
        writer.optional(includesHistory.map { $0 ? Int64(1) : 0 })
        writer.optional(scopes?.rawValue)
        writer.optional(from?.milliseconds)
        writer.optional(until?.milliseconds)
        writer.optional(asksEachTime.map { $0 ? Int64(1) : 0 })
        writer.optional(hours)
        writer.optional(invitation?.rawValue)
    }
}

/// Its ordinal is among the numbers, so a gap in the ordinals changes the fingerprint.
extension AuditedAct: AuditRow {
    static let table: StaticString = "act"

    /// The row of an act that has not failed.
    init(
        _ event: RecordedEvent, act: String, projection: String? = nil, version: Int64? = nil, epoch: Int64? = nil,
        ordinal: Int64
    ) {
        self.init(
            number: event.number, ordinal: ordinal, actor: event.actor, recordedAt: event.recordedAt, act: act,
            projection: projection, version: version, epoch: epoch, failedAt: nil)
    }

    init(_ statement: borrowing Statement) throws(SQLiteError) {
        self.init(
            number: statement.int(at: 0), ordinal: statement.int(at: 1),
            actor: PrincipalID(rawValue: statement.int(at: 2)),
            recordedAt: Timestamp(milliseconds: statement.int(at: 3)), act: statement.text(at: 4),
            projection: statement.optionalText(at: 5), version: statement.optionalInt(at: 6),
            epoch: statement.optionalInt(at: 7),
            failedAt: statement.optionalInt(at: 8).map(Timestamp.init(milliseconds:)))
    }

    var person: PersonID? { nil }
    var key: String { "act \(number)" }
    var numbers: [Int64?] { [number, ordinal] }
    var summary: String { "\(act) by \(actor.rawValue)" }
    var columns: [ProjectionRow.Column] { [.init("act", act), .init("actor", actor.rawValue)] }

    func write(to writer: inout CBORWriter) {
        writer.array(8)
        writer.text("act")
        writer.integer(actor.rawValue)
        writer.integer(recordedAt.milliseconds)
        writer.text(act)
        writer.optional(projection)
        writer.optional(version)
        writer.optional(epoch)
        writer.optional(failedAt?.milliseconds)
    }
}

/// A row about a requester and no person; erasing the requester leaves it.
extension CountedRefusals: AuditRow {
    static let table: StaticString = "refusals"

    var numbers: [Int64?] { [number] }

    init(_ statement: borrowing Statement) throws(SQLiteError) {
        self.init(
            number: statement.int(at: 0), requester: PrincipalID(rawValue: statement.int(at: 1)),
            recordedAt: Timestamp(milliseconds: statement.int(at: 2)), count: statement.int(at: 3),
            since: Timestamp(milliseconds: statement.int(at: 4)))
    }

    var person: PersonID? { nil }
    var key: String { "refusals \(number)" }
    var summary: String { "\(count) of requester \(requester.rawValue)" }
    var columns: [ProjectionRow.Column] {
        [.init("requester", requester.rawValue), .init("count", count)]
    }

    func write(to writer: inout CBORWriter) {
        writer.array(5)
        writer.text("refusals")
        writer.integer(requester.rawValue)
        writer.integer(recordedAt.milliseconds)
        writer.integer(count)
        writer.integer(since.milliseconds)
    }
}

/// Its hash has no content of the report, which only the log has.
extension RejectedReport: AuditRow {
    static let table: StaticString = "rejection"

    var numbers: [Int64?] { [number] }

    init(_ statement: borrowing Statement) throws(SQLiteError) {
        guard let reason = RejectionReason(rawValue: statement.int(at: 3)) else { throw .damagedProjection }
        self.init(
            number: statement.int(at: 0), subject: PersonID(rawValue: statement.int(at: 1)),
            device: DeviceID(rawValue: statement.int(at: 2)), reason: reason,
            recordedAt: Timestamp(milliseconds: statement.int(at: 4)))
    }

    var person: PersonID? { subject }
    var key: String { "rejection \(number)" }
    var summary: String { "device \(device.rawValue) \(reason.word)" }
    var columns: [ProjectionRow.Column] {
        [.init("device", device.rawValue), .init("reason", reason.word)]
    }

    func write(to writer: inout CBORWriter) {
        writer.array(5)
        writer.text("rejection")
        writer.integer(subject.rawValue)
        writer.integer(device.rawValue)
        writer.integer(reason.rawValue)
        writer.integer(recordedAt.milliseconds)
    }
}

/// A row without event numbers: subject, device and reason are its key.
extension RejectedReports: AuditRow {
    static let table: StaticString = "rejected"

    var numbers: [Int64?] { [] }

    init(_ statement: borrowing Statement) throws(SQLiteError) {
        guard let reason = RejectionReason(rawValue: statement.int(at: 2)) else { throw .damagedProjection }
        self.init(
            subject: PersonID(rawValue: statement.int(at: 0)), device: DeviceID(rawValue: statement.int(at: 1)),
            reason: reason, count: statement.int(at: 3), newestAt: Timestamp(milliseconds: statement.int(at: 4)))
    }

    var person: PersonID? { subject }
    var key: String { "person \(subject.rawValue) device \(device.rawValue) \(reason.word)" }
    var summary: String { "\(count) reports" }
    var columns: [ProjectionRow.Column] { [.init("count", count), .init("newest", newestAt)] }

    func write(to writer: inout CBORWriter) {
        writer.array(6)
        writer.text("rejected")
        writer.integer(subject.rawValue)
        writer.integer(device.rawValue)
        writer.integer(reason.rawValue)
        writer.integer(count)
        writer.integer(newestAt.milliseconds)
    }
}
