internal import CMicroHTTP

/// One request and its answer, from the first line on. Used only by the server's thread.
final class Exchange {
    let connection: Connection
    /// The request's target as sent; `nil` if it is not UTF-8.
    let rawTarget: String?

    /// The head, once it has arrived.
    var head: Head?
    var body: [UInt8] = []
    var droppedBytes = 0
    /// The answer, once the handler has been called.
    var answer: PendingAnswer?

    struct Head {
        var method: String
        var target: RequestTarget
        var headers: [(name: String, value: String)]
        var bodyLimit: HTTPBodyLimit
    }

    init(connection: Connection, rawTarget: String?) {
        self.connection = connection
        self.rawTarget = rawTarget
    }

    var request: HTTPRequest? {
        head.map { head in
            var request = HTTPRequest(
                method: head.method, path: head.target.path, rawPath: head.target.rawPath,
                query: head.target.query.map { ($0.name, $0.value) }, headers: head.headers, body: body)
            request.droppedBytes = droppedBytes
            return request
        }
    }
}

/// A connection and its deadlines. Used only by the server's thread.
final class Connection {
    /// Valid until libmicrohttpd reports the connection as closed, which also ends this object's life.
    let handle: OpaquePointer
    let descriptor: CInt
    var phase: Phase {
        didSet { hasEnded = false }
    }
    /// Whether the client was seen, in this phase, to have closed its side with nothing left to read.
    var hasEnded = false

    enum Phase {
        /// No first line of a request has arrived yet.
        case idle(untilSeconds: Double)
        /// A request is arriving.
        case receiving(untilSeconds: Double)
        /// The handler has the request.
        case handling
        /// The answer is being sent.
        case answering(untilSeconds: Double)
        /// A streamed answer is being sent, for as long as it lasts.
        case streaming
        /// The connection was cut; libmicrohttpd has not noticed yet.
        case cut
    }

    init(handle: OpaquePointer, descriptor: CInt, phase: Phase) {
        self.handle = handle
        self.descriptor = descriptor
        self.phase = phase
    }
}
