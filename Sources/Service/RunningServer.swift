import Answers
import HTTPInterface
import HTTPServer
import Log
import Synchronization
import Threading

/// The HTTP server of a service while it listens.
final class RunningServer: Sendable {
    /// Answers a request exactly once, on any thread.
    typealias Handler = @Sendable (HTTPRequest, @escaping @Sendable (HTTPResponse) -> Void) -> Void

    private let server = Mutex<HTTPServer?>(nil)

    /// The server's counters; `nil` while nothing listens.
    var counters: HTTPServerCounters? { server.withLock { $0?.counters } }

    /// Listens for requests; returns the port, which the system chooses if `port` is 0. The lock file of the directory then has
    /// the address.
    func listen(
        host name: String, port: Int, announcingIn directory: DataDirectory,
        bodyLimit: @escaping @Sendable (_ method: String, _ path: String) -> HTTPBodyLimit,
        handle: @escaping Handler
    ) throws(HTTPServerError) -> Int {
        var configuration = HTTPServerConfiguration()
        (configuration.host, configuration.port, configuration.bodyLimit) = (name, port, bodyLimit)
        let new = try HTTPServer(configuration) { request, responder in handle(request) { responder.respond($0) } }
        try new.start()
        server.withLock { $0 = new }
        directory.announce(address: "\(name):\(new.port)")
        return new.port
    }

    /// Gives the server up.
    func take() -> HTTPServer? { server.withLock { $0.take() } }

    /// Whether `/healthz` is answered within a time.
    static func isAnswering(milliseconds: Int, _ handle: Handler) -> Bool {
        let isAnswered = Monitor(false)
        handle(HTTPRequest(method: "GET", path: "/healthz")) { response in
            isAnswered.change { $0 = response.status == 200 }
        }
        return isAnswered.wait(milliseconds: milliseconds) { $0 ? true : nil } ?? false
    }
}
