import Testing

@testable import DeviceAgent

@Suite struct ServiceConnectionTests {
    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]", "HTTP/1.1 200 OK\r\nX: y\r\ncontent-length:2\r\n\r\n[]",
    ])
    func `a whole answer has a status and a body`(text: String) {
        #expect(ServiceConnection.reply(from: Array(text.utf8)) == .answer(status: 200, body: Array("[]".utf8)))
    }

    @Test(arguments: [
        "", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[", "HTTP/1.1 200 OK\r\n\r\n[]",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n", "SSH-2.0-x\r\n\r\n", "HTTP/1.1 ok\r\nContent-Length: 0\r\n\r\n",
    ])
    func `an answer that was cut off is none`(text: String) {
        #expect(ServiceConnection.reply(from: Array(text.utf8)) == nil)
    }

    @Test(arguments: ["127.0.0.1:8080", "https://example.org:443", "http://", "http://example.org", "http://a:0"])
    func `only http and an address with a port can be talked to`(service: String) {
        #expect(throws: ScenarioError.self) { try ServiceConnection(service: service) }
    }

    @Test func `a service that is not there is a reason, not an end`() throws {
        // Port 1 (tcpmux) is served nowhere.
        let connection = try ServiceConnection(service: "http://127.0.0.1:1")
        let message = ServiceRequest(method: "POST", path: "/v1/fixes", bearer: "k", body: [])
        #expect(connection.send(message) == .nothing(reason: "Connection refused"))
    }
}
