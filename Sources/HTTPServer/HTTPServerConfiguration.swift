/// The address of a server and its bounds.
package struct HTTPServerConfiguration: Sendable {
    /// A numeric IPv4 or IPv6 address, or `localhost` for 127.0.0.1.
    package var host = "127.0.0.1"
    /// 0 lets the system choose; ``HTTPServer/port`` is the chosen one.
    package var port = 0
    /// Whether addresses that other machines can reach may be bound. The server has no TLS; put a reverse proxy with
    /// TLS in front of it.
    package var allowNonLoopback = false
    /// The most connections at the same time; fewer if the process may not have enough descriptors. Further ones wait
    /// to be accepted. The number is large, so that a proxy, or a client that opens thousands of silent connections,
    /// leaves room for others.
    package var connectionLimit = 16_384
    /// The seconds that a request may take from its first line to the last byte of its body. A client has the same time
    /// to take the answer, plus one second for each KiB. The handler's time is not limited.
    package var requestDeadlineSeconds = 30.0
    /// The seconds without a byte after which a connection is closed, rounded up to whole ones. A connection that sends
    /// single bytes without completing the first line of its next request is closed after this time plus the deadline.
    package var idleTimeoutSeconds = 60.0
    /// The bytes of memory for the request line, the header fields and libmicrohttpd's data about them. It must be much
    /// larger than ``headBytesMax``, because libmicrohttpd answers in HTML if it has too little memory.
    package var headerMemoryLimit = 24 * 1024
    /// The most bytes of the request line and the header fields together; more is refused with 431.
    package var headBytesMax = 8 * 1024
    /// The most header fields of a request; more are refused with 431.
    package var headerFieldsMax = 64
    /// The longest body, by method and path, asked once the head has arrived. A longer body gets 413, and the
    /// connection is closed without reading on. Called on the server's thread.
    package var bodyLimit: @Sendable (_ method: String, _ path: String) -> HTTPBodyLimit = { _, _ in
        HTTPBodyLimit(64 * 1024)
    }
    /// The seconds that ``HTTPServer/stop(lastCall:)`` waits for answers to requests already received. Later answers are
    /// replaced by 503.
    package var drainSeconds = 3.0

    /// 127.0.0.1, a free port, and the bounds above.
    package init() {}
}

/// The bounds of a request's body.
package struct HTTPBodyLimit: Sendable {
    /// The bytes that the handler gets.
    package let bytes: Int
    /// The bytes that are received. Those beyond ``bytes`` are dropped and counted in ``HTTPRequest/droppedBytes``; a
    /// still longer body is refused.
    package let receivedBytes: Int

    /// - Parameter receivedBytes: At least `bytes`, which is the default.
    package init(_ bytes: Int, receiving receivedBytes: Int? = nil) {
        (self.bytes, self.receivedBytes) = (bytes, receivedBytes ?? bytes)
    }
}
