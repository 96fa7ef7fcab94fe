import Cryptography
import HTTPServer
import JSON
import Whereabouts

/// "Where is X?": asking, waiting for the answer, changing one's mind.
enum QueryEndpoints {
    static func ask(
        _ service: Service, _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let body = try exchange.object("purpose", "initiation", "deadlineSeconds", "maxAgeSeconds")
        let initiation: LocationQuery.Initiation
        switch body["initiation"]?.string ?? "user" {
        case "user": initiation = .user
        case "server": initiation = .server
        default: throw .invalid("\"initiation\" must be \"user\" or \"server\".")
        }
        let deadline = initiation == .user ? Limits.queryDeadlineSeconds : Limits.serverQueryDeadlineSeconds
        let question = LocationQuestion(
            id: .random(), subject: try exchange.handle(0), purpose: try body.text("purpose"), initiation: initiation,
            deadlineSeconds: try body.optionalInteger("deadlineSeconds") ?? deadline,
            maxAgeSeconds: try body.optionalInteger("maxAgeSeconds") ?? Limits.defaultMaxAgeSeconds)
        try Gate.append(service, exchange, .queryLocation(question))
        let url = "/v1/location-queries/\(question.id)"
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("id", question.id.description)
        writer.field("status", "pending")
        writer.field("url", url)
        writer.endObject()
        return HTTPResponse(
            status: 202, headers: [("Content-Type", "application/json"), ("Location", url)], body: writer.bytes)
    }

    /// What the asker may see of a query: pending, then an answer, or none at the deadline, whatever the true reason.
    private enum Seen {
        case pending
        case noAnswer
        case answer(word: String, fix: Int64, precision: Precision)
    }

    static func read(
        _ service: Service, _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        guard let id = QueryID(exchange.parameters[0]) else { throw .notFound }
        let now = service.clock()
        let durable = service.log.head
        let seen = service.log.withStanding { standing -> Seen? in
            guard let query = standing.queries[id], query.requester == exchange.caller.principal else { return nil }
            switch query.end {
            case .answered, .answeredFromLastKnown:
                guard let fix = query.fix, let subject = standing.persons[query.subject]?.handle,
                    case .success(let permit) = standing.authorize(exchange.caller, to: .ask, about: subject, at: now),
                    permit.verdict == query.verdict
                else { return now < query.deadline ? .pending : .noAnswer }
                // The writer folds before it commits: what is not durable yet has not happened.
                guard fix <= durable else { return .pending }
                return .answer(word: query.end?.word ?? "", fix: fix, precision: permit.precision)
            case .cancelled: return .noAnswer
            case nil, .refused, .pushFailed, .timedOut: return now < query.deadline ? .pending : .noAnswer
            }
        }
        switch seen {
        case nil: throw .notFound
        case .pending: return .json(status("pending", id, service))
        case .noAnswer: return .json(status("noAnswer", id, service))
        case .answer(let word, let number, let precision):
            let found: (event: RecordedEvent, leaf: Digest)?
            do throws(LogError) { found = try context.reader.event(number) } catch { throw .broken }
            guard case .fixReported(_, _, .open(let fix)) = found?.event.event else { throw .notFound }
            let shown = ShownLocation(fix, precision: precision, context)
            var writer = JSONWriter()
            writer.beginObject()
            writer.field("id", id.description)
            writer.field("status", word)
            writer.key("location")
            shown.write(into: &writer)
            writer.field("asOf", service.log.head)
            writer.endObject()
            return try Gate.disclose(
                service, exchange, query: id, fix: number, precision: precision, body: writer.bytes
            ) { shown.content(answerHash: $0) }
        }
    }

    static func cancel(
        _ service: Service, _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        guard let id = QueryID(exchange.parameters[0]) else { throw .notFound }
        try Gate.append(service, exchange, .cancelQuery(id))
        return .json(status("noAnswer", id, service))
    }

    private static func status(_ word: String, _ id: QueryID, _ service: Service) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("id", id.description)
        writer.field("status", word)
        writer.field("asOf", service.log.head)
        writer.endObject()
        return writer.bytes
    }
}
