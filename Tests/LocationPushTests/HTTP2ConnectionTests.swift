import Glibc
import LocationPush
import PushStandIn
import TestSupport
import Testing

/// The end of a connection, over a real socket on loopback. Both ends are driven by the test's own thread.
@Suite struct HTTP2ConnectionTests {
    private final class Listener: HTTP2Events {
        var ended: [Int32] = []
        var lastStreams: [Int32] = []

        func ended(stream: Int32) { ended.append(stream) }
        func received(goAwayAfter lastStream: Int32, errorCode: UInt32, reason: [UInt8]) {
            lastStreams.append(lastStream)
        }
        func sends(headersOf stream: Int32) {}
        func closed(stream: Int32, errorCode: UInt32) {}
        func received(header name: String, _ value: String, neverIndexed: Bool, stream: Int32) {}
        func received(body bytes: UnsafeRawBufferPointer, stream: Int32) {}
        func received(resetOf stream: Int32, errorCode: UInt32) {}
        func received(maxConcurrentStreams: Int) {}
        func pingAcknowledged() {}
    }

    private let fields = [
        HTTP2Header(":method", "POST"), HTTP2Header(":scheme", "https"), HTTP2Header(":authority", "localhost"),
        HTTP2Header(":path", "/3/device/0"),
    ]

    /// A client's and a server's end whose handshake is done.
    private struct Pair {
        let clientEvents = Listener(), serverEvents = Listener()
        let client, server: HTTP2Connection
        private let folder = TemporaryFolder()

        init() throws {
            // As on the threads of the sender and the stand-in.
            signal(SIGPIPE, SIG_IGN)
            let credentials = try PushStandInCredentials.make(in: folder.path)
            let listener = try LoopbackListener(port: 0)
            let address = try #require(try SocketAddress.resolve(host: "127.0.0.1", port: listener.port).first)
            client = try HTTP2Connection(
                try address.beginConnecting(), context: try TLSContext(trusting: credentials.trustFile),
                serverName: "localhost", session: .client(events: clientEvents))
            try HTTP2ConnectionTests.wait(listener.descriptor)
            server = try HTTP2Connection(
                try #require(listener.acceptNext()),
                context: try TLSContext(
                    certificateFile: credentials.serverCertificateFile, keyFile: credentials.serverKeyFile),
                serverName: nil, session: .server(events: serverEvents, maxConcurrentStreams: 100))
            for _ in 0..<1000 where client.stage != .open || server.stage != .open {
                try client.advance()
                try server.advance()
                usleep(1000)
            }
            try #require(client.stage == .open && server.stage == .open)
        }
    }

    /// Waits until bytes, a connection or an end has come.
    private static func wait(_ descriptor: Int32) throws {
        var one = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        try #require(poll(&one, 1, 60_000) == 1)
    }

    /// The system resets the connection when a request comes to a server that has closed, and the client's next write
    /// fails before the client has read anything.
    @Test func `a write that fails does not cost the client what the server said before`() throws {
        let pair = try Pair()
        let first = try pair.client.session.submitRequest(fields, body: [])
        try pair.client.flush()
        try Self.wait(pair.server.descriptor)
        for _ in 0..<1000 where pair.serverEvents.ended.isEmpty {
            try pair.server.advance()
            usleep(1000)
        }
        pair.server.session.submitResponse([HTTP2Header(":status", "200")], body: [], stream: first)
        pair.server.session.submitGoAway(lastStream: first, errorCode: HTTP2ErrorCode.none, reason: [])
        #expect(throws: TransportFault.self) { try pair.server.advance() }
        #expect(pair.server.stage == .closed)
        #expect(throws: TransportFault.self) {
            for _ in 0..<1000 {
                _ = try pair.client.session.submitRequest(fields, body: [])
                try pair.client.flush()
                usleep(1000)
            }
        }
        #expect(pair.clientEvents.ended == [first])
        #expect(pair.clientEvents.lastStreams == [first])
    }
}
