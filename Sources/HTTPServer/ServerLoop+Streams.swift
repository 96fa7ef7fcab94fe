internal import CMicroHTTP

/// One streamed answer on its way to libmicrohttpd. Used only by the server's thread.
final class StreamSource {
    let stream: HTTPStream
    let connection: Connection
    /// Unowned: libmicrohttpd releases its answers before the loop ends.
    private unowned let loop: ServerLoop

    init(_ stream: HTTPStream, on connection: Connection, of loop: ServerLoop) {
        (self.stream, self.connection, self.loop) = (stream, connection, loop)
    }

    /// A response that reads its bytes when the socket can take some. It is chunked unless its length is known; with
    /// HTTP/1.0 it ends with the connection.
    func makeResponse() -> OpaquePointer? {
        let source = Unmanaged.passRetained(self)
        let response = MHD_create_response_from_callback(
            stream.length.map(UInt64.init) ?? UInt64.max, 16 * 1024,
            { context, _, buffer, count in
                guard let context, let buffer else { return StreamSource.failed }
                return Unmanaged<StreamSource>.fromOpaque(context).takeUnretainedValue().read(into: buffer, count)
            }, source.toOpaque(),
            { context in
                guard let context else { return }
                let source = Unmanaged<StreamSource>.fromOpaque(context).takeRetainedValue()
                source.stream.abandon()
            })
        if response == nil { source.release() }
        return response
    }

    /// The fewest bytes per second that a client must read of a file, because the number of open files is limited.
    private static let fileBytesPerSecondMin = 65_536.0

    /// The time limit for sending the answer: none for a stream; for a file, by its length.
    func phase(from seconds: Double) -> Connection.Phase {
        guard let length = stream.length else { return .streaming }
        return .answering(untilSeconds: seconds + Double(length) / Self.fileBytesPerSecondMin)
    }

    // MHD_CONTENT_READER_END_OF_STREAM and MHD_CONTENT_READER_END_WITH_ERROR, which are casts in C.
    private static let ended = -1
    private static let failed = -2

    private func read(into buffer: UnsafeMutablePointer<CChar>, _ count: Int) -> Int {
        let mailbox = loop.mailbox
        let key = ObjectIdentifier(connection)
        switch stream.next(count, wake: { mailbox.post(stream: key) }) {
        case .bytes(let bytes):
            bytes.withUnsafeBytes {
                UnsafeMutableRawPointer(buffer).copyMemory(from: $0.baseAddress ?? .init(buffer), byteCount: $0.count)
            }
            return bytes.count
        case .end: return Self.ended
        case .cut: return Self.failed
        case .nothingYet:
            // libmicrohttpd asks for no bytes until the connection is resumed.
            loop.suspend(self)
            return 0
        }
    }
}
