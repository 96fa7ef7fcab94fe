import Glibc
import HTTPServer
import Synchronization
import Testing

/// Answers that are written while they are sent.
@Suite struct HTTPStreamTests {
    private static func begin(_ server: TestServer, bytesMax: Int = 1 << 20) throws -> (HTTPStream, RawClient) {
        let client = try #require(RawClient(port: server.port))
        client.send("GET /held?name=s HTTP/1.1\r\nHost: a\r\n\r\n")
        let stream = HTTPStream(bytesMax: bytesMax)
        var response = HTTPResponse(status: 200, headers: [("Content-Type", "text/event-stream")])
        response.stream = stream
        try server.release("s", with: response)
        return (stream, client)
    }

    @Test func `pieces arrive as they are written, and the end ends the answer but not the connection`() throws {
        let server = try TestServer()
        let (stream, client) = try Self.begin(server)
        let head = try #require(client.receiveLine { $0.hasSuffix("\r\n\r\n") })
        #expect(head.hasPrefix("HTTP/1.1 200"))
        #expect(head.lowercased().contains("transfer-encoding: chunked"))
        for piece in ["one", "two", "three"] {
            #expect(stream.write(Array(piece.utf8)))
            let size = String(piece.utf8.count, radix: 16)
            #expect(client.receiveLine { $0.hasSuffix("\(piece)\r\n") } == "\(size)\r\n\(piece)\r\n")
        }
        stream.finish()
        #expect(client.receiveLine { $0.hasSuffix("0\r\n\r\n") } == "0\r\n\r\n")
        client.send("GET /after HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(client.receive()?.body == "/after|")
        #expect(!stream.write([1]))
    }

    @Test func `what is written before the answer is given is sent`() throws {
        let server = try TestServer()
        let client = try #require(RawClient(port: server.port))
        client.send("GET /held?name=s HTTP/1.1\r\nHost: a\r\n\r\n")
        let stream = HTTPStream(bytesMax: 100)
        stream.write(Array("early".utf8))
        stream.finish()
        var response = HTTPResponse(status: 200)
        response.stream = stream
        try server.release("s", with: response)
        #expect(client.receiveLine { $0.hasSuffix("0\r\n\r\n") }?.contains("5\r\nearly\r\n") == true)
    }

    @Test func `whoever writes hears that the client has gone`() throws {
        let server = try TestServer()
        let stream: HTTPStream
        do {
            let (begun, client) = try Self.begin(server)
            _ = client.receiveLine { $0.hasSuffix("\r\n\r\n") }
            stream = begun
        }
        // The first bytes find a socket that is closed at the other end; the next ones a reset.
        while stream.write([UInt8(ascii: ".")]) { sched_yield() }
        #expect(stream.isOver)
        try server.wait { $0.connectionsOpen == 0 }
    }

    @Test func `a client that leaves a silent stream is noticed at once`() throws {
        let server = try TestServer()
        let stream: HTTPStream
        do {
            let (first, client) = try Self.begin(server)
            first.finish()
            #expect(client.receiveLine { $0.hasSuffix("0\r\n\r\n") } != nil)
            client.send("GET /held?name=second HTTP/1.1\r\nHost: a\r\n\r\n")
            stream = HTTPStream(bytesMax: 100)
            var response = HTTPResponse(status: 200)
            response.stream = stream
            try server.release("second", with: response)
            _ = client.receiveLine { $0.hasSuffix("\r\n\r\n") }
            #expect(!stream.isOver)
        }
        // Nothing is written, so only the closed socket shows that the client left.
        try server.wait { $0.connectionsOpen == 0 }
        #expect(stream.isOver)
        #expect(!stream.write([1]))
    }

    @Test func `a client that takes nothing is cut off, and others are served`() throws {
        let server = try TestServer()
        let (stream, client) = try Self.begin(server, bytesMax: 1 << 20)
        let piece = [UInt8](repeating: 0x61, count: 1 << 16)
        while stream.write(piece) {}
        #expect(stream.isOver)
        let other = try #require(RawClient(port: server.port))
        other.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(other.receive()?.status == 200)
        // The bytes in the sockets arrive, without a proper end.
        #expect(client.receiveLine { _ in false }?.hasSuffix("0\r\n\r\n") != true)
    }

    @Test func `stopping ends the streams in good order`() throws {
        let server = try TestServer()
        let (stream, client) = try Self.begin(server)
        _ = client.receiveLine { $0.hasSuffix("\r\n\r\n") }
        let stopping = TestThread { server.server.stop() }
        #expect(client.receiveLine { $0.hasSuffix("0\r\n\r\n") } == "0\r\n\r\n")
        #expect(client.isEnded)
        stopping.join()
        #expect(!stream.write([1]))
    }

    @Test func `a hundred streams at once each get their own`() throws {
        let server = try TestServer()
        let pairs = try (0..<100).map { number -> (HTTPStream, RawClient) in
            let client = try #require(RawClient(port: server.port))
            client.send("GET /held?name=\(number) HTTP/1.1\r\nHost: a\r\n\r\n")
            let stream = HTTPStream(bytesMax: 1000)
            var response = HTTPResponse(status: 200)
            response.stream = stream
            try server.release("\(number)", with: response)
            return (stream, client)
        }
        let streams = pairs.map(\.0)
        let writers = (0..<4).map { part in
            TestThread {
                for (number, stream) in streams.enumerated() where number % 4 == part {
                    stream.write(Array("<\(number)>".utf8))
                    stream.finish()
                }
            }
        }
        for (number, pair) in pairs.enumerated() {
            #expect(pair.1.receiveLine { $0.hasSuffix("0\r\n\r\n") }?.contains("<\(number)>") == true)
        }
        for writer in writers { writer.join() }
    }
}

extension RawClient {
    /// The received text once it is as wanted or the connection has ended; `nil` if there is none.
    func receiveLine(_ isWhole: (String) -> Bool) -> String? {
        while true {
            let text = String(decoding: pending, as: UTF8.self)
            if isWhole(text) || !readMore() {
                defer { clear() }
                return pending.isEmpty ? nil : String(decoding: pending, as: UTF8.self)
            }
        }
    }
}
