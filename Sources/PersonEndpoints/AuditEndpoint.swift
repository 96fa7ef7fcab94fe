import Answers
import AuditTables
import HTTPInterface
import HTTPServer
import Log
import Projections
import Replies
import SQLite
import Tables
import Whereabouts
import WireFormats

extension ReadEndpoints {
    /// The most rows in a page of the audit, and of `asked(_:_:_:)`.
    ///
    /// A row of a query may have many pushes, so pages are shorter than those of visits.
    static let auditRowsPerPage: Int64 = 500
    /// The value of the parameter `by`.
    static let byOthers = "others"
    /// The longest time, in seconds, by which a clock can be set back without hiding entries.
    private static let clockSeconds: Int64 = 86_400

    /// A person's audit: location queries and their outcomes, reads, changes of rights, and acts of the operator that
    /// concern everyone. Newest first.
    ///
    /// `after` is the number of the last event of the page before, or, for an act of the operator, its negative
    /// ordinal; people see a reference for it. With `Accept: text/csv` the answer is CSV, and a `Link` header names the
    /// next page.
    ///
    /// May call: the person with the scope `audit`, and the operator. The read itself is recorded, and is in the next
    /// answer.
    ///
    /// `from` and `to` filter the rows of a page, so a page may have fewer rows than `limit`, and still a `next`. With
    /// `by=others` the person's own reads are left out and a page is filled with other entries. For example, a program
    /// that shows the audit each minute does not have to pass over its own reads. The other entries are the same.
    ///
    /// - Throws: 400 for another value of `by`, 404 for another caller, 422 for a cursor that this caller was not given.
    package func audit(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        let limit = Int(try exchange.integer("limit", in: 1...Self.auditRowsPerPage, default: 100))
        let before = try row(exchange)
        let by = exchange.request.parameter("by")
        guard by == nil || by == Self.byOthers else {
            throw .invalid("\"by\" must be \"\(Self.byOthers)\", which leaves out the person's own reads.")
        }
        let isCSV = exchange.request.header("accept")?.lowercased().hasPrefix("text/csv") == true
        var next: String?
        let answer = try views.read(exchange, context, .audit, from: AuditTable.name) {
            (reading) throws(Problem) in
            let (from, to) = (reading.from, reading.to)
            let (entries, asOf) = try context.read(AuditTable.name) { (connection) throws(SQLiteError) in
                try AuditEntry.page(
                    about: reading.permit.subject, byOthers: by != nil,
                    before: before.map { (cursor) throws(SQLiteError) in
                        // An act that does not exist counts as one before the first.
                        cursor >= 0 ? cursor : try AuditReader.numberOfAct(-max(cursor, -.max), in: connection) ?? 0
                    }, limit: limit, in: connection)
            }
            let shown = entries.filter { entry in
                (from.map { entry.recordedAt >= $0 } ?? true) && (to.map { entry.recordedAt < $0 } ?? true)
            }
            let names = PrincipalNames(decisions)
            // Entries are in the order of their numbers. A clock that was set back leaves later times at smaller numbers,
            // so the list goes on for a day before the time asked for.
            let isOver = entries.last.map { last in
                from.map { last.recordedAt < $0.adding(seconds: -Self.clockSeconds) } ?? false
            }
            next =
                entries.count == limit && isOver != true
                ? entries.last.map { reading.references.rowOrAct($0.cursor).text } : nil
            let coverage = try logs.coverage(of: reading.permit.subject, context)
            let items = shown.map { entry in
                entry.item(decisions, names, context, reading.references)
                    .proven(entry.newestNumber.map { coverage.state(of: $0, contents: entry.missingContents) })
            }
            if isCSV {
                let lines = items.map { AuditCSV.lines(for: $0) }.joined()
                return Gate.Computed(
                    body: Array((AuditCSV.head + lines).utf8), count: Int64(items.count), asOf: asOf)
            }
            return PageWriter.page(items, next: next, asOf: asOf, reading.references) { $0 }
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
    ///
    /// The operator sees the numbers of the log; other callers see references.
    package func row(_ exchange: Exchange) throws(Problem) -> Int64? {
        let references = decisions.references(for: exchange.caller)
        if references.isPlain { return try exchange.logNumber("after") }
        return try exchange.request.parameter("after").map { (text) throws(Problem) in
            guard let row = references.rowOrAct(text) else { throw Cursor.unreadable }
            return row
        }
    }
}

/// One entry of a person's audit: a query with its push attempts, pushes under way and disclosures; a read; a change of
/// settings; or an act of the operator.
///
/// A push that was started and has no outcome has the outcome `underWay`.
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

    /// The number of the last event that the entry shows and that is in the person's own log; `nil` for an act of the
    /// operator, which has no entry there.
    var newestNumber: Int64? {
        switch self {
        case .query(let query, let attempts, let starts, let disclosures):
            ([query.number, query.endedNumber ?? 0] + attempts.map(\.number) + starts.map(\.number)
                + disclosures.map(\.number)).max()
        case .read, .change: number
        case .act: nil
        }
    }

    /// Why the contents of the entry cannot be read; `nil` if they can, or if a change has none.
    var missingContents: String? {
        switch self {
        case .query(let query, _, _, let disclosures):
            disclosures.lazy.compactMap { $0.disclosure.content.missing }.first
                ?? (query.purposeForSubject == nil ? "erased" : nil)
        case .read(let read): read.read.content.missing
        case .change, .act: nil
        }
    }

    /// The row after which the next page begins. An event of the person has its number; an act of the operator has only
    /// its ordinal, so that people do not learn the act's number.
    var cursor: Int64 { if case .act(let act) = self { -act.ordinal } else { number } }

    /// The time of recording, by the service's clock.
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
    ///
    /// - Parameter byOthers: Whether the subject's own reads are left out.
    static func page(
        about subject: PersonID, byOthers: Bool, before: Int64?, limit: Int, in connection: borrowing Connection
    ) throws(SQLiteError) -> [AuditEntry] {
        var entries: [AuditEntry] = []
        for query in try AuditReader.queries(about: subject, before: before, limit: limit, in: connection) {
            entries.append(
                .query(
                    query, try AuditReader.attempts(for: query.query, in: connection),
                    try AuditReader.pushesUnderWay(for: query.query, in: connection),
                    try AuditReader.disclosures(for: query.query, in: connection)))
        }
        entries += try AuditReader.reads(
            about: subject, byOthers: byOthers, before: before, limit: limit, in: connection
        ).map { .read($0) }
        entries += try AuditReader.changes(about: subject, before: before, limit: limit, in: connection).map {
            .change($0)
        }
        entries += try AuditReader.acts(before: before, limit: limit, in: connection).map { .act($0) }
        return Array(entries.sorted { $0.number > $1.number }.prefix(limit))
    }

    /// The entry as the reader sees it. Absent members mean that the event has no such field, or that its sealed part is
    /// erased.
    ///
    /// - Parameters:
    ///   - names: The handles of requesters and devices; an erased person has none.
    ///   - references: How the reader sees event numbers.
    func item(
        _ decisions: Decisions, _ names: PrincipalNames, _ context: AnswerContext, _ references: References
    ) -> AuditItem {
        switch self {
        case .query(let query, let attempts, let starts, let disclosures):
            return .query(Self.item(query, attempts, starts, disclosures, names, context, references))
        case .read(let read):
            let content = read.read.content.content
            return .read(
                AuditReadItem(
                    kind: "read", number: references.event(read.number), at: Moment(read.recordedAt),
                    reader: names.name(read.read.reader), question: read.read.question.word, purpose: content?.purpose,
                    verdict: VerdictItem(read.read.verdict, references), precision: read.read.precision.word,
                    from: content?.from.map { Moment($0) }, to: content?.to.map { Moment($0) },
                    asOf: references.place(read.read.asOf, toldWith: read.number), count: read.read.count))
        case .change(let change):
            var item = AuditChangeItem(
                kind: "change", number: references.event(change.number), at: Moment(change.recordedAt),
                actor: names.name(change.actor), event: change.kind.name,
                item: references.name(change.item, change.kind.fact?.item ?? .thing))
            if change.kind == .grantGiven, change.other == nil {
                // A handle without a person looks like one with a person.
                item.other = change.name.map(PersonName.handle)
            } else {
                item.name = change.name
            }
            if let other = change.other { item.other = PersonName(names.name(other)) }
            item.precision = change.precision?.word
            item.history = change.includesHistory
            item.scopes = (change.scopes ?? Self.scopesOfRevoked(change, decisions))?.words
            item.from = change.from.map { Moment($0) }
            item.until = change.until.map { Moment($0) }
            item.asksEachTime = change.asksEachTime
            item.hours = change.hours
            item.invitation = change.invitation.map { references.name($0.rawValue, .invitation) }
            return .change(item)
        case .act(let act):
            return .act(
                AuditActItem(
                    kind: "act", at: Moment(act.recordedAt), actor: names.name(act.actor), act: act.act,
                    projection: act.projection, version: act.version, epoch: act.epoch,
                    failedAt: act.failedAt.map { Moment($0) }))
        }
    }

    /// The scopes of the token that a change has revoked: they tell the end of a session from that of a token.
    ///
    /// `nil` for other changes, and for a token that the standing has forgotten.
    private static func scopesOfRevoked(_ change: SettingsChange, _ decisions: Decisions) -> Scopes? {
        guard change.kind == .tokenRevoked else { return nil }
        return decisions.log.withStanding { $0.tokens[TokenID(rawValue: change.item)]?.issued.scopes }
    }

    /// A query: the question, the subject's consent, `pushes` (attempts, then pushes under way, then a query without a
    /// device), the end, the fix, the latency and the disclosures.
    private static func item(
        _ query: AuditedQuery, _ attempts: [AuditedAttempt], _ starts: [AuditedStart],
        _ disclosures: [AuditedDisclosure], _ names: PrincipalNames, _ context: AnswerContext,
        _ references: References
    ) -> AuditQueryItem {
        var pushes = attempts.map { AuditPushItem($0, names) }
        for start in starts {
            let last = attempts.last { $0.attempt.device == start.device }?.attempt.attempt ?? 0
            pushes.append(
                AuditPushItem(
                    device: names.name(start.device), attempt: last + 1,
                    apnsID: LocationPushAttempt.apnsID(query.query, start.device).description,
                    at: Moment(start.recordedAt), outcome: "underWay"))
        }
        if let moment = query.noDeviceAt {
            pushes.append(
                AuditPushItem(
                    attempt: 0, at: Moment(moment), outcome: LocationPushAttempt.Outcome.withheld.word,
                    reason: PushWithheld.noDevice.word))
        }
        var item = AuditQueryItem(
            kind: "query", number: references.event(query.number), id: query.query.description,
            at: Moment(query.recordedAt), requester: names.name(query.requester), purpose: query.purposeForSubject,
            verdict: VerdictItem(query.verdict, references), initiation: query.initiation.word,
            deadline: Moment(query.deadline), consent: query.consent?.word,
            consentAt: query.consentAt.map { Moment($0) }, pushes: pushes, end: query.end?.word,
            endedAt: query.endedAt.map { Moment($0) },
            disclosed: disclosures.map { AuditDisclosureItem($0, references) })
        if let number = query.fixNumber {
            let event = (try? context.reader.event(number))?.event
            var fix = AuditFixItem(
                number: references.event(number), receivedAt: event.map { Moment($0.recordedAt) })
            if case .fixReported(let device, _, .open(let reported))? = event?.event {
                fix.timestamp = Moment(reported.timestamp)
                fix.device = names.name(device)
            }
            // The time of a sealed one is in its envelope.
            if case .sealedFixReported(let device, _, _)? = event?.event { fix.device = names.name(device) }
            item.fix = fix
        }
        item.latency = latency(
            of: item, accepted: attempts.first { $0.attempt.status == 200 }.map { Moment($0.recordedAt) })
        return item
    }

    /// How long each step took, in milliseconds: from the question to the push that APNs accepted, from there to the
    /// fix, and from there to the first showing. A step that did not happen is left out, for example the push if the
    /// fix was already there.
    ///
    /// - Parameter accepted: When the first push was accepted, if one was. A step that ended before the one before
    ///   it, for example because the clock was set back, is left out too.
    private static func latency(of query: AuditQueryItem, accepted: Moment?) -> AuditLatencyItem? {
        let moments = (accepted: accepted, received: query.fix?.receivedAt, disclosed: query.disclosed.first?.at)
        guard moments.accepted != nil || moments.received != nil || moments.disclosed != nil else { return nil }
        var last = query.at
        func since(_ moment: Moment?) -> Int64? {
            guard let moment, moment >= last else { return nil }
            defer { last = moment }
            return moment.milliseconds - last.milliseconds
        }
        let (accepted, received) = (since(moments.accepted), since(moments.received))
        return AuditLatencyItem(
            pushAccepted: accepted, fixReceived: received, disclosed: since(moments.disclosed))
    }
}

extension Part {
    /// Why the content cannot be read, in the words of an audit; `nil` if it can.
    fileprivate var missing: String? {
        switch self {
        case .open: nil
        case .erased: "erased"
        case .keyLost: "unreadable"
        }
    }
}

extension AuditItem {
    /// The same entry with the state of its proof.
    fileprivate func proven(_ proof: AuditProofItem?) -> AuditItem {
        switch self {
        case .query(var query):
            query.proof = proof
            return .query(query)
        case .read(var read):
            read.proof = proof
            return .read(read)
        case .change(var change):
            change.proof = proof
            return .change(change)
        case .act, .other: return self
        }
    }
}

extension AuditPushItem {
    /// A try as the subject sees it. `tokenHash` shows that two tries used the same token, without the token.
    fileprivate init(_ audited: AuditedAttempt, _ names: PrincipalNames) {
        let attempt = audited.attempt
        self.init(
            device: names.name(attempt.device), attempt: attempt.attempt, apnsID: attempt.apnsID.description,
            at: Moment(audited.recordedAt), outcome: attempt.outcome.word, status: attempt.status,
            reason: attempt.reason, startedAt: attempt.startedAt.map { Moment($0) },
            endedAt: attempt.endedAt.map { Moment($0) }, durationMilliseconds: attempt.durationMilliseconds,
            environment: attempt.environment?.word, priority: attempt.priority, tokenHash: attempt.tokenHash?.hex,
            apnsUniqueID: attempt.uniqueID)
    }
}

extension AuditDisclosureItem {
    /// The values as they were shown. After an erasure only the time, the number and the precision are left.
    fileprivate init(_ audited: AuditedDisclosure, _ references: References) {
        self.init(
            at: Moment(audited.recordedAt), number: references.event(audited.number),
            precision: audited.disclosure.precision.word)
        guard let content = audited.disclosure.content.content else { return }
        if let latitude = content.latitude, let longitude = content.longitude {
            place = .degrees(latitude: latitude, longitude: longitude)
        }
        horizontalAccuracy = content.horizontalAccuracy
        timestamp = Moment(content.timestamp)
        placeName = content.placeName
    }
}
