import Glibc
import HTTPServer
import Testing

@Suite(.timeLimit(.minutes(10))) struct HTTPServerLifeTests {
    private func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n" }

    @Test(arguments: ["0.0.0.0", "::", "192.0.2.1", "::ffff:127.0.0.1"])
    func `an address that others can reach is refused in words`(host: String) {
        var configuration = HTTPServerConfiguration()
        configuration.host = host
        let error = #expect(throws: HTTPServerError.notLoopback(host)) {
            try HTTPServer(configuration) { _, _ in }
        }
        #expect(error?.description.contains("reverse proxy") == true)
    }

    @Test(arguments: ["127.0.0.1", "127.9.8.7", "localhost", "::1", "0.0.0.0"])
    func `a loopback address is bound, any other when allowed`(host: String) throws {
        var configuration = HTTPServerConfiguration()
        configuration.host = host
        configuration.allowNonLoopback = host == "0.0.0.0"
        #expect(try HTTPServer(configuration) { _, _ in }.port > 0)
    }

    @Test(arguments: ["example.org", "", "127.0.0", "1.2.3.4.5"])
    func `a host that is no address is refused`(host: String) {
        var configuration = HTTPServerConfiguration()
        configuration.host = host
        #expect(throws: HTTPServerError.unknownHost(host)) { try HTTPServer(configuration) { _, _ in } }
    }

    @Test func `a port in use is refused in words`() throws {
        let server = try TestServer()
        var configuration = HTTPServerConfiguration()
        configuration.port = server.port
        let error = #expect(throws: HTTPServerError.self) { try HTTPServer(configuration) { _, _ in } }
        #expect(error?.description == "Cannot listen on 127.0.0.1, port \(server.port): Address already in use.")
    }

    @Test func `stopping lets a request be answered, closes what is idle and takes nothing new`() throws {
        let server = try TestServer { $0.drainSeconds = 60 }
        let idle = try #require(RawClient(port: server.port))
        idle.send(get("/"))
        #expect(idle.receive()?.status == 200)
        let busy = try #require(RawClient(port: server.port))
        busy.send(get("/held?name=a"))
        let responder = try server.take("a")
        let thread = TestThread { server.server.stop() }
        #expect(idle.isEnded)
        #expect(RawClient(port: server.port) == nil)
        responder.respond(.text("done"))
        let answer = try #require(busy.receive())
        #expect(answer.body == "done")
        #expect(answer.header("connection") == "close")
        #expect(busy.isEnded)
        thread.join()
        #expect(server.server.counters.connectionsOpen == 0)
    }

    @Test func `a request still unanswered when patience ends gets 503, and its late answer is dropped`() throws {
        let server = try TestServer { $0.drainSeconds = 0.1 }
        let client = try #require(RawClient(port: server.port))
        client.send(get("/held?name=a"))
        let responder = try server.take("a")
        server.server.stop()
        #expect(client.receive()?.status == 503)
        #expect(client.isEnded)
        responder.respond(.text("late"))
        #expect(server.server.counters.connectionsOpen == 0)
    }

    @Test func `stopping twice, or before starting, does nothing`() throws {
        let server = try TestServer()
        server.server.stop()
        server.server.stop()
        #expect(RawClient(port: server.port) == nil)
        #expect(server.server.counters.connectionsOpen == 0)
        let unstarted = try HTTPServer(HTTPServerConfiguration()) { _, _ in }
        unstarted.stop()
        #expect(unstarted.counters.connectionsOpen == 0)
    }

    @Test(arguments: ["GET / HT", "GET / HTTP/1.1\r\nHost: h\r\nX-Slow: ", "G"])
    func `a header that drips in is cut at the deadline`(start: String) throws {
        let server = try TestServer { $0.requestDeadlineSeconds = 0.2 }
        let client = try #require(RawClient(port: server.port))
        client.send(start)
        try client.drip("a")
        // A request that libmicrohttpd has not shown us yet cannot be answered.
        if let answer = client.receive() { #expect(answer.status == 408) }
        #expect(client.isEnded)
        try server.wait { $0.connectionsOpen == 0 }
        #expect(server.server.counters.cutByDeadline == 1)
        #expect(server.requests.isEmpty)
    }

    @Test func `a second request's header that drips in is cut too`() throws {
        let server = try TestServer {
            // The first request must arrive before either.
            $0.requestDeadlineSeconds = 3
            $0.idleTimeoutSeconds = 2
        }
        let client = try #require(RawClient(port: server.port))
        client.send(get("/"))
        #expect(client.receive()?.status == 200)
        client.send("GET /")
        try client.drip("a")
        try server.wait { $0.connectionsOpen == 0 }
        #expect(server.requests.count == 1)
    }

    @Test(arguments: ["Content-Length: 1000", "Transfer-Encoding: chunked"])
    func `a body that drips in is answered with 408 at the deadline`(framing: String) throws {
        let server = try TestServer { $0.requestDeadlineSeconds = 2 }
        let client = try #require(RawClient(port: server.port))
        client.send("POST /echo HTTP/1.1\r\nHost: h\r\n\(framing)\r\n\r\n")
        try client.drip(framing.hasPrefix("C") ? "a" : "1\r\na\r\n")
        #expect(client.receive()?.status == 408)
        #expect(server.requests.isEmpty)
    }

    /// 8 MB fit into no socket buffer, so the answer is stuck half-way.
    @Test func `a client that does not read its answer is cut`() throws {
        let server = try TestServer { $0.idleTimeoutSeconds = 3 }
        let client = try #require(RawClient(port: server.port))
        client.send(get("/large"))
        try server.wait { $0.requests == 1 }
        try server.wait { $0.connectionsOpen == 0 }
        #expect(server.server.counters.answersByClass[1] == 1)
    }

    @Test func `a handler that takes longer than the deadline is not cut`() throws {
        let server = try TestServer { $0.requestDeadlineSeconds = 2 }
        let client = try #require(RawClient(port: server.port))
        client.send(get("/held?name=a"))
        #expect(!client.isReadable(withinMilliseconds: 4000))
        try server.release("a")
        #expect(client.receive()?.body == "a")
    }

    /// All connections there is room for end in one moment, and nothing else happens.
    @Test func `whoever waits beyond the limit is served as soon as there is room`() throws {
        let server = try TestServer { $0.connectionLimit = 2 }
        var first = [try #require(RawClient(port: server.port)), try #require(RawClient(port: server.port))]
        for client in first {
            client.send(get("/"))
            #expect(client.receive()?.status == 200)
        }
        let waiting = try #require(RawClient(port: server.port))
        waiting.send(get("/"))
        first = []
        #expect(waiting.receive()?.status == 200)
    }
}
