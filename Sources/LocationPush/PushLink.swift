/// One connection to APNs: the socket's half (``HTTP2Connection``) and the judgement's half (``PushConnectionState``),
/// with the requests that are on their way. Belongs to the sender's thread.
final class PushLink {
    /// A request whose try has ended.
    struct Ended {
        let number: PushQueue.Number
        let attempt: Int
        let apnsID: String
        let tokenNumber: Int
        /// Milliseconds since 1970 UTC.
        let startedMs: Int64
        let durationMs: Int64
        let ending: PushConnectionState.Ending
        /// For `answered`.
        let answer: PushAnswer?
        /// For `unknown`: the facts about the request.
        let why: String
    }

    private struct Sent {
        let number: PushQueue.Number
        let attempt: Int
        let apnsID: String
        let tokenNumber: Int
        /// Milliseconds since 1970 UTC.
        let startedMs: Int64
        let atMs: Int64
    }

    /// 1, 2, 3 … for one sender.
    let number: Int
    let connection: HTTP2Connection
    /// Whether a request was answered by anything but a server error: such a connection was worth making.
    private(set) var hasAnswered = false
    /// When a push was last sent, or the connection was begun.
    private(set) var lastUsedMs: Int64
    /// Why the connection was lost or closed.
    private(set) var fault: TransportFault?
    private let timing: PushTiming
    private let clock: PushClock
    private let begunMs: Int64
    private let responses = PushResponses()
    private var headers: PushHeaders
    /// Nil until the handshake is done.
    private var state: PushConnectionState?
    private var sent: [Int32: Sent] = [:]
    private var streams: [PushQueue.Number: Int32] = [:]
    private var ended: [Ended] = []
    private var bytesSeen = 0
    private var firstAnswerIsNews = false
    /// The provider token of the newest push.
    private var token: ProviderTokenSource.Signed?

    init(
        number: Int, descriptor: Int32, endpoint: PushEndpoint, context: TLSContext, timing: PushTiming,
        clock: PushClock, atMs now: Int64
    ) throws(TransportFault) {
        self.number = number
        self.timing = timing
        self.clock = clock
        self.begunMs = now
        self.lastUsedMs = now
        self.headers = PushHeaders(authority: endpoint.host)
        self.connection = try HTTP2Connection(
            descriptor, context: context, serverName: endpoint.host, session: .client(events: responses))
    }

    var isOpen: Bool { state != nil }
    var isClosed: Bool { connection.stage == .closed }
    /// Whether new pushes may still go this way, now or later.
    var isUsable: Bool { !isClosed && !(state?.isDraining ?? false) }
    /// The number of pushes it takes now. It is 0 while the socket takes no bytes, because a push waiting inside could
    /// not be withdrawn.
    var capacity: Int { connection.isFlushed ? state?.capacity ?? 0 : 0 }
    /// The pushes handed in of which nothing was sent yet.
    var unwritten: [PushQueue.Number] {
        sent.compactMap { stream, request in state?.isUnwritten(stream) == true ? request.number : nil }.sorted()
    }
    var openStreams: Int { sent.count }
    /// Whether it is a good connection that carries as many pushes as APNs allows. One that has not answered yet is
    /// still at its first push, which goes alone.
    var isFull: Bool { hasAnswered && isUsable && state?.isFull == true }
    var nextTimerMs: Int64 { state?.nextTimerMs ?? begunMs + timing.connectMs }

    /// Notes that a push waits; an idle connection is tried before it is used.
    func noteWanted(atMs now: Int64) {
        handle(.wanted, atMs: now)
    }

    /// Whether this connection may carry a push with this provider token; otherwise the push needs a new one.
    func mayCarry(_ token: ProviderTokenSource.Signed) -> Bool {
        self.token.map { token.mayFollow($0) } ?? true
    }

    /// Sends a push; there must be ``capacity`` for it.
    func send(
        _ push: LocationPushRequest, number: PushQueue.Number, attempt: Int, token: ProviderTokenSource.Signed,
        atMs now: Int64
    ) throws(TransportFault) {
        let moment = clock.now()
        let fields = headers.fields(for: push, providerToken: token.text)
        let stream = try connection.session.submitRequest(fields, body: push.payload)
        sent[stream] = Sent(
            number: number, attempt: attempt, apnsID: push.apnsID, tokenNumber: token.number,
            startedMs: moment.unixMs, atMs: moment.monotonicMs)
        streams[number] = stream
        self.token = token
        lastUsedMs = now
        handle(.opened(stream: stream), atMs: moment.monotonicMs)
    }

    /// Gives up a push that is on its way here, if it is.
    func abandon(_ number: PushQueue.Number, atMs now: Int64) {
        if let stream = streams[number] { handle(.abandoned(stream: stream), atMs: now) }
    }

    /// Leaves the connection for a new one once its requests are answered.
    func retire(atMs now: Int64) {
        handle(.retire, atMs: now)
    }

    /// Reads and writes as much as the socket allows.
    func advance(atMs now: Int64) {
        do throws(TransportFault) {
            try connection.advance()
            takeIn(atMs: now)
        } catch {
            takeIn(atMs: now)
            lose(error, atMs: now)
        }
    }

    /// Writes the waiting bytes.
    func flush(atMs now: Int64) {
        do throws(TransportFault) {
            try connection.flush()
            takeIn(atMs: now)
        } catch {
            takeIn(atMs: now)
            lose(error, atMs: now)
        }
    }

    /// Looks at the clock.
    func tick(atMs now: Int64) {
        if isOpen {
            handle(.tick, atMs: now)
        } else if now >= nextTimerMs {
            lose(TransportFault("not connected within \(timing.connectMs) ms"), atMs: now)
        }
    }

    /// Says goodbye, if the socket takes it at once, and closes.
    func close(atMs now: Int64) {
        connection.session.submitGoAway(lastStream: 0, errorCode: HTTP2ErrorCode.none, reason: [])
        flush(atMs: now)
        lose(TransportFault("stopped"), atMs: now)
    }

    /// Whether the first answer has come since the last call.
    func takeFirstAnswer() -> Bool {
        defer { firstAnswerIsNews = false }
        return firstAnswerIsNews
    }

    /// The requests that have ended since the last call.
    func takeEnded() -> [Ended] {
        defer { ended.removeAll(keepingCapacity: true) }
        return ended
    }

    private func takeIn(atMs now: Int64) {
        if state == nil, connection.stage == .open || connection.bytesReceived > 0 {
            state = PushConnectionState(timing: timing, atMs: now)
        }
        if connection.bytesReceived != bytesSeen {
            bytesSeen = connection.bytesReceived
            handle(.received, atMs: now)
        }
        for input in responses.takeInputs() {
            handle(input, atMs: now)
        }
    }

    private func handle(_ input: PushConnectionState.Input, atMs now: Int64) {
        guard let actions = state?.handle(input, atMs: now) else { return }
        for action in actions {
            switch action {
            case .ping:
                connection.session.submitPing()
            case .close(let why):
                lose(TransportFault(why), atMs: now)
            case .finish(let stream, let ending):
                end(stream, ending, why: fault?.description ?? "the request was reset", atMs: now)
            case .giveUp(let stream, let ending):
                connection.session.submitReset(stream: stream, errorCode: HTTP2ErrorCode.cancel)
                let limit = input == .tick ? "within \(timing.requestMs) ms" : "before the deadline"
                end(stream, ending, why: "no answer \(limit)", atMs: now)
            }
        }
    }

    private func end(_ stream: Int32, _ ending: PushConnectionState.Ending, why: String, atMs now: Int64) {
        guard let request = sent[stream] else { return }
        let answer = ending == .answered ? responses.parts[stream]?.answer(atUnixMs: clock.now().unixMs) : nil
        if let answer, answer.status < 500, !hasAnswered {
            hasAnswered = true
            firstAnswerIsNews = true
        }
        forget(stream, request)
        report(request, ending, answer, why: why, atMs: now)
    }

    private func lose(_ why: TransportFault, atMs now: Int64) {
        guard fault == nil else { return }
        fault = why
        connection.close()
        handle(.lost, atMs: now)
    }

    private func forget(_ stream: Int32, _ request: Sent) {
        sent[stream] = nil
        streams[request.number] = nil
        responses.parts[stream] = nil
    }

    private func report(
        _ request: Sent, _ ending: PushConnectionState.Ending, _ answer: PushAnswer?, why: String, atMs now: Int64
    ) {
        ended.append(
            Ended(
                number: request.number, attempt: request.attempt, apnsID: request.apnsID,
                tokenNumber: request.tokenNumber, startedMs: request.startedMs, durationMs: max(0, now - request.atMs),
                ending: ending, answer: answer, why: why))
    }
}

/// Turns nghttp2's callbacks into inputs of ``PushConnectionState`` and gathers the responses' parts.
private final class PushResponses: HTTP2Events {
    var parts: [Int32: PushAnswerParts] = [:]
    private var inputs: [PushConnectionState.Input] = []

    func takeInputs() -> [PushConnectionState.Input] {
        defer { inputs.removeAll(keepingCapacity: true) }
        return inputs
    }

    func sends(headersOf stream: Int32) {
        inputs.append(.written(stream: stream))
    }

    func received(header name: String, _ value: String, neverIndexed: Bool, stream: Int32) {
        parts[stream, default: PushAnswerParts()].take(header: name, value)
        // An interim response (1xx) is not the answer yet.
        if name == ":status", let status = Int(value), status >= 200 {
            inputs.append(.status(stream: stream, status))
        }
    }

    func received(body bytes: UnsafeRawBufferPointer, stream: Int32) {
        parts[stream, default: PushAnswerParts()].take(body: bytes)
    }

    func ended(stream: Int32) {
        inputs.append(.answered(stream: stream))
    }

    func closed(stream: Int32, errorCode: UInt32) {
        inputs.append(.streamClosed(stream: stream, errorCode: errorCode))
    }

    /// ``closed(stream:errorCode:)`` follows.
    func received(resetOf stream: Int32, errorCode: UInt32) {}

    func received(maxConcurrentStreams: Int) {
        inputs.append(.settings(maxConcurrentStreams: maxConcurrentStreams))
    }

    func received(goAwayAfter lastStream: Int32, errorCode: UInt32, reason: [UInt8]) {
        inputs.append(.goAway(lastStream: lastStream))
    }

    func pingAcknowledged() {
        inputs.append(.pingAcknowledged)
    }
}
