import Answers
import HTTPInterface
import HTTPServer
import JSON
import Log
import Projections
import Replies
import SQLite
import Tables
import Whereabouts

extension ReadEndpoints {
    /// The most rows in a page of the audit, and of `asked(_:_:_:)`.
    static let auditRowsPerPage: Int64 = 500

    /// A person's audit: location queries and their outcomes, reads, changes of rights, and acts of the operator that
    /// concern everyone. Newest first.
    ///
    /// `after` is the number of the last event of the page before, or, for an act of the operator, its negative
    /// ordinal; people see a reference for it. With `Accept: text/csv` the answer is CSV, and a `Link` header names the
    /// next page.
    package func audit(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        let limit = Int(try exchange.integer("limit", in: 1...Self.auditRowsPerPage, default: 100))
        let before = try row(exchange)
        let isCSV = exchange.request.header("accept")?.lowercased().hasPrefix("text/csv") == true
        var next: String?
        let answer = try views.read(exchange, context, .audit, from: AuditTable.name) {
            (reading) throws(Problem) in
            let (from, to) = (reading.from, reading.to)
            let (entries, asOf) = try context.read(AuditTable.name) { (connection) throws(SQLiteError) in
                try AuditEntry.page(
                    about: reading.permit.subject,
                    before: before.map { (cursor) throws(SQLiteError) in
                        // An act that does not exist counts as one before the first.
                        cursor >= 0 ? cursor : try AuditReader.numberOfAct(-max(cursor, -.max), in: connection) ?? 0
                    }, limit: limit, in: connection)
            }
            let shown = entries.filter { entry in
                (from.map { entry.recordedAt >= $0 } ?? true) && (to.map { entry.recordedAt < $0 } ?? true)
            }
            let names = PrincipalNames(decisions)
            next = entries.count == limit ? entries.last.map { reading.references.rowOrAct($0.cursor).text } : nil
            let page = PageWriter.page(shown, next: next, asOf: asOf, reading.references) { entry, writer in
                entry.write(into: &writer, decisions, names, context, reading.references)
            }
            return isCSV ? try Self.csv(page) : page
        }
        guard isCSV else { return answer }
        var headers = [(name: "Content-Type", value: "text/csv; charset=utf-8; header=present")]
        if let next { headers.append(("Link", "<?after=\(next)>; rel=\"next\"")) }
        return answer.with(headers: headers)
    }

    /// The number of the last row of the page before, from the parameter `after`; `nil` on the first page. It is
    /// negative for an act of the operator.
    ///
    /// - Throws: 422 if `after` was not given to this caller.
    package func row(_ exchange: Exchange) throws(Problem) -> Int64? {
        let references = decisions.references(for: exchange.caller)
        if references.isPlain { return try exchange.logNumber("after") }
        return try exchange.request.parameter("after").map { (text) throws(Problem) in
            guard let row = references.rowOrAct(text) else { throw Cursor.unreadable }
            return row
        }
    }

    /// The same page as CSV. The columns are those of ``AuditCSV/head``.
    private static func csv(_ page: Gate.Computed) throws(Problem) -> Gate.Computed {
        guard let items = (try? JSONDocument.parse(page.body))?.root["items"]?.array else { throw .broken }
        let lines = items.map { AuditCSV.lines(for: $0) }.joined()
        return Gate.Computed(body: Array((AuditCSV.head + lines).utf8), count: page.count, asOf: page.asOf)
    }
}

/// One entry of a person's audit: a query with its push attempts, pushes under way and disclosures; a read; a change of
/// settings; or an act of the operator.
private enum AuditEntry {
    /// A query about the person, with its push attempts, the pushes without an outcome, and its disclosures.
    case query(AuditedQuery, [AuditedAttempt], [AuditedStart], [AuditedDisclosure])
    /// A read of the person's data.
    case read(AuditedRead)
    /// A change of the person's settings or of a right to their data.
    case change(SettingsChange)
    /// An act of the operator that concerns everyone.
    case act(AuditedAct)

    /// The event's number in the log, by which entries of all kinds are ordered.
    var number: Int64 {
        switch self {
        case .query(let query, _, _, _): query.number
        case .read(let read): read.number
        case .change(let change): change.number
        case .act(let act): act.number
        }
    }

    /// The row after which the next page begins. An event of the person has its number; an act of the operator has only
    /// its ordinal, so that people do not learn the act's number.
    var cursor: Int64 { if case .act(let act) = self { -act.ordinal } else { number } }

    /// The time of the not of a device.
    var recordedAt: Timestamp {
        switch self {
        case .query(let query, _, _, _): query.recordedAt
        case .read(let read): read.recordedAt
        case .change(let change): change.recordedAt
        case .act(let act): act.recordedAt
        }
    }

    /// The newest `limit` entries of all kinds before a number.
    ///
    /// Reads at most `limit` rows of each kind, and for each query its attempts, pushes under way and disclosures.
    static func page(
        about subject: PersonID, before: Int64?, limit: Int, in connection: borrowing Connection
    ) throws(SQLiteError) -> [AuditEntry] {
        var entries: [AuditEntry] = []
        for query in try AuditReader.queries(about: subject, before: before, limit: limit, in: connection) {
            entries.append(
                .query(
                    query, try AuditReader.attempts(for: query.query, in: connection),
                    try AuditReader.pushesUnderWay(for: query.query, in: connection),
                    try AuditReader.disclosures(for: query.query, in: connection)))
        }
        entries += try AuditReader.reads(about: subject, before: before, limit: limit, in: connection).map { .read($0) }
        entries += try AuditReader.changes(about: subject, before: before, limit: limit, in: connection).map {
            .change($0)
        }
        entries += try AuditReader.acts(before: before, limit: limit, in: connection).map { .act($0) }
        return Array(entries.sorted { $0.number > $1.number }.prefix(limit))
    }

    /// Writes the entry as one object. Its `kind` is `query`, `read`, `change` or `act`. Absent members mean that the
    /// event has no such field, or that its sealed part is erased.
    ///
    /// Shapes, without the members that may be absent:
    ///
    ///     {"kind":"query","number":…,"id":UUID,"at":…,"requester":…,"verdict":…,"initiation":…,"deadline":…,
    ///      "pushes":[…],"disclosed":[…]}
    ///     {"kind":"read","number":…,"at":…,"reader":…,"question":…,"verdict":…,"precision":…,"asOf":…,"count":…}
    ///     {"kind":"change","number":…,"at":…,"actor":…,"event":…,"item":…}
    ///     {"kind":"act","at":…,"actor":…,"act":…}
    ///
    /// An act has no number, because people do not learn it.
    func write(
        into writer: inout JSONWriter, _ decisions: Decisions, _ names: PrincipalNames, _ context: AnswerContext,
        _ references: References
    ) {
        writer.beginObject()
        switch self {
        case .query(let query, let attempts, let starts, let disclosures):
            Self.write(query, attempts, starts, disclosures, into: &writer, names, context, references)
        case .read(let read):
            writer.field("kind", "read")
            writer.field("number", references.event(read.number))
            writer.field("at", milliseconds: read.recordedAt.milliseconds)
            Self.name("reader", read.read.reader, into: &writer, names)
            writer.field("question", read.read.question.word)
            writer.field("purpose", read.read.content.content?.purpose)
            EventJSON.write(read.read.verdict, references, into: &writer)
            writer.field("precision", read.read.precision.word)
            writer.field("from", milliseconds: read.read.content.content?.from?.milliseconds)
            writer.field("to", milliseconds: read.read.content.content?.to?.milliseconds)
            writer.field("asOf", references.place(read.read.asOf, toldWith: read.number))
            writer.field("count", read.read.count)
        case .change(let change):
            writer.field("kind", "change")
            writer.field("number", references.event(change.number))
            writer.field("at", milliseconds: change.recordedAt.milliseconds)
            Self.name("actor", change.actor, into: &writer, names)
            writer.field("event", change.kind.name)
            writer.field("item", references.name(change.item, References.Kind(ofItemOf: change.kind)))
            if change.kind == .grantGiven, change.other == nil {
                // A handle without a person looks like one with a person.
                writer.field("other", change.name)
            } else {
                writer.field("name", change.name)
            }
            if let other = change.other { Self.name("other", other, into: &writer, names) }
            writer.field("precision", change.precision?.word)
            writer.field("history", change.includesHistory)
            if let scopes = change.scopes ?? Self.scopesOfRevoked(change, decisions) {
                writer.array("scopes") { writer in for word in scopes.words { writer.value(word) } }
            }
            writer.field("from", milliseconds: change.from?.milliseconds)
            writer.field("until", milliseconds: change.until?.milliseconds)
            writer.field("asksEachTime", change.asksEachTime)
            writer.field("hours", change.hours)
            writer.field("invitation", change.invitation.map { references.name($0.rawValue, .invitation) })
        case .act(let act):
            writer.field("kind", "act")
            writer.field("at", milliseconds: act.recordedAt.milliseconds)
            Self.name("actor", act.actor, into: &writer, names)
            writer.field("act", act.act)
            writer.field("projection", act.projection)
            writer.field("version", act.version)
            writer.field("epoch", act.epoch)
            writer.field("failedAt", milliseconds: act.failedAt?.milliseconds)
        }
        writer.endObject()
    }

    /// The scopes of the token that a change has revoked: they tell the end of a session from that of a token.
    private static func scopesOfRevoked(_ change: SettingsChange, _ decisions: Decisions) -> Scopes? {
        guard change.kind == .tokenRevoked else { return nil }
        return decisions.log.withStanding { $0.tokens[TokenID(rawValue: change.item)]?.issued.scopes }
    }

    /// Writes the members of a query: the question, the subject's consent, `pushes` (attempts, then pushes under way,
    /// then a query without a device), the end, the fix, the latency and the disclosures.
    private static func write(
        _ query: AuditedQuery, _ attempts: [AuditedAttempt], _ starts: [AuditedStart],
        _ disclosures: [AuditedDisclosure], into writer: inout JSONWriter, _ names: PrincipalNames,
        _ context: AnswerContext, _ references: References
    ) {
        writer.field("kind", "query")
        writer.field("number", references.event(query.number))
        writer.field("id", query.query.description)
        writer.field("at", milliseconds: query.recordedAt.milliseconds)
        name("requester", query.requester, into: &writer, names)
        writer.field("purpose", query.purposeForSubject)
        EventJSON.write(query.verdict, references, into: &writer)
        writer.field("initiation", query.initiation.word)
        writer.field("deadline", milliseconds: query.deadline.milliseconds)
        writer.field("consent", query.consent?.word)
        writer.field("consentAt", milliseconds: query.consentAt?.milliseconds)
        writer.array("pushes") { writer in
            for attempt in attempts {
                writer.beginObject()
                writer.field("device", names.name(attempt.attempt.device))
                writer.field("attempt", attempt.attempt.attempt)
                writer.field("apnsID", attempt.attempt.apnsID.description)
                writer.field("at", milliseconds: attempt.recordedAt.milliseconds)
                writer.field("outcome", attempt.attempt.outcome.word)
                writer.field("status", attempt.attempt.status)
                writer.field("reason", attempt.attempt.reason)
                writer.field("startedAt", milliseconds: attempt.attempt.startedAt?.milliseconds)
                writer.field("endedAt", milliseconds: attempt.attempt.endedAt?.milliseconds)
                writer.field("durationMilliseconds", attempt.attempt.durationMilliseconds)
                writer.field("environment", attempt.attempt.environment?.word)
                writer.field("priority", attempt.attempt.priority)
                writer.field("tokenHash", attempt.attempt.tokenHash?.hex)
                writer.field("apnsUniqueID", attempt.attempt.uniqueID)
                writer.endObject()
            }
            for start in starts {
                writer.beginObject()
                writer.field("device", names.name(start.device))
                writer.field("attempt", (attempts.last { $0.attempt.device == start.device }?.attempt.attempt ?? 0) + 1)
                writer.field("apnsID", LocationPushAttempt.apnsID(query.query, start.device).description)
                writer.field("at", milliseconds: start.recordedAt.milliseconds)
                writer.field("outcome", "underWay")
                writer.endObject()
            }
            if let moment = query.noDeviceAt {
                writer.beginObject()
                writer.field("attempt", 0)
                writer.field("at", milliseconds: moment.milliseconds)
                writer.field("outcome", LocationPushAttempt.Outcome.withheld.word)
                writer.field("reason", PushWithheld.noDevice.word)
                writer.endObject()
            }
        }
        writer.field("end", query.end?.word)
        writer.field("endedAt", milliseconds: query.endedAt?.milliseconds)
        var received: Timestamp?
        if let number = query.fixNumber {
            let event = (try? context.reader.event(number))?.event
            received = event?.recordedAt
            writer.object("fix") { writer in
                writer.field("number", references.event(number))
                writer.field("receivedAt", milliseconds: received?.milliseconds)
                if case .fixReported(let device, _, .open(let fix))? = event?.event {
                    writer.field("timestamp", milliseconds: fix.timestamp.milliseconds)
                    writer.field("device", names.name(device))
                }
            }
        }
        writeLatency(
            of: query, accepted: attempts.first { $0.attempt.status == 200 }?.recordedAt, received: received,
            disclosed: disclosures.first?.recordedAt, into: &writer)
        writer.array("disclosed") { writer in
            for disclosure in disclosures {
                writer.beginObject()
                writer.field("at", milliseconds: disclosure.recordedAt.milliseconds)
                writer.field("number", references.event(disclosure.number))
                writer.field("precision", disclosure.disclosure.precision.word)
                if let content = disclosure.disclosure.content.content {
                    writer.field("latitude", content.latitude)
                    writer.field("longitude", content.longitude)
                    writer.field("horizontalAccuracy", content.horizontalAccuracy)
                    writer.field("timestamp", milliseconds: content.timestamp.milliseconds)
                    writer.field("place", content.placeName)
                }
                writer.endObject()
            }
        }
    }

    /// Writes how long each step took, in milliseconds: from the question to the push that APNs accepted, from there to
    /// the fix, and from there to the first showing. A step that did not happen is left out, for example the push if
    /// the fix was already there.
    private static func writeLatency(
        of query: AuditedQuery, accepted: Timestamp?, received: Timestamp?, disclosed: Timestamp?,
        into writer: inout JSONWriter
    ) {
        guard accepted != nil || received != nil || disclosed != nil else { return }
        writer.object("latency") { writer in
            var last = query.recordedAt
            for (name, moment) in [("pushAccepted", accepted), ("fixReceived", received), ("disclosed", disclosed)] {
                guard let moment, moment >= last else { continue }
                writer.field(name, moment.milliseconds - last.milliseconds)
                last = moment
            }
        }
    }

    /// Writes a handle, or null for an erased person.
    private static func name(
        _ key: String, _ principal: PrincipalID, into writer: inout JSONWriter, _ names: PrincipalNames
    ) {
        writer.key(key)
        if let name = names.name(principal) { writer.value(name) } else { writer.null() }
    }
}

extension References.Kind {
    /// The kind of the item that a change of settings added or ended. Its reference is then the same as in the list of
    /// that kind.
    fileprivate init(ofItemOf kind: EventKind) {
        switch kind {
        case .tokenIssued, .tokenRevoked: self = .token
        case .grantGiven, .grantRevoked: self = .grant
        case .invitationMade, .invitationWithdrawn: self = .invitation
        case .accountInvitationMade, .accountInvitationClosed: self = .accountInvitation
        case .scheduleSet, .scheduleRemoved: self = .schedule
        case .linkAdded, .linkOpened, .linkEnded: self = .link
        case .webhookAdded, .webhookRemoved, .webhookFailed, .webhookSettled: self = .webhook
        case .correctionMade, .correctionWithdrawn: self = .correction
        case .fixesWithdrawn, .fixesRestored: self = .event
        // No list names their items by a reference of its own.
        case .personAdded, .deviceAdded, .deviceRemoved, .regionAdded, .regionRemoved, .fixReported, .inputRejected,
            .locationPushTokenRegistered, .locationPushTokenRetired, .locationQueried, .locationPushAttempted,
            .locationQueryEnded, .locationDisclosed, .locationRead, .refusalsCounted, .personErased, .clockSteppedBack,
            .logRestored, .authorizationReported, .locationPushStarted, .sharingPaused, .sharingResumed,
            .invitationRefused, .locationPushTested, .sealedFixReported, .consentAsked, .consentGiven, .consentRefused,
            .headingReported, .beaconSighted, .visitReported, .crossingReported, .retentionApplied, .messageReported,
            .locationReportCommanded, .operatorActed, .lossAccepted, .locationPushWithheld:
            self = .thing
        }
    }
}
