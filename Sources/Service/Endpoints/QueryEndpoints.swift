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

    /// Longest time one request waits for the end of a query.
    private static let longestWaitSeconds: Int64 = 30

    /// Shows the query as it is, or, with `?wait=S`, as soon as it is no longer pending. Whoever waits holds no thread.
    static func read(
        _ service: Service, _ exchange: Exchange, _ context: AnswerContext,
        _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) throws(Problem) {
        guard let id = QueryID(exchange.parameters[0]) else { throw .notFound }
        let wait = try exchange.integer("wait", in: 0...longestWaitSeconds, default: 0)
        let view = try Self.view(id, service, exchange)
        guard wait > 0, view.isPending else {
            return respond(try show(view, id, service, exchange, context))
        }
        let isIn = service.waitingRoom.enter(id, by: exchange.caller, until: .now + .seconds(wait)) {
            let isTaken = service.answers.submit { context in
                do throws(Problem) {
                    respond(try show(try Self.view(id, service, exchange), id, service, exchange, context))
                } catch { respond(error.response) }
            }
            if !isTaken { respond(Problem.busy(1).response) }
        }
        if !isIn { respond(try show(view, id, service, exchange, context)) }
    }

    private static func view(
        _ id: QueryID, _ service: Service, _ exchange: Exchange
    ) throws(Problem) -> QueryView {
        let now = service.clock()
        let durable = service.log.head
        let view = service.log.withStanding {
            QueryView(id, for: exchange.caller, in: $0, at: now, durable: durable)
        }
        guard let view else { throw .notFound }
        return view
    }

    private static func show(
        _ view: QueryView, _ id: QueryID, _ service: Service, _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        switch view.seen {
        case .pending: return .json(status("pending", id, view, service))
        case .noAnswer: return .json(status("noAnswer", id, view, service))
        case .answer(let word, let number, let permit):
            let found: (event: RecordedEvent, leaf: Digest)?
            do throws(LogError) { found = try context.reader.event(number) } catch { throw .broken }
            guard case .fixReported(_, _, .open(let fix)) = found?.event.event else { throw .notFound }
            // A phone may answer with an old fix: what the grant does not show stays closed.
            guard permit.shows(fix.timestamp) else {
                return .json(status(view.isOver ? "noAnswer" : "pending", id, view, service))
            }
            let shown = ShownLocation(fix, precision: permit.precision, context)
            var writer = JSONWriter()
            writer.beginObject()
            writer.field("id", id.description)
            writer.field("status", word)
            writer.key("location")
            shown.write(into: &writer)
            if view.seesNumbers { writer.field("asOf", service.log.head) }
            writer.endObject()
            return try Gate.disclose(
                service, exchange, query: id, fix: number, precision: permit.precision, body: writer.bytes
            ) { shown.content(answerHash: $0) }
        }
    }

    static func cancel(
        _ service: Service, _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        guard let id = QueryID(exchange.parameters[0]) else { throw .notFound }
        try Gate.append(service, exchange, .cancelQuery(id))
        return .json(status("noAnswer", id, try view(id, service, exchange), service))
    }

    private static func status(_ word: String, _ id: QueryID, _ view: QueryView, _ service: Service) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("id", id.description)
        writer.field("status", word)
        if view.seesNumbers { writer.field("asOf", service.log.head) }
        writer.endObject()
        return writer.bytes
    }
}
