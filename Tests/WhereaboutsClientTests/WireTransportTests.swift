import HTTPServer
import JSON
import Testing

@testable import WhereaboutsClient

@Suite struct WireTransportTests {
    @Test(arguments: [
        ("127.0.0.1:8080", "127.0.0.1", "8080"), ("[::1]:80", "::1", "80"), ("http://localhost:1/", "localhost", "1"),
    ])
    func `an address has a host and a port`(text: String, host: String, port: String) {
        #expect(SocketAddress(text)?.host == host)
        #expect(SocketAddress(text)?.port == port)
    }

    @Test(arguments: ["", "host", ":80", "host:", "host:0", "host:70000", "host:http"])
    func `what is no address is refused`(text: String) {
        #expect(SocketAddress(text) == nil)
    }

    /// The server on the other side is libmicrohttpd's, which resolves the escapes.
    @Test(arguments: ["POST", "PUT"]) func `a request arrives as it was meant`(method: String) throws {
        let server = try HTTPServer(HTTPServerConfiguration()) { request, responder in
            let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: "|")
            let text = [
                request.method, request.path, query, request.header("whereabouts-purpose") ?? "",
                String(decoding: request.body, as: UTF8.self),
            ].joined(separator: "\n")
            responder.respond(.text(text, status: 202))
        }
        try server.start()
        defer { server.stop() }
        let transport = try #require(WireTransport("http://127.0.0.1:\(server.port)"))
        let request = HTTPRequest(
            method: method, path: "/v1/a b/ö%", query: [("q", "x&y=z+1"), ("empty", "")],
            headers: [("Whereabouts-Purpose", percentEncoded("où?"))], body: Array(#"{"a":1}"#.utf8))

        let response = try transport.answer(to: request)

        #expect(response.status == 202)
        let lines = String(decoding: response.body, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        #expect(lines == [method[...], "/v1/a b/ö%", "q=x&y=z+1|empty=", "o%C3%B9%3F", #"{"a":1}"#])
    }

    @Test func `a long answer arrives whole`() throws {
        let body = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let server = try HTTPServer(HTTPServerConfiguration()) { _, responder in
            responder.respond(HTTPResponse(status: 200, body: body))
        }
        try server.start()
        defer { server.stop() }
        let transport = try #require(WireTransport("http://127.0.0.1:\(server.port)"))
        let response = try transport.answer(to: HTTPRequest(method: "GET", path: "/"))
        #expect(response.status == 200)
        // Compared outside the macro, which would print both.
        let isWhole = response.body == body
        #expect(isWhole)
    }

    @Test func `where nothing listens it says so`() throws {
        let server = try HTTPServer(HTTPServerConfiguration()) { _, _ in }
        let address = "http://127.0.0.1:\(server.port)"
        server.stop()
        let transport = try #require(WireTransport(address))
        #expect(throws: ClientError.service("The service at \(address) cannot be reached: nothing listens there.")) {
            try transport.answer(to: HTTPRequest(method: "GET", path: "/"))
        }
    }

    @Test func `a method without a body sends none, and one connection serves the next request`() throws {
        let server = try HTTPServer(HTTPServerConfiguration()) { request, responder in
            let said = ["content-length", "content-type"].map { request.header($0) ?? "-" }.joined(separator: " ")
            responder.respond(.text("\(request.method) \(said)"))
        }
        try server.start()
        defer { server.stop() }
        let transport = try #require(WireTransport("http://127.0.0.1:\(server.port)"))
        for (method, said) in [("DELETE", "DELETE - -"), ("GET", "GET - -"), ("POST", "POST 0 -")] {
            let response = try transport.answer(to: HTTPRequest(method: method, path: "/"))
            #expect(String(decoding: response.body, as: UTF8.self) == said)
        }
        #expect(server.counters.connectionsAccepted == 1)
    }
}
