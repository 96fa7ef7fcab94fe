import Glibc
import HTTPServer
import Synchronization
import TestSupport

/// A server on a free port with the answers the tests need.
///
/// `/echo`: the body · `/target`: path and query as understood · `/held`: answered when ``release(_:)`` says so ·
/// `/later`: answered by another thread at once · `/dropped`: never answered · else `hello`.
final class TestServer: Sendable {
    let server: HTTPServer
    private let held: Held

    final class Held: Sendable {
        let responders = Mutex<[String: HTTPResponder]>([:])
        let requests = Mutex<[HTTPRequest]>([])
    }

    init(_ configure: (inout HTTPServerConfiguration) -> Void = { _ in }) throws {
        var configuration = HTTPServerConfiguration()
        configuration.bodyLimit = { _, path in HTTPBodyLimit(path == "/echo" ? 100_000 : 1000) }
        configure(&configuration)
        let held = Held()
        self.held = held
        server = try HTTPServer(configuration) { request, responder in
            held.requests.withLock { $0.append(request) }
            switch request.path {
            case "/echo":
                responder.respond(HTTPResponse(status: 200, body: request.body))
            case "/held":
                held.responders.withLock { $0[request.parameter("name") ?? ""] = responder }
            case "/later":
                _ = TestThread { responder.respond(.text(request.parameter("name") ?? "later")) }
            case "/dropped":
                break
            case "/injected":
                responder.respond(HTTPResponse(status: 200, headers: [("X-Name", "a\r\nSet-Cookie: b=c")]))
            case "/nothing":
                responder.respond(.empty(204))
            case "/large":
                responder.respond(HTTPResponse(status: 200, body: Array(repeating: 0x61, count: 8_000_000)))
            default:
                let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: ";")
                responder.respond(
                    HTTPResponse(
                        status: 200, headers: [("X-Target", "x")], body: Array("\(request.path)|\(query)".utf8)))
            }
        }
        try server.start()
    }

    deinit {
        server.stop()
    }

    var port: Int { server.port }
    /// The requests handled so far.
    var requests: [HTTPRequest] { held.requests.withLock { $0 } }

    /// Answers a held request, waiting for it to come first.
    func release(_ name: String, with response: HTTPResponse? = nil) throws {
        try take(name).respond(response ?? .text(name))
    }

    /// The responder of a held request, waiting for it to come first.
    func take(_ name: String) throws -> HTTPResponder {
        try eventually("the request \(name)", pauseMilliseconds: 1) {
            held.responders.withLock { $0.removeValue(forKey: name) }
        }
    }

    /// Waits until the server's counters are as wanted.
    func wait(file: StaticString = #fileID, line: Int = #line, until isGood: (HTTPServerCounters) -> Bool) throws {
        try eventually("other counters", pauseMilliseconds: 1, file: file, line: line) { isGood(server.counters) }
    }
}
