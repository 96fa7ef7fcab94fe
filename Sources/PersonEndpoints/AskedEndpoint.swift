import Answers
import Cryptography
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
    /// `GET /v1/people/*/asked`: the person's questions and reads about others, with the answers as they were given.
    /// Newest first, at most ``auditRowsPerPage`` in a page.
    ///
    /// The list shows nothing new of others: neither where they were, nor why a question had no answer. A refusal looks
    /// as it did then, whether or not the person existed. The hash of an answer proves which answer it was.
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
            return PageWriter.page(entries, next: next, asOf: asOf, reading.references) { entry, writer in
                entry.write(into: &writer, names, reading.references, pending: pending)
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

    /// Writes the entry as one object. Its `kind` is `query`, `read` or `refusals`. The list in HTTP.md has the other
    /// members.
    ///
    /// - Parameter pending: The questions that still wait for an answer.
    func write(
        into writer: inout JSONWriter, _ names: PrincipalNames, _ references: References, pending: Set<QueryID>
    ) {
        writer.beginObject()
        switch self {
        case .query(let query, let disclosures):
            writer.field("kind", "query")
            writer.field("number", references.event(query.number))
            writer.field("id", query.query.description)
            writer.field("at", milliseconds: query.recordedAt.milliseconds)
            name(query.subject, query.verdict, into: &writer, names)
            writer.field("purpose", query.purposeForRequester)
            writer.field("initiation", query.initiation.word)
            writer.field("deadline", milliseconds: query.deadline.milliseconds)
            writer.field(
                "status",
                Self.status(
                    query, isShown: !disclosures.isEmpty, isPending: pending.contains(query.query)))
            writer.array("shown") { writer in
                for disclosure in disclosures {
                    writer.beginObject()
                    writer.field("number", references.event(disclosure.number))
                    writer.field("at", milliseconds: disclosure.recordedAt.milliseconds)
                    writer.field("precision", disclosure.disclosure.precision.word)
                    writer.field(
                        "sha256", disclosure.disclosure.content.content.map { Hex.encode($0.answerHash.bytes) })
                    writer.endObject()
                }
            }
        case .read(let read):
            writer.field("kind", "read")
            writer.field("number", references.event(read.number))
            writer.field("at", milliseconds: read.recordedAt.milliseconds)
            name(read.read.subject, read.read.verdict, into: &writer, names)
            writer.field("question", read.read.question.word)
            writer.field("purpose", read.read.content.content?.purpose)
            writer.field("from", milliseconds: read.read.content.content?.from?.milliseconds)
            writer.field("to", milliseconds: read.read.content.content?.to?.milliseconds)
            if read.read.verdict.isRefused {
                writer.field("status", "noSuchPerson")
            } else {
                writer.field("status", "shown")
                writer.field("precision", read.read.precision.word)
                writer.field("count", read.read.count)
                writer.field("sha256", read.read.content.content?.answerHash.map { Hex.encode($0.bytes) })
            }
        case .refusals(let refusals):
            writer.field("kind", "refusals")
            writer.field("number", references.event(refusals.number))
            writer.field("at", milliseconds: refusals.recordedAt.milliseconds)
            writer.field("since", milliseconds: refusals.since.milliseconds)
            writer.field("status", "noSuchPerson")
            writer.field("count", refusals.count)
        }
        writer.endObject()
    }

    /// The status that the requester saw, and sees now.
    private static func status(_ query: AuditedQuery, isShown: Bool, isPending: Bool) -> String {
        if query.verdict.isRefused { return "noSuchPerson" }
        if isShown, let end = query.end { return end.word }
        return query.end != .cancelled && isPending ? "pending" : "noAnswer"
    }

    /// The handle of the subject, or `nil` if the answer was that there is no such person.
    private func name(
        _ subject: PersonID?, _ verdict: Verdict, into writer: inout JSONWriter, _ names: PrincipalNames
    ) {
        guard !verdict.isRefused else { return }
        writer.key("subject")
        if let name = subject.flatMap({ names.name($0.principal) }) { writer.value(name) } else { writer.null() }
    }
}
