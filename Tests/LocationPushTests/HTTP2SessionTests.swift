import LocationPush
import Testing

/// The events by which a session reports its writing.
@Suite struct HTTP2SessionTests {
    private final class Listener: HTTP2Events {
        var begun: [Int32] = []
        var gone: [Int32] = []

        func sends(headersOf stream: Int32) { begun.append(stream) }
        func closed(stream: Int32, errorCode: UInt32) { gone.append(stream) }
        func received(header name: String, _ value: String, neverIndexed: Bool, stream: Int32) {}
        func received(body bytes: UnsafeRawBufferPointer, stream: Int32) {}
        func ended(stream: Int32) {}
        func received(resetOf stream: Int32, errorCode: UInt32) {}
        func received(maxConcurrentStreams: Int) {}
        func received(goAwayAfter lastStream: Int32, errorCode: UInt32, reason: [UInt8]) {}
        func pingAcknowledged() {}
    }

    private let fields = [
        HTTP2Header(":method", "POST"), HTTP2Header(":scheme", "https"), HTTP2Header(":authority", "a.example"),
        HTTP2Header(":path", "/3/device/secret", neverIndexed: true),
    ]

    /// The types of the frames in a client's output, in order (RFC 9113 section 4.1): 0 is DATA, 1 HEADERS, 3 RST_STREAM.
    private func frames(_ bytes: [UInt8]) -> [UInt8] {
        let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
        var rest = bytes.starts(with: preface) ? bytes.dropFirst(preface.count) : bytes[...]
        var types: [UInt8] = []
        while rest.count >= 9 {
            let head = Array(rest.prefix(9))
            types.append(head[3])
            rest = rest.dropFirst(9 + (Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])))
        }
        return types
    }

    @Test func `a request counts as written once its HEADERS are sent, and not before`() throws {
        let listener = Listener()
        let session = HTTP2Session.client(events: listener)
        var output: [UInt8] = []
        try session.takeOutput(into: &output, upTo: 16_384)
        let streams = [
            try session.submitRequest(fields, body: [1, 2, 3]), try session.submitRequest(fields, body: [4]),
        ]
        #expect(listener.begun.isEmpty)
        output = []
        try session.takeOutput(into: &output, upTo: 1)
        #expect(listener.begun == [streams[0]])
        try session.takeOutput(into: &output, upTo: 16_384)
        #expect(listener.begun == streams)
        #expect(frames(output) == [1, 1, 0, 0])
    }

    @Test func `a request that is reset before it is written sends no byte`() throws {
        let listener = Listener()
        let session = HTTP2Session.client(events: listener)
        var output: [UInt8] = []
        try session.takeOutput(into: &output, upTo: 16_384)
        let recalled = try session.submitRequest(fields, body: [1, 2, 3])
        let kept = try session.submitRequest(fields, body: [4])
        session.submitReset(stream: recalled, errorCode: HTTP2ErrorCode.cancel)
        output = []
        try session.takeOutput(into: &output, upTo: 16_384)
        #expect(listener.begun == [kept])
        #expect(listener.gone == [recalled])
        #expect(frames(output) == [1, 0])
    }
}
