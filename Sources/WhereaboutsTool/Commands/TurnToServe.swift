import Glibc
import HTTPServer
import Log
import Maintenance
import PostgreSQLLog
import Reactors
import Readers
import Service
import Threading
import WhereaboutsClient

/// The wait of `serve` for a log that is in a database and that another process has.
///
/// Meanwhile the data directory follows the log, so that taking over is quick, and every request gets 503 with
/// `Retry-After`. A server that is out of reach is tried again, because a process that takes over often starts before the
/// new primary does.
struct TurnToServe {
    let directory: DataDirectory
    let settings: LogServerSettings
    let address: SocketAddress
    let console: Console
    /// Whether the service may be started on a database that lacks events of the copy.
    let acceptingLoss: Bool

    private static let pauseMilliseconds = 200
    private static let noPauseMilliseconds = 1
    /// The title of the answer to every request.
    static let title = "Waiting to take over"

    /// Waits for the turn.
    ///
    /// - Parameter signals: The signals that end the wait.
    /// - Returns: The server with the turn; `nil` after a signal.
    /// - Throws: ``ToolError/data(_:)`` if waiting is in vain, for example because the server has lost events.
    func wait(for signals: sigset_t, _ manager: ServiceManager) throws(ToolError) -> LogServer? {
        var (server, waiting): (LogServer?, HTTPServer?)
        var copy = WaitingCopy(in: directory)
        var told = ""
        defer { waiting?.stop() }
        while true {
            var pause = Self.pauseMilliseconds
            do throws(LogError) {
                if server == nil { server = try LogServer(settings) }
                if let server, try server.takeTurn() {
                    // Here, because a signal ends the wait, and requests get an answer.
                    try server.checkReadiness(for: directory, acceptingLoss: acceptingLoss)
                    return server
                }
                tell("Another process has the log. This one follows it, and takes over when that process ends.", &told)
                if let server, try !copy.follow(server) { pause = Self.noPauseMilliseconds }
            } catch {
                guard case .server = error else { throw .data("\(error)") }
                server = nil
                tell("\(error) It is tried again until it answers.", &told)
                pause = 1000
            }
            if waiting == nil {
                waiting = try listen()
                manager.tell("READY=1")
            }
            if Self.isSignalled(signals, milliseconds: pause) { return nil }
            manager.tell("WATCHDOG=1")
        }
    }

    private func tell(_ sentence: String, _ told: inout String) {
        if sentence != told { console.note(sentence) }
        told = sentence
    }

    /// Whether one of the signals comes within a time.
    static func isSignalled(_ signals: sigset_t, milliseconds: Int) -> Bool {
        var signals = signals
        var pause = timespec(tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
        return sigtimedwait(&signals, nil, &pause) > 0
    }

    /// Answers requests while waiting.
    private func listen() throws(ToolError) -> HTTPServer {
        do throws(HTTPServerError) {
            var configuration = HTTPServerConfiguration()
            configuration.host = address.host
            configuration.port = Int(address.port) ?? 0
            let server = try HTTPServer(configuration) { request, responder in
                responder.respond(Self.answer(request.path))
            }
            try server.start()
            directory.announce(address: "\(address.host):\(server.port)")
            return server
        } catch { throw .data("\(error)") }
    }

    /// The process works, so `/healthz` is good.
    private static func answer(_ path: String) -> HTTPResponse {
        if path == "/healthz" { return .text("waiting\n") }
        var answer = HTTPResponse.problem(
            503, title: title,
            detail: "Another process of this house has the log; ask that one, or try again.")
        answer.headers += [("Retry-After", "1"), (WriterLink.roleHeader, "waiting")]
        return answer
    }
}
