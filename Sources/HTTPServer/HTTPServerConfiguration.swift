/// Where a server listens and what it bears.
package struct HTTPServerConfiguration: Sendable {
    /// A numeric IPv4 or IPv6 address, or `localhost` for 127.0.0.1.
    package var host = "127.0.0.1"
    /// 0 lets the system choose; ``HTTPServer/port`` says which it was.
    package var port = 0
    /// Whether an address that others can reach may be bound. The server speaks no TLS: in front of it belongs a
    /// reverse proxy that does.
    package var allowNonLoopback = false
    /// Connections open at the same time, fewer where the process may not have so many descriptors; beyond, new ones wait
    /// to be accepted. So many that a proxy, or somebody who opens thousands and says nothing, leaves room for others.
    package var connectionLimit = 16_384
    /// Seconds a request may take to arrive from its first line to the last byte of its body, and also what a client
    /// gets to take the answer, besides a second for each KiB. It does not limit the handler.
    package var requestDeadlineSeconds = 30.0
    /// Seconds without a byte after which a connection is closed, rounded up to whole ones. A connection that
    /// dribbles a next request without ever completing its first line is closed after this and the deadline together.
    package var idleTimeoutSeconds = 60.0
    /// The bytes of memory for the request line, the header fields and libmicrohttpd's data about them. It must be much
    /// larger than ``headBytesMax``, because libmicrohttpd answers in HTML if it has too little memory.
    package var headerMemoryLimit = 24 * 1024
    /// The most bytes of the request line and the header fields together; more is refused with 431.
    package var headBytesMax = 8 * 1024
    /// The most header fields of a request; more are refused with 431.
    package var headerFieldsMax = 64
    /// How long a body may be, asked once the header has arrived. Beyond, the answer is 413 and the connection is
    /// closed without reading on. Called on the server's thread.
    package var bodyLimit: @Sendable (_ method: String, _ path: String) -> HTTPBodyLimit = { _, _ in
        HTTPBodyLimit(64 * 1024)
    }
    /// Seconds that ``HTTPServer/stop()`` waits for requests already received to be answered; later ones get 503.
    package var drainSeconds = 3.0

    /// 127.0.0.1, a port that is free, and the bounds of the declarations above.
    package init() {}
}

/// How long the body of a request may be.
package struct HTTPBodyLimit: Sendable {
    /// As much of it the handler is given.
    package let bytes: Int
    /// As much is received: what is between the two is dropped, and counted in ``HTTPRequest/droppedBytes``.
    package let receivedBytes: Int

    package init(_ bytes: Int, receiving receivedBytes: Int? = nil) {
        (self.bytes, self.receivedBytes) = (bytes, receivedBytes ?? bytes)
    }
}
