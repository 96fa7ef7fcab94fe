import Glibc
import HTTPServer
import Testing

@Suite(.timeLimit(.minutes(10))) struct HTTPServerTests {
    private func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n" }

    @Test func `a connection serves one request after another`() throws {
        let server = try TestServer()
        let client = try #require(RawClient(port: server.port))
        for round in 0..<3 {
            client.send(get("/round?n=\(round)"))
            let answer = try #require(client.receive())
            #expect(answer.status == 200)
            #expect(answer.body == "/round|n=\(round)")
            #expect(answer.header("date")?.hasSuffix(" GMT") == true)
            #expect(answer.header("x-target") == "x")
        }
        client.send("POST /echo HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody")
        #expect(client.receive()?.body == "body")
        #expect(client.isEnded)
        #expect(server.server.counters.connectionsAccepted == 1)
        #expect(server.server.counters.requests == 4)
        #expect(server.server.counters.answersByClass == [0, 4, 0, 0, 0])
        #expect(server.server.counters.bodyBytesReceived == 4)
    }

    @Test func `requests sent at once are answered in their order`() throws {
        let server = try TestServer()
        let client = try #require(RawClient(port: server.port))
        var text = ""
        for number in 0..<30 {
            switch number % 3 {
            case 0: text += get("/later?name=\(number)")
            case 1: text += "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n\(number + 10)"
            default: text += get("/x?n=\(number)")
            }
        }
        client.send(text)
        for number in 0..<30 {
            let expected = number % 3 == 0 ? "\(number)" : number % 3 == 1 ? "\(number + 10)" : "/x|n=\(number)"
            #expect(client.receive()?.body == expected)
        }
    }

    /// libmicrohttpd's own epoll thread waits for its whole timeout in each of these rounds.
    @Test(arguments: [127, 128, 129, 256])
    func `connections that are ready all at once are served at once`(count: Int) throws {
        let server = try TestServer()
        let clients = try (0..<count).map { _ in try #require(RawClient(port: server.port)) }
        for round in 0..<100 {
            for client in clients { client.send(get("/r?n=\(round)")) }
            for client in clients { #expect(client.receive()?.body == "/r|n=\(round)") }
        }
    }

    @Test func `answers come from any thread, in any order`() throws {
        let server = try TestServer()
        let clients = try (0..<40).map { number in
            let client = try #require(RawClient(port: server.port))
            client.send(get("/held?name=\(number)"))
            return client
        }
        let threads = (0..<4).map { part in
            TestThread {
                // A request that never comes is missing in the answers below.
                for number in (0..<40).reversed() where number % 4 == part { try? server.release("\(number)") }
            }
        }
        for thread in threads { thread.join() }
        for (number, client) in clients.enumerated() { #expect(client.receive()?.body == "\(number)") }
        #expect(server.server.counters.requestsWaiting == 0)
    }

    @Test func `two thousand answers from other threads all arrive`() throws {
        let server = try TestServer()
        let threads = (0..<4).map { _ in
            TestThread {
                guard let client = RawClient(port: server.port) else { return }
                for number in 0..<500 {
                    client.send("GET /later?name=\(number) HTTP/1.1\r\nHost: h\r\n\r\n")
                    guard client.receive()?.body == "\(number)" else { return }
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(server.server.counters.answersByClass == [0, 2000, 0, 0, 0])
    }

    @Test func `a request that nobody answers is answered with 500`() throws {
        let server = try TestServer()
        let client = try #require(RawClient(port: server.port))
        client.send(get("/dropped"))
        let answer = try #require(client.receive())
        #expect(answer.status == 500)
        #expect(answer.header("content-type") == "application/problem+json")
        #expect(
            answer.body == #"{"type":"urn:problem-type:broken","title":"Broken","status":500,"#
                + #""detail":"The request was not answered; send it again."}"#)
        client.send(get("/next"))
        #expect(client.receive()?.status == 200)
    }

    @Test func `an answer cannot be given twice`() async {
        await #expect(processExitsWith: .failure) {
            let server = try TestServer()
            let client = try #require(RawClient(port: server.port))
            client.send("GET /held?name=a HTTP/1.1\r\nHost: h\r\n\r\n")
            let responder = try server.take("a")
            responder.respond(.empty(204))
            responder.respond(.empty(204))
        }
    }

    @Test func `a header field cannot smuggle another into an answer`() throws {
        let server = try TestServer()
        let client = try #require(RawClient(port: server.port))
        client.send(get("/injected"))
        let answer = try #require(client.receive())
        #expect(answer.status == 500)
        #expect(!answer.head.contains("Set-Cookie"))
    }

    @Test func `HEAD is answered as GET, without the body`() throws {
        let server = try TestServer()
        let client = try #require(RawClient(port: server.port))
        client.send("HEAD /abc HTTP/1.1\r\nHost: h\r\n\r\n" + get("/next"))
        let answer = try #require(client.receive(isHead: true))
        #expect(answer.status == 200)
        #expect(answer.header("content-length") == "5")
        #expect(client.receive()?.body == "/next|")
        #expect(server.requests.map(\.isHead) == [true, false])
    }

    @Test func `204 has no body and the connection goes on`() throws {
        let server = try TestServer()
        let client = try #require(RawClient(port: server.port))
        client.send(get("/nothing") + get("/next"))
        #expect(client.receive()?.status == 204)
        #expect(client.receive()?.body == "/next|")
    }

    @Test func `header fields are found in any case, and those given twice are kept`() throws {
        let server = try TestServer()
        let client = try #require(RawClient(port: server.port))
        client.send("GET / HTTP/1.1\r\nHost: h\r\nAUTHORIZATION:  Bearer x \r\nX-A: 1\r\nx-a: 2\r\n\r\n")
        #expect(client.receive()?.status == 200)
        let request = try #require(server.requests.first)
        #expect(request.header("authorization") == "Bearer x")
        #expect(request.header("x-a") == "1")
        #expect(request.headers.filter { $0.name.lowercased() == "x-a" }.map(\.value) == ["1", "2"])
        #expect(request.header("absent") == nil)
    }

    @Test func `a client that leaves before its answer leaves nothing behind`() throws {
        let server = try TestServer()
        for number in 0..<20 {
            let client = try #require(RawClient(port: server.port))
            client.send(get("/held?name=\(number)"))
            let responder = try server.take("\(number)")
            withExtendedLifetime(client) {}
            if number % 2 == 0 { responder.respond(.text("late")) }
        }
        try server.wait { $0.connectionsOpen == 0 && $0.requestsWaiting == 0 }
    }
}
