internal import Glibc
internal import JSON
internal import LocationPush
internal import Synchronization

/// The stand-in's thread: one poll loop for both ports.
final class PushStandInLoop {
    private let configuration: PushStandIn.Configuration
    private let shared: StandInShared
    private let context: TLSContext
    private let judge: ProviderTokenJudge
    private let rules: PushRules
    private let listener: LoopbackListener
    private let courierListener: LoopbackListener
    private var connections: [StandInConnection] = []
    private var lastConnection = 0
    /// The work that a fault delays.
    private var delayed: [(dueMs: Int64, work: Delayed)] = []

    private enum Delayed {
        case answer(Arrival)
        /// The pushes that were to gather for a GOAWAY did not all come.
        case goAway(StandInConnection)
    }

    /// A push together with where its answer goes.
    private struct Arrival {
        let connection: StandInConnection
        let stream: Int32
        let request: ArrivedRequest
        let arrivedMs: Int64
    }

    init(
        _ configuration: PushStandIn.Configuration, shared: StandInShared, context: TLSContext,
        judge: ProviderTokenJudge, listener: LoopbackListener, courierListener: LoopbackListener
    ) {
        self.configuration = configuration
        self.shared = shared
        self.context = context
        self.judge = judge
        self.rules = PushRules(environment: configuration.environment, bundleIDs: configuration.bundleIDs)
        self.listener = listener
        self.courierListener = courierListener
    }

    func run() {
        while !shared.contents.withLock({ $0.isStopping }) {
            turn()
        }
        for connection in connections { connection.http.close() }
        shared.contents.withLock { $0.courier.close() }
    }

    private func turn() {
        let phones = shared.contents.withLock { $0.courier.open.sorted { $0.key < $1.key } }
        let fixed = [shared.wake.descriptor, listener.descriptor, courierListener.descriptor]
        var polled = fixed.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        for connection in connections {
            // A negative descriptor is passed over by poll(2).
            let descriptor = connection.isSilent ? -1 : connection.http.descriptor
            polled.append(pollfd(fd: descriptor, events: connection.http.pollEvents, revents: 0))
        }
        for (_, phone) in phones {
            polled.append(pollfd(fd: phone.descriptor, events: phone.pollEvents, revents: 0))
        }
        let nextDueMs = delayed.map(\.dueMs).min()
        let waitMs = nextDueMs.map { max(0, $0 - configuration.clock.now().monotonicMs) } ?? 60_000
        poll(&polled, nfds_t(polled.count), Int32(clamping: waitMs))
        let now = configuration.clock.now()

        if polled[0].revents != 0 { shared.wake.drain() }
        let senders = polled.dropFirst(fixed.count).prefix(connections.count)
        for (connection, ready) in zip(connections, senders) where ready.revents != 0 {
            serve(connection, now)
        }
        shared.contents.withLock { contents in
            for ((number, _), ready) in zip(phones, polled.suffix(phones.count)) where ready.revents != 0 {
                contents.courier.serve(number, atUnixMs: now.unixMs)
            }
        }
        answerDelayed(now)
        for connection in connections where !connection.isSilent {
            try? connection.http.flush()
        }
        forgetClosed(now)
        shared.contents.withLock { $0.courier.dropClosed() }
        if polled[1].revents != 0 { acceptSenders(now) }
        if polled[2].revents != 0 { acceptPhones() }
    }

    private func forgetClosed(_ now: PushTime) {
        guard connections.contains(where: \.isClosed) else { return }
        for connection in connections where connection.isClosed {
            record(connection, .closed(connection.fault?.description ?? "by the script"), now)
        }
        connections.removeAll { $0.isClosed }
    }

    private func record(_ connection: StandInConnection, _ what: ConnectionRecord.What, _ now: PushTime) {
        configuration.recordConnection(
            ConnectionRecord(atMs: now.unixMs, connection: connection.number, what: what))
    }

    private func acceptSenders(_ now: PushTime) {
        while let descriptor = listener.acceptNext() {
            guard connections.count < PushStandIn.connectionsMax else {
                close(descriptor)
                continue
            }
            lastConnection += 1
            let fault = shared.contents.withLock { contents in
                contents.courier.counts.connections += 1
                return contents.courier.script.next(ofConnections: true)
            }
            guard fault != .refuseConnection else {
                close(descriptor)
                continue
            }
            if let made = try? StandInConnection(number: lastConnection, descriptor: descriptor, context: context) {
                made.isSilent = fault == .silentConnection
                connections.append(made)
                record(made, .opened, now)
            }
        }
    }

    private func acceptPhones() {
        while let descriptor = courierListener.acceptNext() {
            shared.contents.withLock { contents in
                guard connections.count + contents.courier.open.count < PushStandIn.connectionsMax else {
                    close(descriptor)
                    return
                }
                lastConnection += 1
                contents.courier.accept(LineConnection(descriptor), number: lastConnection)
            }
        }
    }

    private func serve(_ connection: StandInConnection, _ now: PushTime) {
        connection.advance()
        for (stream, errorCode) in connection.takeResets() {
            shared.contents.withLock { $0.courier.counts.resets += 1 }
            record(connection, .reset(stream: stream, errorCode: errorCode), now)
        }
        // On a connection that a fault cuts, earlier answers are flushed and later requests are ignored.
        for (stream, request) in connection.takeArrived() where !connection.isSilent && !connection.isCut {
            let arrival = Arrival(
                connection: connection, stream: stream, request: request, arrivedMs: now.unixMs)
            if stream > connection.lastStream {
                note(arrival, status: 0, reason: nil)
            } else if connection.gathering != nil {
                gather(arrival)
            } else if connection.leavesUnanswered() {
                note(arrival, status: 0, reason: nil)
            } else {
                apply(shared.contents.withLock { $0.courier.script.next() }, to: arrival, now)
            }
        }
    }

    /// Leaves a push unprocessed, for the GOAWAY that is due when enough of them are there.
    private func gather(_ arrival: Arrival) {
        note(arrival, status: 0, reason: nil)
        arrival.connection.gathering?.left -= 1
        if arrival.connection.gathering?.left == 0 { endGathering(arrival.connection) }
    }

    private func endGathering(_ connection: StandInConnection) {
        guard let gathering = connection.gathering else { return }
        connection.gathering = nil
        // Stream ids of a client are odd, so the one before is two below; 0 for none.
        goAway(connection, lastStream: max(0, gathering.firstStream - 2), reason: gathering.reason)
    }

    private func answerDelayed(_ now: PushTime) {
        let due = delayed.filter { $0.dueMs <= now.monotonicMs }
        delayed.removeAll { $0.dueMs <= now.monotonicMs }
        for entry in due {
            switch entry.work {
            case .answer(let arrival):
                if arrival.stream <= arrival.connection.lastStream { answer(arrival, now) }
            case .goAway(let connection): endGathering(connection)
            }
        }
    }

    private func apply(_ fault: PushStandInFault, to arrival: Arrival, _ now: PushTime) {
        let session = arrival.connection.http.session
        switch fault {
        // The script gives faults of connections to connections only.
        case .none, .refuseConnection, .silentConnection:
            answer(arrival, now)
        case .answer(let status, let reason, let timestampMs, let retryAfterSeconds, let retryDateSeconds):
            let refusal = PushRefusal(status: status, reason: reason, timestampMs: timestampMs)
            let date = retryDateSeconds.map { httpDate(unixSeconds: now.unixMs / 1000 + Int64($0)) }
            refuse(arrival, refusal, retryAfter: retryAfterSeconds.map { String($0) } ?? date)
        case .delay(let ms):
            delayed.append((now.monotonicMs + ms, .answer(arrival)))
        case .reset(let errorCode):
            note(arrival, status: 0, reason: nil)
            session.submitReset(stream: arrival.stream, errorCode: errorCode)
        case .resetAfterAcceptance(let errorCode):
            process(arrival, now)
            session.submitReset(stream: arrival.stream, errorCode: errorCode)
        case .goAwayBefore(let reason, let unprocessed):
            arrival.connection.gathering = StandInConnection.Gathering(
                firstStream: arrival.stream, reason: reason, left: unprocessed)
            delayed.append((now.monotonicMs + PushStandIn.gatheringMs, .goAway(arrival.connection)))
            gather(arrival)
        case .goAwayAfter(let reason):
            goAway(arrival.connection, lastStream: arrival.stream, reason: reason)
            answer(arrival, now)
        case .close:
            note(arrival, status: 0, reason: nil)
            arrival.connection.cut()
        case .closeAfterAcceptance:
            process(arrival, now)
            arrival.connection.cut()
        case .blackHole:
            note(arrival, status: 0, reason: nil)
            try? arrival.connection.http.flush()
            arrival.connection.isSilent = true
        case .expireProviderToken:
            judge.expire(arrival.request.first("authorization"))
            answer(arrival, now)
        case .noAnswer:
            note(arrival, status: 0, reason: nil)
        case .noAnswerAfterAcceptance:
            process(arrival, now)
        case .mute(let answersEvery):
            arrival.connection.answersEvery = answersEvery
            if arrival.connection.leavesUnanswered() {
                note(arrival, status: 0, reason: nil)
            } else {
                answer(arrival, now)
            }
        case .maxConcurrentStreams(let limit):
            answer(arrival, now)
            session.submit(maxConcurrentStreams: limit)
        }
    }

    private func goAway(_ connection: StandInConnection, lastStream: Int32, reason: String) {
        connection.lastStream = lastStream
        let text = Self.object { $0.field("reason", reason) }
        connection.http.session.submitGoAway(
            lastStream: lastStream, errorCode: HTTP2ErrorCode.none, reason: text)
    }

    /// The true answer.
    private func answer(_ arrival: Arrival, _ now: PushTime) {
        do throws(PushRefusal) {
            let push = try check(arrival, now)
            let id = arrival.request.first("apns-id") ?? uuid()
            deliver(push, id: id, arrival, now, status: 200)
            arrival.connection.trust(withStreams: configuration.streamsMax)
            var fields = [HTTP2Header(":status", "200"), HTTP2Header("apns-id", id)]
            if configuration.environment == .development { fields.append(HTTP2Header("apns-unique-id", uuid())) }
            arrival.connection.http.session.submitResponse(fields, body: [], stream: arrival.stream)
        } catch {
            refuse(arrival, error, retryAfter: nil)
        }
    }

    /// Accepts a push without telling the sender.
    private func process(_ arrival: Arrival, _ now: PushTime) {
        if let push = try? check(arrival, now) {
            deliver(push, id: arrival.request.first("apns-id") ?? uuid(), arrival, now, status: 0)
        } else {
            note(arrival, status: 0, reason: nil)
        }
    }

    private func check(_ arrival: Arrival, _ now: PushTime) throws(PushRefusal) -> CheckedPush {
        let phones = shared.contents.withLock { $0.courier.phones }
        return try rules.check(arrival.request, phones: phones) { authorization in
            if let reason = judge.refusal(of: authorization, atUnixSeconds: now.unixMs / 1000) {
                return PushRefusal(status: 403, reason: reason)
            }
            return arrival.connection.noteProviderToken(authorization ?? "", atMs: now.monotonicMs)
                ? nil : PushRefusal(status: 429, reason: "TooManyProviderTokenUpdates")
        }
    }

    private func deliver(_ push: CheckedPush, id: String, _ arrival: Arrival, _ now: PushTime, status: Int) {
        note(arrival, status: status, reason: nil)
        shared.contents.withLock { contents in
            contents.courier.counts.accepted += 1
            contents.courier.deliver(push, apnsID: id, atUnixMs: now.unixMs)
        }
    }

    private func refuse(_ arrival: Arrival, _ refusal: PushRefusal, retryAfter: String?) {
        note(arrival, status: refusal.status, reason: refusal.reason)
        var fields = [
            HTTP2Header(":status", String(refusal.status)),
            HTTP2Header("apns-id", arrival.request.first("apns-id") ?? uuid()),
        ]
        if let retryAfter { fields.append(HTTP2Header("retry-after", retryAfter)) }
        let body = Self.object { body in
            body.field("reason", refusal.reason)
            body.field("timestamp", refusal.timestampMs)
        }
        arrival.connection.http.session.submitResponse(fields, body: body, stream: arrival.stream)
    }

    private func note(_ arrival: Arrival, status: Int, reason: String?) {
        let request = arrival.request
        let record = PushRecord(
            arrivedMs: arrival.arrivedMs, connection: arrival.connection.number, stream: arrival.stream,
            apnsID: request.first("apns-id"), deviceTokenEnd: String((request.first(":path") ?? "").suffix(8)),
            pushType: request.first("apns-push-type"), topic: request.first("apns-topic"),
            priority: request.first("apns-priority"),
            expiration: request.first("apns-expiration"), collapseID: request.first("apns-collapse-id"),
            payloadBytes: request.body.count, neverIndexed: request.fields.filter(\.neverIndexed).map(\.name),
            notes: PushRules.notes(on: request),
            status: status, reason: reason)
        shared.contents.withLock { contents in
            contents.courier.counts.pushes += 1
            contents.note(record)
        }
        configuration.record(record)
    }

    private static func object(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
        var text = JSONWriter()
        text.beginObject()
        body(&text)
        text.endObject()
        return text.bytes
    }
}

/// A date in the format of HTTP (RFC 9110 section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
private func httpDate(unixSeconds: Int64) -> String {
    var seconds = time_t(unixSeconds)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let day = "\(days[Int(parts.tm_wday)]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon)]) \(parts.tm_year + 1900)"
    return "\(day) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT"
}

/// A random UUID (RFC 9562, version 4) in lower case.
private func uuid() -> String {
    var bytes = (0..<16).map { _ in UInt8.random(in: 0...255) }
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    var text = hex(bytes)
    for offset in [8, 13, 18, 23] { text.insert("-", at: text.index(text.startIndex, offsetBy: offset)) }
    return text
}
