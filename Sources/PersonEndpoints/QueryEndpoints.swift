import Answers
import Envelopes
import HTTPServer
import JSON
import Log
import Replies
import Whereabouts

/// Location queries: asking, waiting for the answer, canceling.
///
/// All answers have `id` and `status`. The status is `pending`, `answered`, `answeredFromLastKnown` or `noAnswer`
/// (`QueryView`).
///
/// A coarse grant answers from the center of a cell and shows no numbers, so that neither the time nor the growth of
/// the log discloses movement.
struct QueryEndpoints: Sendable {
    let decisions: Decisions
    let gate: Gate
    let answers: AnswerPool
    let waitingRoom: WaitingRoom

    /// `POST /v1/people/*/location-queries`: queues the query. The answer 202 comes once it is durable; no thread waits
    /// for that.
    ///
    /// The body has `purpose`; `initiation` (`user` or `server`), `deadlineSeconds` and `maxAgeSeconds` are optional.
    /// The query's `url` is also in the header `Location`.
    ///
    /// May call: a requester with a grant, the person, and the operator, each with the scope `query`. Recorded as
    /// `LocationQueried`. A person's refused question is recorded too, and the subject sees the true reason.
    ///
    /// - Throws: 400 for a missing `purpose`; 404 if the caller may not ask, as for an unknown person; 422 for a purpose
    ///   that is too long or a deadline out of range; 429 if they ask too often; 503 if ``Limits/openQueries`` are under
    ///   way.
    func ask(
        _ exchange: Exchange, _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        let question: LocationQuestion
        do throws(Problem) { question = try Self.question(exchange) } catch { return respond(error.response) }
        decisions.submit(exchange, .queryLocation(question), respond) { _ in
            let url = "/v1/location-queries/\(question.id)"
            let answer = StartedQuery(id: question.id.description, status: QueryView.Seen.pendingWord, url: url)
            return HTTPResponse(
                status: 202, headers: [("Content-Type", "application/json"), ("Location", url)], body: answer.bytes)
        }
    }

    /// The question in a body. Ranges and lengths are checked by the decision.
    ///
    /// - Throws: 400 for a missing purpose or an unknown initiation.
    private static func question(_ exchange: Exchange) throws(Problem) -> LocationQuestion {
        let body = try exchange.object("purpose", "initiation", "deadlineSeconds", "maxAgeSeconds")
        let initiation: LocationQuery.Initiation
        switch try body.optionalText("initiation") ?? "user" {
        case "user": initiation = .user
        case "server": initiation = .server
        default: throw .invalid("\"initiation\" must be \"user\" or \"server\".")
        }
        let deadline = initiation == .user ? Limits.queryDeadlineSeconds : Limits.serverQueryDeadlineSeconds
        return LocationQuestion(
            id: exchange.newQueryID, subject: try exchange.handle(0), purpose: try body.requiredText("purpose"),
            initiation: initiation,
            deadlineSeconds: try body.optionalInteger("deadlineSeconds") ?? deadline,
            maxAgeSeconds: try body.optionalInteger("maxAgeSeconds") ?? Limits.defaultMaxAgeSeconds)
    }

    /// The longest time that one request waits for the end of a query.
    private static let longestWaitSeconds: Int64 = 30

    /// `GET /v1/location-queries/*`: shows the query at once or, with `?wait=S`, when it is no longer pending. A
    /// waiting request holds no thread.
    ///
    /// A location that is shown is recorded as a disclosure first. 404 for a query of another caller, or one that is no
    /// longer kept (``Limits/endedQueryKeptSeconds``).
    ///
    /// May call: the requester only. Recorded as `LocationDisclosed`, once for each answer that shows the location.
    func read(
        _ exchange: Exchange, _ context: AnswerContext,
        _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) throws(Problem) {
        guard let id = QueryID(exchange.parameters[0]) else { throw .notFound }
        let wait = try exchange.integer("wait", in: 0...Self.longestWaitSeconds, default: 0)
        // A form that is not possible is refused at once. After the wait another thread makes the form again, because
        // PROJ's objects belong to one thread.
        _ = try AnswerForm(exchange, context)
        try self.wait(for: id, until: .now + .seconds(wait), exchange, context, respond)
    }

    /// Shows the query when it no longer looks pending, or when the time is up. A query that ended by something the
    /// grant hides looks pending until its deadline.
    ///
    /// May run several times for one request, each time on another answering thread.
    private func wait(
        for id: QueryID, until: ContinuousClock.Instant, _ exchange: Exchange,
        _ context: AnswerContext, _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) throws(Problem) {
        let view = try view(id, exchange)
        let fix = try view.answer(context.reader)
        let hidden = view.hiddenFix(fix)
        guard ContinuousClock.now < until, view.isPending || hidden != nil else {
            return try show(view, fix, id, exchange, context, respond)
        }
        let isIn = waitingRoom.enter(id, by: exchange.caller, hidden: hidden, until: until) {
            let isTaken = answers.submit(for: exchange.caller.principal) { context in
                do throws(Problem) {
                    try wait(for: id, until: until, exchange, context, respond)
                } catch { respond(error.response) }
            }
            if !isTaken { respond(Problem.busy(1).response) }
        }
        if !isIn { try show(view, fix, id, exchange, context, respond) }
    }

    /// The query as the caller may see it now; 404 if it is not theirs.
    private func view(
        _ id: QueryID, _ exchange: Exchange
    ) throws(Problem) -> QueryView {
        guard exchange.caller.scopes.contains(.query) else { throw .notFound }
        let now = decisions.clock()
        let durable = decisions.log.head
        let view = decisions.log.withStanding {
            QueryView(id, for: exchange.caller, in: $0, at: now, decisions.log.questions, durable: durable)
        }
        guard let view else { throw .notFound }
        return view
    }

    /// Answers with the status, or discloses the location at the grant's precision. The gate checks the grant again
    /// before the bytes leave.
    private func show(
        _ view: QueryView, _ fix: QueryView.Answer?, _ id: QueryID, _ exchange: Exchange,
        _ context: AnswerContext, _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) throws(Problem) {
        let status = view.status(fix)
        guard let fix, case .answer(_, let number, let permit) = view.seen else {
            return respond(.json(answer(status, id, view, exchange).bytes))
        }
        let form = try AnswerForm(exchange, context)
        let open: Fix
        switch fix {
        case .sealed(let sealed, let from, _):
            return try show(sealed, from: from, of: number, permit, view, id, exchange, respond)
        case .open(let fix): open = fix
        }
        let shown = ShownLocation(
            open, of: number, under: permit, in: view.cell, decisions, context, languages: exchange.languages(context))
        let answer = answer(status, id, view, exchange, shown.item)
        let computed = form.answer(
            answer, showing: "location", answer.location, count: 1, asOf: decisions.log.head)
        gate.disclose(
            exchange, query: id, fix: number, precision: permit.precision, computed, respond
        ) { shown.content(answerHash: $0) }
    }

    /// Answers with the envelope, which only the asker's client can open. The record has its SHA-256 and the names of its keys.
    private func show(
        _ sealed: SealedFix, from: Timestamp, of number: Int64, _ permit: Permit, _ view: QueryView, _ id: QueryID,
        _ exchange: Exchange, _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) throws(Problem) {
        guard let envelope = try? Envelope(decoding: sealed.envelope) else { throw .broken }
        var answer = answer(QueryEnd.answered.word, id, view, exchange)
        answer.envelope = EnvelopeItem(envelope, device: nil, number: nil)
        let computed = Gate.Computed(body: answer.bytes, count: 1, asOf: decisions.log.head)
        gate.disclose(exchange, query: id, fix: number, precision: permit.precision, computed, respond) { hash in
            Disclosure.Content(
                latitude: nil, longitude: nil, horizontalAccuracy: nil, timestamp: from, placeName: nil,
                answerHash: hash, envelopes: DisclosedEnvelopes([envelope]))
        }
    }

    /// `DELETE /v1/location-queries/*`: cancels the caller's query. Its status is `noAnswer` from then on.
    ///
    /// May call: the requester only. Recorded as `LocationQueryEnded` with the end `cancelled`. Its waiting push is
    /// withdrawn; an accepted one cannot be. A query that has ended makes no event.
    ///
    /// - Throws: 404 for a query of another caller.
    func cancel(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        guard let id = QueryID(exchange.parameters[0]) else { throw .notFound }
        try decisions.append(exchange, .cancelQuery(id))
        return .json(answer(QueryView.Seen.noAnswerWord, id, try view(id, exchange), exchange).bytes)
    }

    /// `asOf` is left out under a coarse grant, which hides how the log grows.
    private func answer(
        _ status: String, _ id: QueryID, _ view: QueryView, _ exchange: Exchange, _ location: LocationItem? = nil
    ) -> QueryAnswer {
        QueryAnswer(
            id: id.description, status: status, location: location,
            asOf: view.seesNumbers ? decisions.references(for: exchange.caller).place(decisions.log.head) : nil)
    }
}
