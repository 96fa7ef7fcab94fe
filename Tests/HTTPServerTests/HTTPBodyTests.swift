import HTTPServer
import Testing

@Suite(.timeLimit(.minutes(10))) struct HTTPBodyTests {
    @Test func `a body arrives whole, in one piece or in chunks`() throws {
        let server = try TestServer()
        let client = try #require(RawClient(port: server.port))
        let body = String(repeating: "0123456789", count: 10_000)
        client.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n\(body)")
        #expect(client.receive()?.body == body)
        client.send("POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
        for start in stride(from: 0, to: 100_000, by: 12_345) {
            let piece = body.dropFirst(start).prefix(12_345)
            client.send("\(String(piece.count, radix: 16))\r\n\(piece)\r\n")
        }
        client.send("0\r\n\r\n")
        #expect(client.receive()?.body == body)
    }

    @Test(arguments: ["POST", "PUT", "PATCH", "DELETE", "GET"])
    func `a body announced as too long is refused unread, and nothing after it is served`(method: String) throws {
        let server = try TestServer()
        let client = try #require(RawClient(port: server.port))
        let next = "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n"
        client.send("\(method) /x HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\n\(next)")
        let answer = try #require(client.receive())
        #expect(answer.status == 413)
        #expect(answer.header("connection") == "close")
        #expect(answer.header("content-type") == "application/problem+json")
        #expect(
            answer.body == #"{"type":"urn:problem-type:too-long","title":"Too long","status":413,"#
                + #""detail":"The request's body is too long; send it in parts."}"#)
        #expect(client.isEnded)
        #expect(server.requests.isEmpty)
        #expect(server.server.counters.bodiesTooLong == 1)
    }

    @Test func `a client that sends all of a body that is too long still reads the refusal`() throws {
        let server = try TestServer()
        for _ in 0..<50 {
            let client = try #require(RawClient(port: server.port))
            client.send("POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 60000\r\n\r\n")
            client.send(Array(repeating: 0x61, count: 60000))
            #expect(client.receive()?.status == 413)
        }
    }

    @Test func `an endless body in chunks is refused as soon as it is too long`() throws {
        let server = try TestServer()
        let client = try #require(RawClient(port: server.port))
        client.send("POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
        let chunk = Array("1000\r\n".utf8) + Array(repeating: 0x61, count: 4096) + Array("\r\n".utf8)
        var sent = 0
        while sent < 10_000_000, client.send(chunk) { sent += 4096 }
        // The sockets' buffers and the discarded bytes are far smaller.
        #expect(sent < 10_000_000)
        #expect(client.receive()?.status == 413)
        #expect(server.requests.isEmpty)
    }

    @Test func `the limit itself is within the limit`() throws {
        let server = try TestServer()
        let client = try #require(RawClient(port: server.port))
        let body = String(repeating: "a", count: 1000)
        client.send("POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n\(body)")
        #expect(client.receive()?.status == 200)
        client.send("POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n\(body)\r\n0\r\n\r\n")
        #expect(client.receive()?.status == 200)
        client.send("POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\na\(body)\r\n0\r\n\r\n")
        #expect(client.receive()?.status == 413)
    }

    @Test func `of a body longer than what is wanted the beginning is handed over, up to a bound`() throws {
        let server = try TestServer { $0.bodyLimit = { _, _ in HTTPBodyLimit(10, receiving: 5000) } }
        for head in ["Content-Length: 5000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n1388\r\n"] {
            let client = try #require(RawClient(port: server.port))
            let body = "0123456789" + String(repeating: "x", count: 4990)
            client.send("POST /echo HTTP/1.1\r\nHost: h\r\n\(head)\(body)")
            if head.contains("chunked") { client.send("\r\n0\r\n\r\n") }
            #expect(client.receive()?.body == "0123456789")
            #expect(server.requests.last?.droppedBytes == 4990)
            // The connection is as good as before.
            client.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nok")
            #expect(client.receive()?.body == "ok" && server.requests.last?.droppedBytes == 0)
        }
        for head in ["Content-Length: 5001\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n1389\r\n"] {
            let client = try #require(RawClient(port: server.port))
            client.send("POST /echo HTTP/1.1\r\nHost: h\r\n\(head)\(String(repeating: "x", count: 5001))")
            #expect(client.receive()?.status == 413)
        }
    }

    @Test func `a client that asks first is told to go on, or not to`() throws {
        let server = try TestServer()
        let client = try #require(RawClient(port: server.port))
        client.send("POST /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        #expect(client.receive()?.status == 100)
        client.send("ok")
        #expect(client.receive()?.body == "ok")
        client.send("POST /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 100001\r\n\r\n")
        #expect(client.receive()?.status == 413)
        #expect(client.isEnded)
    }

    @Test(arguments: [(60, 100, 200), (63, 8, 200), (64, 8, 431), (100, 8, 431), (1, 8100, 200), (1, 8200, 431)])
    func `a head has at most 64 fields and 8 KiB`(fields: Int, bytes: Int, status: Int) throws {
        let server = try TestServer()
        let client = try #require(RawClient(port: server.port))
        let value = String(repeating: "a", count: bytes)
        let head = (0..<fields).map { "X-\($0): \(value)\r\n" }.joined()
        client.send("GET / HTTP/1.1\r\nHost: h\r\n\(head)\r\n")
        let answer = try #require(client.receive())
        #expect(answer.status == status)
        #expect(status == 200 || answer.header("content-type") == "application/problem+json")
    }

    @Test func `a header that is too large is refused`() throws {
        let server = try TestServer()
        for header in [
            "X: \(String(repeating: "a", count: 20_000))", String(repeating: "X: a\r\n", count: 3000) + "Y: b",
        ] {
            let client = try #require(RawClient(port: server.port))
            client.send("GET / HTTP/1.1\r\nHost: h\r\n\(header)\r\n\r\n")
            #expect(client.receive()?.status == 431)
        }
        let client = try #require(RawClient(port: server.port))
        client.send("GET /\(String(repeating: "a", count: 20_000)) HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect([414, 431].contains(try #require(client.receive()).status))
        #expect(server.requests.isEmpty)
    }
}
