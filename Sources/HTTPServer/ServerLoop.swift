internal import CMicroHTTP
internal import CSupport
internal import Glibc
internal import Synchronization
internal import Threading

/// The server's thread: libmicrohttpd, driven by one `poll`, with the time limits that libmicrohttpd does not have.
///
/// Unchecked: mutable state that is not atomic is used by `start`, which returns before the thread is made, and then
/// only by that thread. libmicrohttpd calls back only from within calls of that thread.
final class ServerLoop: @unchecked Sendable {
    /// The least bytes per second that a client must take of an answer.
    private static let answerBytesPerSecondMin = 1024.0

    let configuration: HTTPServerConfiguration
    let counters = LiveCounters()
    let mailbox: Mailbox
    private let handler: @Sendable (HTTPRequest, HTTPResponder) -> Void
    private let isStopping = Atomic(false)

    private var daemon: OpaquePointer?
    private let options = UnsafeMutablePointer<http_daemon_options>.allocate(capacity: 1)
    private var connections: [OpaquePointer: Connection] = [:]
    /// The connections for which there are descriptors.
    private let connectionLimit: Int
    /// Whether the limit is reached. From then on libmicrohttpd ignores the listening socket.
    private var isFull = false
    /// The requests whose connections are suspended.
    private var waiting: [ObjectIdentifier: Exchange] = [:]
    /// The streamed answers whose connections are suspended until they have more bytes.
    private var streaming: [ObjectIdentifier: StreamSource] = [:]
    /// The streamed answers under way, by their sockets.
    private var streams: [CInt: StreamSource] = [:]
    private let departures = Departures()
    private var lingering = LingeringSockets()
    /// When connections are next checked for ones that took too long.
    private var nextSweepSeconds = 0.0
    /// The monotonic clock, read once in each round.
    private var nowSeconds = 0.0
    /// When stopping ends unanswered requests; `nil` while the server runs.
    private var drainUntilSeconds: Double?
    /// The time after which a stopping server refuses incomplete requests.
    private var receiveUntilSeconds = 0.0
    private let lastCall = Mutex<(@Sendable () -> Void)?>(nil)

    init(
        _ configuration: HTTPServerConfiguration, mailbox: Mailbox,
        handler: @escaping @Sendable (HTTPRequest, HTTPResponder) -> Void
    ) {
        self.configuration = configuration
        self.mailbox = mailbox
        self.handler = handler
        connectionLimit = DescriptorLimit.room(forConnections: configuration.connectionLimit)
    }

    deinit {
        options.deallocate()
    }

    // MARK: - The life of the thread

    /// Takes over the listening descriptor, even if it fails.
    func start(listeningDescriptor: CInt) -> Bool {
        options.initialize(
            to: http_daemon_options(
                listening_descriptor: listeningDescriptor,
                connection_limit: UInt32(clamping: connectionLimit),
                inactivity_seconds_max: UInt32(configuration.idleTimeoutSeconds.rounded(.up)),
                connection_memory_bytes: configuration.headerMemoryLimit,
                context: Unmanaged.passUnretained(self).toOpaque(),
                connection_opened: { ServerLoop.at($0)?.opened($1) },
                connection_closed: { ServerLoop.at($0)?.closed($1) },
                request_begun: { ServerLoop.at($0)?.began(target: $1, on: $2) },
                request_continued: { ServerLoop.at($0)?.continued($1, $2, $3, $4, $5, $6) == true ? 1 : 0 },
                request_ended: { ServerLoop.at($0)?.ended($2) }))
        daemon = http_daemon_start(options)
        if daemon == nil { close(listeningDescriptor) }
        return daemon != nil
    }

    private static func at(_ context: UnsafeMutableRawPointer?) -> ServerLoop? {
        context.map { Unmanaged<ServerLoop>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Asks the thread to end; may be called on any thread.
    ///
    /// - Parameter lastCall: As for ``HTTPServer/stop(lastCall:)``.
    func stop(lastCall: (@Sendable () -> Void)? = nil) {
        if let lastCall { self.lastCall.withLock { $0 = lastCall } }
        isStopping.store(true, ordering: .releasing)
        mailbox.wake()
    }

    /// Undoes `start` if no thread can be made.
    func giveUp() {
        MHD_stop_daemon(daemon)
        daemon = nil
    }

    /// Serves until `stop()`.
    func run() {
        guard let daemon else { preconditionFailure("A server runs after it was started.") }
        let events = http_daemon_epoll_descriptor(daemon)
        while !isDrained {
            wait(
                for: [events, mailbox.descriptor, departures.descriptor] + lingering.descriptors,
                millisecondsMax: pause(of: daemon))
            nowSeconds = MonotonicClock.seconds
            let (answers, streams) = mailbox.takeAll()
            for answer in answers { resume(answer) }
            for stream in streams { resume(stream: stream) }
            for socket in departures.take() { left(socket) }
            MHD_run(daemon)
            if isFull && connections.count < connectionLimit {
                // libmicrohttpd begins to listen again only at the beginning of a run, and nothing else would wake us.
                isFull = false
                MHD_run(daemon)
            }
            lingering.drain(nowSeconds: nowSeconds)
            if isStopping.load(ordering: .acquiring) { drain(daemon) }
            if nowSeconds >= nextSweepSeconds { sweep() }
        }
        end(daemon)
    }

    private func wait(for descriptors: [CInt], millisecondsMax: CInt) {
        var polled = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        // Interrupted or not, the next round checks everything.
        _ = poll(&polled, nfds_t(polled.count), millisecondsMax)
    }

    /// The milliseconds until something must be done even if nothing arrives.
    private func pause(of daemon: OpaquePointer) -> CInt {
        var milliseconds: UInt64 = 0
        let hasTimeout = MHD_get_timeout(daemon, &milliseconds) == .YES
        if hasTimeout && milliseconds == 0 { return 0 }
        let untilSweep = max(0, (nextSweepSeconds - MonotonicClock.seconds) * 1000).rounded(.up)
        let isQuiet = connections.isEmpty && lingering.isEmpty && drainUntilSeconds == nil
        let pause = isQuiet ? 60_000 : min(untilSweep, drainUntilSeconds == nil ? 1000 : Self.drainTickMilliseconds)
        return CInt(hasTimeout ? min(pause, Double(min(milliseconds, 60_000))) : pause)
    }

    /// Closes connections that took too long.
    private func sweep() {
        // At most a quarter of the deadline late.
        nextSweepSeconds = nowSeconds + min(1, configuration.requestDeadlineSeconds / 4)
        endAbandoned()
        for connection in connections.values {
            switch connection.phase {
            case .receiving(let until) where until <= nowSeconds:
                // Nothing is sent while a request arrives, so this answer cannot mix with another.
                send(
                    .problem(408, title: "Too slow", detail: "The request took too long to arrive; send it again."),
                    to: connection)
                cut(connection)
                counters.cutByDeadline.add(1, ordering: .relaxed)
            case .idle(let until) where until <= nowSeconds, .answering(let until) where until <= nowSeconds:
                cut(connection)
                counters.cutByDeadline.add(1, ordering: .relaxed)
            default:
                break
            }
        }
    }

    /// Ends connections whose clients have left without a complete request.
    ///
    /// If the last bytes and the end arrive together, libmicrohttpd reads the bytes and waits for another event of its
    /// edge-triggered epoll, which never comes. A connection seen in this state twice, one sweep apart, has nothing
    /// left to serve.
    private func endAbandoned() {
        let candidates = connections.values.filter { connection in
            switch connection.phase {
            case .idle, .receiving: true
            case .handling, .answering, .streaming, .cut: false
            }
        }
        guard !candidates.isEmpty else { return }
        // The client has closed its side: POLLRDHUP, which Swift's Glibc module lacks.
        let end: Int16 = 0x2000
        var polled = candidates.map { pollfd(fd: $0.descriptor, events: end, revents: 0) }
        guard poll(&polled, nfds_t(polled.count), 0) > 0 else { return }
        for (connection, result) in zip(candidates, polled) where result.revents & end != 0 {
            var unread: CInt = 0
            guard ioctl(connection.descriptor, UInt(FIONREAD), &unread) == 0, unread == 0 else { continue }
            if connection.hasEnded { cut(connection) }
            connection.hasEnded = true
        }
    }

    /// Ends the connection; libmicrohttpd notices in its next round and cleans up.
    private func cut(_ connection: Connection) {
        connection.phase = .cut
        shutdown(connection.descriptor, CInt(SHUT_RDWR))
    }

    // MARK: - Stopping

    private static let drainTickMilliseconds = 50.0
    /// How long a request may still take to arrive after the server began to stop.
    private static let lastArrivalSeconds = 1.0
    /// How long answers may take to be sent after the last call.
    private static let lastAnswersSeconds = 0.5

    /// Whether stopping is complete: no connection is left, or the time is up.
    private var isDrained: Bool {
        drainUntilSeconds.map { connections.isEmpty && lingering.isEmpty || $0 <= nowSeconds } ?? false
    }

    private func drain(_ daemon: OpaquePointer) {
        if drainUntilSeconds == nil {
            drainUntilSeconds = nowSeconds + configuration.drainSeconds
            receiveUntilSeconds = nowSeconds + min(Self.lastArrivalSeconds, configuration.drainSeconds)
            let descriptor = MHD_quiesce_daemon(daemon)
            if descriptor >= 0 { close(descriptor) }
        }
        // Streams end regularly; those under way end when they ask for more bytes.
        for source in streaming.values { source.stream.finish() }
        for connection in connections.values {
            switch connection.phase {
            case .idle: cut(connection)
            case .receiving where receiveUntilSeconds <= nowSeconds:
                send(Self.stopping, to: connection)
                cut(connection)
            default: break
            }
        }
        // The last call decides which requests get an answer; the others are refused.
        if let until = drainUntilSeconds, until <= nowSeconds, !waiting.isEmpty,
            let lastCall = lastCall.withLock({ $0.take() })
        {
            lastCall()
            nowSeconds = MonotonicClock.seconds
            drainUntilSeconds = nowSeconds + Self.lastAnswersSeconds
        }
    }

    private static let stopping = HTTPResponse.problem(
        503, title: "Stopping", detail: "The service is stopping; send the same request again later.")

    private func end(_ daemon: OpaquePointer) {
        // libmicrohttpd must not be stopped with suspended connections.
        for (_, exchange) in waiting {
            exchange.answer?.abandon()
            counters.requestsWaiting.subtract(1, ordering: .relaxed)
            send(Self.stopping, to: exchange.connection)
            cut(exchange.connection)
            MHD_resume_connection(exchange.connection.handle)
        }
        waiting = [:]
        for source in streaming.values {
            source.stream.abandon()
            MHD_resume_connection(source.connection.handle)
        }
        streaming = [:]
        MHD_run(daemon)
        MHD_stop_daemon(daemon)
        lingering.closeAll()
        self.daemon = nil
    }

    // MARK: - Callbacks of libmicrohttpd

    private func opened(_ handle: OpaquePointer?) -> UnsafeMutableRawPointer? {
        guard let handle else { return nil }
        let connection = Connection(
            handle: handle, descriptor: http_connection_descriptor(handle),
            phase: .idle(untilSeconds: nowSeconds + configuration.requestDeadlineSeconds))
        connections[handle] = connection
        if connections.count >= connectionLimit { isFull = true }
        counters.connectionsAccepted.add(1, ordering: .relaxed)
        counters.connectionsOpen.add(1, ordering: .relaxed)
        return Unmanaged.passRetained(connection).toOpaque()
    }

    private func closed(_ context: UnsafeMutableRawPointer?) {
        guard let context else { return }
        let connection = Unmanaged<Connection>.fromOpaque(context).takeRetainedValue()
        connections[connection.handle] = nil
        counters.connectionsOpen.subtract(1, ordering: .relaxed)
    }

    private func began(target: UnsafePointer<CChar>?, on handle: OpaquePointer?) -> UnsafeMutableRawPointer? {
        guard let handle, let target, let connection = connections[handle] else { return nil }
        connection.phase = .receiving(untilSeconds: nowSeconds + configuration.requestDeadlineSeconds)
        let exchange = Exchange(connection: connection, rawTarget: String(validatingCString: target))
        return Unmanaged.passRetained(exchange).toOpaque()
    }

    /// - Returns: `false` to close the connection.
    private func continued(
        _ handle: OpaquePointer?, _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?,
        _ bytes: UnsafePointer<UInt8>?, _ length: UnsafeMutablePointer<Int>?, _ context: UnsafeMutableRawPointer?
    ) -> Bool {
        guard let method, let version, let length, let context else { return false }
        let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
        guard let head = exchange.head else {
            do {
                try exchange.readHead(
                    method: String(cString: method), version: String(cString: version), configuration)
                return true
            } catch {
                return refuse(exchange, error.response, isHead: String(cString: method) == "HEAD")
            }
        }
        guard length.pointee == 0 else {
            let kept = min(length.pointee, head.bodyLimit.bytes - exchange.body.count)
            exchange.body.append(contentsOf: UnsafeBufferPointer(start: bytes, count: kept))
            exchange.droppedBytes += length.pointee - kept
            guard exchange.body.count + exchange.droppedBytes <= head.bodyLimit.receivedBytes else {
                return refuse(exchange, Exchange.HeadRefusal.bodyTooLong.response, isHead: false)
            }
            length.pointee = 0
            return true
        }
        guard let answer = exchange.answer else { return dispatch(exchange) }
        // The connection was resumed.
        guard let response = answer.takeOrAwait() else { return false }
        return queue(response, for: exchange)
    }

    private func ended(_ context: UnsafeMutableRawPointer?) {
        guard let context else { return }
        let exchange = Unmanaged<Exchange>.fromOpaque(context).takeRetainedValue()
        exchange.answer?.abandon()
        if streams.removeValue(forKey: exchange.connection.descriptor) != nil {
            departures.forget(exchange.connection.descriptor)
        }
        if case .cut = exchange.connection.phase { return }
        let seconds = configuration.idleTimeoutSeconds + configuration.requestDeadlineSeconds
        exchange.connection.phase = .idle(untilSeconds: nowSeconds + seconds)
    }

    // MARK: - Answering

    private func dispatch(_ exchange: Exchange) -> Bool {
        guard let request = exchange.request else { return false }
        counters.requests.add(1, ordering: .relaxed)
        counters.bodyBytesReceived.add(request.body.count, ordering: .relaxed)
        exchange.body = []
        exchange.connection.phase = .handling
        let answer = PendingAnswer(mailbox: mailbox)
        exchange.answer = answer
        handler(request, HTTPResponder(answer))
        if let response = answer.takeOrAwait() { return queue(response, for: exchange) }
        counters.requestsWaiting.add(1, ordering: .relaxed)
        waiting[ObjectIdentifier(answer)] = exchange
        MHD_suspend_connection(exchange.connection.handle)
        return true
    }

    private func resume(_ answer: PendingAnswer) {
        guard let exchange = waiting.removeValue(forKey: ObjectIdentifier(answer)) else { return }
        counters.requestsWaiting.subtract(1, ordering: .relaxed)
        MHD_resume_connection(exchange.connection.handle)
    }

    private func queue(_ response: HTTPResponse, for exchange: Exchange) -> Bool {
        if let stream = response.stream {
            return queue(response, stream, on: exchange.connection)
        }
        var response = response
        var prepared = prepare(response)
        if prepared == nil {
            response = .problem(500, title: "Broken", detail: "The answer could not be sent; send the request again.")
            prepared = prepare(response)
        }
        guard let prepared else { return false }
        defer { MHD_destroy_response(prepared) }
        counters.countAnswer(status: response.status)
        counters.bodyBytesSent.add(response.body.count, ordering: .relaxed)
        let seconds =
            configuration.requestDeadlineSeconds + Double(response.body.count) / Self.answerBytesPerSecondMin
        exchange.connection.phase = .answering(untilSeconds: nowSeconds + seconds)
        return MHD_queue_response(exchange.connection.handle, UInt32(response.status), prepared) == .YES
    }

    private func queue(_ response: HTTPResponse, _ stream: HTTPStream, on connection: Connection) -> Bool {
        precondition(response.status == 200, "A stream is sent with 200.")
        let source = StreamSource(stream, on: connection, of: self)
        guard let prepared = source.makeResponse() else { return false }
        defer { MHD_destroy_response(prepared) }
        for header in response.headers {
            guard MHD_add_response_header(prepared, header.name, header.value) == .YES else { return false }
        }
        counters.countAnswer(status: response.status)
        // For a client that reads nothing, the bound is the waiting bytes; for a file it is the time limit.
        connection.phase = source.phase(from: nowSeconds + configuration.requestDeadlineSeconds)
        if drainUntilSeconds != nil { stream.finish() }
        streams[connection.descriptor] = source
        departures.watch(connection.descriptor)
        return MHD_queue_response(connection.handle, UInt32(response.status), prepared) == .YES
    }

    /// Suspends a connection until its stream has more bytes. Called by libmicrohttpd for this connection.
    func suspend(_ source: StreamSource) {
        streaming[ObjectIdentifier(source.connection)] = source
        MHD_suspend_connection(source.connection.handle)
    }

    private func resume(stream key: ObjectIdentifier) {
        guard let source = streaming.removeValue(forKey: key) else { return }
        MHD_resume_connection(source.connection.handle)
    }

    /// Ends the stream of a client that has left.
    private func left(_ socket: CInt) {
        guard let source = streams[socket] else { return }
        source.stream.abandon()
        cut(source.connection)
        resume(stream: ObjectIdentifier(source.connection))
    }

    private func prepare(_ response: HTTPResponse) -> OpaquePointer? {
        precondition((200...599).contains(response.status), "An answer's status is 200 to 599.")
        let prepared = response.body.withUnsafeBytes { body in
            // Copied, so the pointer is only read.
            MHD_create_response_from_buffer(
                body.count, UnsafeMutableRawPointer(mutating: body.baseAddress), .RESPMEM_MUST_COPY)
        }
        guard let prepared else { return nil }
        var headers = response.headers
        if drainUntilSeconds != nil { headers.append(("Connection", "close")) }
        let isGood = headers.allSatisfy { header in
            // Given as strings, both would be copied to arrays first.
            header.name.withCString { name in
                header.value.withCString { MHD_add_response_header(prepared, name, $0) == .YES }
            }
        }
        if isGood { return prepared }
        MHD_destroy_response(prepared)
        return nil
    }

    /// Answers a request without reading the rest of it, and closes the connection.
    private func refuse(_ exchange: Exchange, _ response: HTTPResponse, isHead: Bool) -> Bool {
        if response.status == 413 { counters.bodiesTooLong.add(1, ordering: .relaxed) }
        send(response, to: exchange.connection, isHead: isHead)
        lingering.add(duplicateOf: exchange.connection.descriptor, nowSeconds: nowSeconds)
        exchange.connection.phase = .cut
        return false
    }

    private func send(_ response: HTTPResponse, to connection: Connection, isHead: Bool = false) {
        counters.countAnswer(status: response.status)
        DirectAnswer.send(response, isHead: isHead, to: connection.descriptor)
    }
}
