import Answers
import Cryptography
import Envelopes
import HTTPInterface
import HTTPServer
import JSON
import Log
import Replies
import Whereabouts

/// Envelopes of devices: the questions that a phone can answer with them, and the envelopes themselves.
struct EnvelopeIngestEndpoints: Sendable {
    let decisions: Decisions

    /// `GET /v1/devices/*/questions`: the open queries about the device's owner, each with the asker, the precision, and the names
    /// of the asker's keys that the owner accepts; those who may read the history, with their keys; and the number by which
    /// envelopes name the device.
    ///
    /// One push can stand for several queries, and a push has no room for all their keys, so a woken phone asks. It seals only for
    /// keys that it knows itself.
    ///
    /// May call: the device, with its reporting key. Not recorded: the owner is told who asks the owner.
    func questions(_ exchange: Exchange, _ context: AnswerContext) throws(Problem) -> HTTPResponse {
        let handle = try exchange.handle(0)
        let now = decisions.clock()
        let answer = decisions.log.withStanding { standing -> PhoneQuestionsAnswer? in
            let id = DeviceID(rawValue: exchange.caller.principal.rawValue)
            guard let person = standing.owner(of: exchange.caller), let device = standing.devices[id],
                device.handle == handle, let number = standing.envelopeNumber(of: id)
            else { return nil }
            let questions = standing.answerable(about: person, at: now).compactMap { question in
                standing.persons[question.asker]?.handle.map { asker in
                    PhoneQuestionItem(
                        query: question.id.description, person: asker.text, precision: question.precision.word,
                        keys: standing.sealable(by: person, for: question.asker).map(\.description))
                }
            }
            return PhoneQuestionsAnswer(
                person: standing.persons[person]?.handle?.text ?? "", device: number, sealed: device.isSealed,
                questions: questions,
                readers: standing.historyReaders(of: person, at: now).compactMap { reader in
                    standing.persons[reader]?.handle.map { handle in
                        PhoneReaderItem(
                            person: handle.text, keys: standing.sealable(by: person, for: reader).map(\.description))
                    }
                })
        }
        guard let answer else { throw .notFound }
        return .reply(answer)
    }

    /// `POST /v1/envelopes`: takes envelopes in base64, at most ``Limits/envelopesPerRequest``. `refused` names queries that the
    /// phone does not answer, with the reason `recipientNotApproved`, `keyUnavailable` or `noFix`. Answers as
    /// `POST /v1/fixes`, first for the envelopes and then for the refusals.
    ///
    /// An envelope is checked before it is kept: the signature with the owner's identity key, the device, the recipients and the query.
    /// One that fails is rejected with its reason, on record, without its content.
    ///
    /// May call: the device, with its reporting key. Recorded as `SealedFixReported`, and the end of the query that it
    /// answers as `LocationQueryEnded`; a refusal as `SealingRefused`.
    ///
    /// - Throws: 400 for another body, 413 for too many.
    func take(_ exchange: Exchange, _ context: AnswerContext) throws(Problem) -> HTTPResponse {
        let body = try exchange.object("envelopes", "refused")
        let (texts, refusals) = (try Self.list(body, "envelopes"), try Self.list(body, "refused"))
        guard max(texts.count, refusals.count) <= Limits.envelopesPerRequest else {
            throw Problem(
                413, "Too many envelopes",
                "Send at most \(Limits.envelopesPerRequest) envelopes, and as many refusals, in one request.")
        }
        let identity = decisions.log.withStanding { standing in
            standing.owner(of: exchange.caller).flatMap { standing.sealingKeys[$0].identity?.key }
        }
        var reports: [EnvelopeReport] = texts.map { text in
            guard let text = text.string, text.utf8.count <= 2 * Limits.envelopeBytes,
                let bytes = Base64.decode(text), let envelope = try? Envelope(decoding: bytes)
            else { return .unreadable(length: Int64(text.string?.utf8.count ?? 0)) }
            return .sealed(SealedReport(envelope, of: identity))
        }
        for refusal in refusals { reports.append(try Self.refusal(refusal)) }
        let (outcomes, receipt) = try decisions.append(exchange, .reportEnvelopes(reports))
        let number = decisions.references(for: exchange.caller).receipt(receipt)
        return .reply(IngestEndpoints.Counted(outcomes).outcome(number))
    }

    /// The items of a list; none if it is absent or null.
    private static func list(_ body: JSONValue, _ name: String) throws(Problem) -> [JSONValue] {
        guard let value = body[name], !value.isNull else { return [] }
        guard let items = value.array else { throw .invalid("\"\(name)\" must be a list.") }
        return Array(items)
    }

    private static func refusal(_ value: JSONValue) throws(Problem) -> EnvelopeReport {
        guard value.kind == .object else { throw .invalid("An item of \"refused\" must be an object.") }
        try value.takeOnly(["query", "reason"], of: "a refusal")
        guard let query = QueryID(try value.requiredText("query")) else { throw .invalid("\"query\" must be a UUID.") }
        let word = try value.requiredText("reason")
        guard let reason = SealingRefusal.allCases.first(where: { $0.word == word }) else {
            throw .invalid("\"reason\" must be recipientNotApproved, keyUnavailable or noFix.")
        }
        return .refused(query, reason)
    }
}

extension EnvelopeIngestEndpoints {
    /// Envelopes of phones.
    var operations: [Operation] {
        [
            Operation(
                "GET", APIPath.devicesQuestions.text, .answer(questions),
                group: .sealing, summary: "List the questions that a phone can answer with envelopes.",
                description:
                    "Only for the device, with its reporting key. Each question has the asker, the precision, and the names of the asker's keys that the owner accepts. `device` is the number by which envelopes name the device.",
                access: .reportingKey, discloses: .names("The people who ask the device's owner, for the device."),
                answer: Operation.Answer(Schema.object(of: PhoneQuestionsAnswer.self), named: "PhoneQuestions")),
            Operation(
                "POST", APIPath.envelopes.text, .answer(take),
                group: .sealing, summary: "Report envelopes.",
                description:
                    "Needs the device's reporting key as the bearer token. Each envelope is checked: its signature, its device, its recipients, its query. One that fails is rejected with a reason, and its content is not kept. An envelope that answers a query ends it.",
                access: .reportingKey, discloses: .command,
                body: Operation.Body(
                    Schema.body(
                        optional: [
                            "envelopes": Schema.list([:], 0...Limits.envelopesPerRequest),
                            "refused": Schema.list(
                                Schema.body([
                                    "query": Schema.uuid,
                                    "reason": Schema.word("recipientNotApproved", "keyUnavailable", "noFix"),
                                ]), 0...Limits.envelopesPerRequest),
                        ]), named: "EnvelopeReports", example: ["envelopes": ["hEEBAg=="]]),
                answer: Operation.Answer(Schema.reportOutcome), bodyBytes: Limits.ingestBodyBytes),
        ]
    }
}
