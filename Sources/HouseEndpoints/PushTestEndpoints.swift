import Answers
import HTTPServer
import LocationPush
import Log
import Reactors
import Replies
import Synchronization
import Whereabouts

/// Tests of the way to a phone: a real push, and the same request for another tool. Only for the operator.
struct PushTestEndpoints: Sendable {
    let decisions: Decisions
    let gate: Gate
    let pushApps: PushApps?

    /// The seconds that APNs may take to answer a test.
    private static let deadlineSeconds: Int64 = 30

    /// `POST /v1/devices/*/push-tests`: wakes the device once and answers with APNs' response. Holds no thread while it
    /// waits, at most ``deadlineSeconds``.
    ///
    /// The push counts toward the device's budget. Each attempt is an event in the audit of the device's owner.
    ///
    /// - Throws: 404 for an unknown device, 409 if it has no usable token or its app is not configured, 429 if it was
    ///   woken a moment ago.
    ///
    /// May call: the operator. Recorded as `LocationPushTested`, one event for each try; the answer comes after the
    /// last one is durable.
    func send(_ exchange: Exchange, _ respond: @escaping @Sendable (HTTPResponse) -> Void) {
        do throws(Problem) {
            let (_, handle, token) = try device(exchange)
            guard let line = pushApps?.line(for: token) else { throw Self.noApp }
            let id = QueryID.random()
            let test = Order.testPush(id, to: handle)
            decisions.log.submit(test.command, by: exchange.caller, correlation: exchange.id) { result in
                do throws(Problem) {
                    let receipt: Receipt
                    switch result {
                    case .success(let given): receipt = given
                    case .failure(let failure): throw Problem(failure)
                    }
                    guard let order = test.read(receipt.reply)?.first else { throw .broken }
                    if case .wait(let until) = order.what {
                        let milliseconds = until.milliseconds - decisions.clock().milliseconds
                        throw Problem(
                            429, "Too many pushes",
                            "The device was woken a moment ago, or too often today; try again later.",
                            retryAfterSeconds: Int(max(1, (milliseconds + 999) / 1000)))
                    }
                    let now = decisions.clock()
                    let request: LocationPushRequest
                    do throws(PushRequestError) {
                        request = try PushApps.request(
                            to: order.device, token, for: id, named: "test", priority: .userAsked,
                            deadline: now.adding(seconds: Self.deadlineSeconds), at: now)
                    } catch { throw Self.unusableToken }
                    PushTest(id, order.device, token, decisions, exchange.id, respond).run(request, over: line)
                } catch { respond(error.response) }
            }
        } catch { respond(error.response) }
    }

    /// `GET /v1/devices/*/push-request`: the request that `send` makes, without a provider token, for `curl`.
    /// It contains the device token, which is the person's data, so the answer is a recorded read.
    ///
    /// May call: the operator; recorded in the audit of the device's owner as a read of settings.
    ///
    /// - Throws: 404 for an unknown device, 409 if it has no usable token or its app is not configured.
    func request(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        let (id, _, token) = try device(exchange)
        guard let sender = pushApps?.line(for: token)?.sender else { throw Self.noApp }
        let subject = decisions.log.withStanding { standing in
            standing.devices[id].flatMap { standing.persons[$0.person]?.handle }
        }
        guard let subject else { throw .notFound }
        let now = decisions.clock()
        let question = ReadQuestion(
            subject: subject, question: .settings, from: nil, to: nil, purpose: try exchange.purpose())
        return try gate.read(exchange, question) { (_) throws(Problem) in
            let request: LocationPushRequest
            do throws(PushRequestError) {
                request = try PushApps.request(
                    to: id, token, for: .random(), named: "test", priority: .userAsked,
                    deadline: now.adding(seconds: Self.deadlineSeconds), at: now)
            } catch { throw Self.unusableToken }
            let item = PushRequestItem(
                url: sender.endpoint.url + request.path, caFile: sender.endpoint.trustFile,
                headers: HeaderFields(request.fields.map { HeaderFields.Field(name: $0.name, value: $0.value) }),
                body: String(decoding: request.payload, as: UTF8.self), bundleID: token.token.bundleID,
                environment: token.environment.word)
            return Gate.Computed(
                body: item.bytes, count: 1, asOf: decisions.log.withStanding { $0.place })
        }
    }

    /// The device in the path and its token. Only the operator learns whether the device exists.
    ///
    /// - Throws: 404 for another caller and for an unknown device, 409 for a device without a token.
    private func device(
        _ exchange: Exchange
    ) throws(Problem) -> (DeviceID, Handle, Standing.PushToken) {
        guard exchange.caller.principal == .operator, exchange.caller.scopes.contains(.operate),
            let handle = Handle(exchange.parameters[0])
        else { throw .notFound }
        let found = decisions.log.withStanding { standing in
            standing.device(handle).map { ($0, standing.devices[$0]?.push.token) }
        }
        guard let (id, token) = found else { throw .notFound }
        guard let token else {
            throw Problem(
                409, "Cannot be woken", "The device has no location push token; its app has to upload one.")
        }
        return (id, handle, token)
    }

    /// 409: no `push` of the configuration fits the app and the environment of the device's token.
    private static let noApp = Problem(
        409, "Cannot be woken", "config.json has no \"push\" for the device's app and environment.")
    /// 409: the uploaded token or bundle id cannot be put into a request to APNs.
    private static let unusableToken = Problem(
        409, "Cannot be woken", "The device's token or bundle id has a wrong form; its app has to upload it again.")
}

/// A test in progress: records each attempt, and answers when the last record is durable.
private final class PushTest: Sendable {
    /// The attempts so far, and the records that are still to become durable.
    private struct State {
        var attempts: [LocationPushAttempt] = []
        /// Records that are not durable yet, plus one for the outcome.
        var open = 1
        var outcome: PushOutcome?
        /// The first command that was not appended; the answer is then this problem.
        var failure: Problem?
    }

    /// Makes the events of the tries.
    private let push: TrackedPush
    private let decisions: Decisions
    /// The id of the request, which the events carry.
    private let correlation: RequestID
    /// Answers the request; called once.
    private let respond: @Sendable (HTTPResponse) -> Void
    private let state = Mutex(State())

    init(
        _ id: QueryID, _ device: DeviceID, _ token: Standing.PushToken, _ decisions: Decisions,
        _ correlation: RequestID,
        _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        push = TrackedPush(id, device, token, priority: .userAsked, triesBefore: 0)
        (self.decisions, self.correlation, self.respond) = (decisions, correlation, respond)
    }

    /// Sends the push. ``PushTest`` keeps itself alive until the outcome is recorded. A token that APNs no longer
    /// accepts is retired, as after a query's push.
    func run(_ request: LocationPushRequest, over line: PushApps.Line) {
        line.send(request) { [self] in
            push.isWanted(decisions.log.withStanding { $0.withdrawal(ofTestTo: push.device, push.token) })
        } began: { [self] _ in
            push.began(at: decisions.clock())
        } attempted: { [self] attempt in
            record(push.ended(attempt))
        } completion: { [self] outcome in
            // A push that never left has no attempt with a reason.
            if let last = push.lastWord(of: outcome) { record(last) }
            if case .rejected(let rejection) = outcome,
                let retirement = Command.retiring(push.token, of: push.device, after: rejection)
            {
                decisions.log.submit(retirement, by: .house, correlation: correlation) { _ in }
            }
            state.withLock { $0.outcome = outcome }
            closeOne()
        }
    }

    /// Appends the attempt to the audit, and counts it as open until it is durable.
    private func record(_ attempt: LocationPushAttempt) {
        state.withLock { state in
            state.attempts.append(attempt)
            state.open += 1
        }
        decisions.log.submit(.recordPushTest(attempt), by: .house, correlation: correlation) { [self] result in
            if case .failure(let failure) = result { state.withLock { $0.failure = Problem(failure) } }
            closeOne()
        }
    }

    /// Ends one open record. The last one answers the request.
    private func closeOne() {
        let done = state.withLock { state -> State? in
            state.open -= 1
            return state.open == 0 ? state : nil
        }
        guard let done else { return }
        if let failure = done.failure { return respond(failure.response) }
        respond(.reply(answer(done)))
    }

    /// The answer, with every attempt in order. The outcome is that of the last one.
    private func answer(_ done: State) -> PushTestItem {
        var uniqueID: String?
        if case .accepted(_, let given)? = done.outcome { uniqueID = given }
        return PushTestItem(
            apnsID: LocationPushAttempt.apnsID(push.query, push.device).description, apnsUniqueID: uniqueID,
            attempts: done.attempts.map { attempt in
                PushAttemptItem(
                    attempt: attempt.attempt, outcome: attempt.outcome.word, status: attempt.status,
                    reason: attempt.reason, durationMilliseconds: attempt.durationMilliseconds)
            })
    }
}
