import Answers
import AuditTables
import Cryptography
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
    /// `GET /v1/people/*/asked`: the person's questions and reads about others, with the answers as they were given.
    /// Newest first, at most ``auditRowsPerPage`` in a page.
    ///
    /// The list shows nothing new of others: neither where they were, nor why a question had no answer. A refusal looks
    /// as it did then, whether or not the person existed. The hash of an answer proves which answer it was.
    ///
    /// May call: the person with the scope `audit`, and the operator. Recorded as a read of the audit.
    ///
    /// - Throws: 422 for a cursor that this caller was not given.
    package func asked(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        let limit = Int(try exchange.integer("limit", in: 1...Self.auditRowsPerPage, default: 100))
        let before = try row(exchange)
        return try views.read(exchange, context, .audit, from: AuditTable.name) { (reading) throws(Problem) in
            let (entries, asOf) = try context.read(AuditTable.name) { (connection) throws(SQLiteError) in
                try AskedEntry.page(by: reading.permit.subject.principal, before: before, limit: limit, in: connection)
            }
            let names = PrincipalNames(decisions)
            let now = decisions.clock()
            let pending = decisions.log.withStanding { standing in
                entries.reduce(into: Set<QueryID>()) { pending, entry in
                    guard case .query(let query, _) = entry, let known = standing.queries[query.query],
                        decisions.log.questions.left(of: query.query, known, at: now) > 0
                    else { return }
                    pending.insert(query.query)
                }
            }
            let next = entries.count == limit ? entries.last.map { reading.references.rowOrAct($0.number).text } : nil
            return PageWriter.page(entries, next: next, asOf: asOf, reading.references) { entry in
                entry.item(names, reading.references, pending: pending)
            }
        }
    }
}

/// One entry of the list: a query with its disclosures, a read, or a count of refusals that were not recorded one by
/// one (``Limits/refusalsRecordedAMinute``).
private enum AskedEntry {
    /// A query by the person, with its disclosures.
    case query(AuditedQuery, [AuditedDisclosure])
    /// A read of another person's data.
    case read(AuditedRead)
    /// Refusals that were counted and not recorded one by one.
    case refusals(CountedRefusals)

    /// The log number that orders the entries: that of the query, the read or the count.
    var number: Int64 {
        switch self {
        case .query(let query, _): query.number
        case .read(let read): read.number
        case .refusals(let refusals): refusals.number
        }
    }

    /// The newest `limit` entries before a number.
    ///
    /// Reads at most `limit` rows of each kind, and the disclosures of each query.
    ///
    /// - Parameter before: Only entries with a smaller number; `nil` for the first page.
    static func page(
        by asker: PrincipalID, before: Int64?, limit: Int, in connection: borrowing Connection
    ) throws(SQLiteError) -> [AskedEntry] {
        var entries: [AskedEntry] = []
        for query in try AuditReader.queries(by: asker, before: before, limit: limit, in: connection) {
            entries.append(.query(query, try AuditReader.disclosures(for: query.query, in: connection)))
        }
        entries += try AuditReader.reads(by: asker, before: before, limit: limit, in: connection).map { .read($0) }
        entries += try AuditReader.refusals(of: asker, before: before, limit: limit, in: connection).map {
            .refusals($0)
        }
        return Array(entries.sorted { $0.number > $1.number }.prefix(limit))
    }

    /// The entry as the requester sees it.
    ///
    /// - Parameter pending: The questions that still wait for an answer.
    func item(_ names: PrincipalNames, _ references: References, pending: Set<QueryID>) -> AskedItem {
        switch self {
        case .query(let query, let disclosures):
            let isPending = pending.contains(query.query)
            return .query(
                AskedQueryItem(
                    kind: "query", number: references.event(query.number), id: query.query.description,
                    at: Moment(query.recordedAt), subject: Self.name(query.subject, query.verdict, names),
                    purpose: query.purposeForRequester, initiation: query.initiation.word,
                    deadline: Moment(query.deadline),
                    status: Self.status(query, isShown: !disclosures.isEmpty, isPending: isPending),
                    shown: disclosures.map { disclosure in
                        AskedAnswerItem(
                            number: references.event(disclosure.number), at: Moment(disclosure.recordedAt),
                            precision: disclosure.disclosure.precision.word,
                            sha256: disclosure.disclosure.content.content.map { Hex.encode($0.answerHash.bytes) })
                    }))
        case .read(let read):
            let content = read.read.content.content
            var item = AskedReadItem(
                kind: "read", number: references.event(read.number), at: Moment(read.recordedAt),
                subject: Self.name(read.read.subject, read.read.verdict, names), question: read.read.question.word,
                purpose: content?.purpose, from: content?.from.map { Moment($0) }, to: content?.to.map { Moment($0) },
                status: "noSuchPerson")
            if !read.read.verdict.isRefused {
                item.status = "shown"
                item.precision = read.read.precision.word
                item.count = read.read.count
                item.sha256 = content?.answerHash.map { Hex.encode($0.bytes) }
            }
            return .read(item)
        case .refusals(let refusals):
            return .refusals(
                AskedRefusalsItem(
                    kind: "refusals", number: references.event(refusals.number), at: Moment(refusals.recordedAt),
                    since: Moment(refusals.since), status: "noSuchPerson", count: refusals.count))
        }
    }

    /// The status that the requester saw, and sees now.
    ///
    /// `noSuchPerson` for a refusal, the true end if something was shown, otherwise `pending` or `noAnswer`. So a
    /// phone that is switched off looks like one whose owner refused.
    private static func status(_ query: AuditedQuery, isShown: Bool, isPending: Bool) -> String {
        if query.verdict.isRefused { return "noSuchPerson" }
        if isShown, let end = query.end { return end.word }
        return query.end != .cancelled && isPending ? "pending" : "noAnswer"
    }

    /// The subject, or `nil` if the answer was that there is no such person.
    private static func name(_ subject: PersonID?, _ verdict: Verdict, _ names: PrincipalNames) -> PersonName? {
        verdict.isRefused ? nil : PersonName(subject.flatMap { names.name($0.principal) })
    }
}
