import HTTPServer
import JSON
import Testing

@testable import WhereaboutsClient

@Suite struct HTTPExchangeTests {
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
    @Test func `a request arrives as it was meant`() throws {
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
        let exchange = HTTPExchange(address: SocketAddress(host: "127.0.0.1", port: UInt16(server.port)))
        let request = HTTPRequest(
            method: "POST", path: "/v1/a b/ö%", query: [("q", "x&y=z+1"), ("empty", "")],
            headers: [("Whereabouts-Purpose", percentEncoded("où?"))], body: Array(#"{"a":1}"#.utf8))

        let response = try exchange.answer(to: request)

        #expect(response.status == 202)
        let lines = String(decoding: response.body, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        #expect(lines == ["POST", "/v1/a b/ö%", "q=x&y=z+1|empty=", "o%C3%B9%3F", #"{"a":1}"#])
    }

    @Test func `a long answer arrives whole`() throws {
        let body = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let server = try HTTPServer(HTTPServerConfiguration()) { _, responder in
            responder.respond(HTTPResponse(status: 200, body: body))
        }
        try server.start()
        defer { server.stop() }
        let exchange = HTTPExchange(address: SocketAddress(host: "127.0.0.1", port: UInt16(server.port)))
        let response = try exchange.answer(to: HTTPRequest(method: "GET", path: "/"))
        #expect(response.status == 200)
        // Compared outside the macro, which would print both.
        let isWhole = response.body == body
        #expect(isWhole)
    }

    @Test func `where nothing listens it says so`() throws {
        let server = try HTTPServer(HTTPServerConfiguration()) { _, _ in }
        let address = SocketAddress(host: "127.0.0.1", port: UInt16(server.port))
        server.stop()
        #expect(throws: ClientError.service("The service at \(address.text) cannot be reached: Connection refused.")) {
            try HTTPExchange(address: address).answer(to: HTTPRequest(method: "GET", path: "/"))
        }
    }

    @Test(arguments: [
        "SSH-2.0-OpenSSH\r\n\r\n", "HTTP/1.1 abc\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\r\nbroken\r\nContent-Length: 1\r\n\r\n",
    ])
    func `what is no answer of the service is refused`(text: String) {
        #expect(ResponseHead(Array(text.utf8)[...]) == nil)
    }
}
