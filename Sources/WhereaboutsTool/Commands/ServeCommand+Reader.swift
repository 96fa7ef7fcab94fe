import Glibc
import HTTPServer
import Log
import PostgreSQLLog
import Reactors
import Service
import Whereabouts
import WhereaboutsClient

/// `serve` with the configuration of a reader.
extension ServeCommand {
    /// Whether `config.json` names the processes that write the log.
    static func isReader(_ path: String) throws(ToolError) -> Bool {
        do throws(ServiceConfiguration.ReadError) {
            return try ServiceConfiguration.read(path + "/config.json").database?.writers.isEmpty == false
        } catch { throw .data("\(error)") }
    }

    /// Runs a reader until a signal.
    static func serveReader(
        _ path: String, _ address: SocketAddress, _ signals: sigset_t, _ manager: ServiceManager,
        _ invocation: Invocation
    ) throws(ToolError) {
        guard let reader = try openReader(path, signals, manager, invocation.console) else { return }
        let port: Int
        do throws(HTTPServerError) {
            port = try reader.listen(host: address.host, port: Int(address.port) ?? 0)
        } catch {
            reader.stop(.untilSIGKILL)
            throw .data("\(error)")
        }
        let bound = address.host.contains(":") ? "[\(address.host)]:\(port)" : "\(address.host):\(port)"
        invocation.console.line(
            "Whereabouts \(Version.text) reads from the database, with \(path)\n\n  http://\(bound)/\n")
        invocation.console.flush()
        manager.tell("READY=1")
        reader.whenLogFails { kill(getpid(), SIGTERM) }
        wait(for: signals, manager) { reader.isAnswering(milliseconds: $0) }
        manager.tell("STOPPING=1")
        var signals = signals
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        let isQuiet = reader.stop(.untilSIGKILL)
        let failure = reader.failure.map { ToolError.stopped("\($0) The next start copies the log again if it must.") }
        if !isQuiet {
            if let failure { invocation.console.note("whereabouts: \(failure)") }
            invocation.console.flush()
            // A thread still uses the libraries, so their handlers at exit must not run.
            _exit(failure?.exitCode ?? 0)
        }
        if let failure { throw failure }
    }

    /// Opens the reader; tries again while the database cannot be read. `nil` after a signal.
    private static func openReader(
        _ path: String, _ signals: sigset_t, _ manager: ServiceManager, _ console: Console
    ) throws(ToolError) -> ReaderService? {
        var told = ""
        do {
            let directory = try DataDirectory(path: path)
            let configuration = try ServiceConfiguration.read(directory.configuration)
            guard let database = configuration.database else { return nil }
            while true {
                do throws(LogError) {
                    let followed = try FollowedLog(LogServerSettings(database), in: directory) { _, _ in
                        manager.tell("WATCHDOG=1")
                    }
                    return try reader(directory, configuration, followed)
                } catch {
                    guard case .server = error else { throw error }
                    let sentence = "\(error) It is tried again until it answers."
                    if sentence != told { console.note(sentence) }
                    told = sentence
                }
                if TurnToServe.isSignalled(signals, milliseconds: retryMilliseconds) { return nil }
                manager.tell("WATCHDOG=1")
            }
        } catch let error as ToolError { throw error } catch { throw .data("\(error)") }
    }

    private static let retryMilliseconds = 1000

    /// - Throws: ``LogError``; any other error as ``LogError/otherLog(_:)`` with its sentence.
    private static func reader(
        _ directory: DataDirectory, _ configuration: ServiceConfiguration, _ followed: sending FollowedLog
    ) throws(LogError) -> ReaderService {
        do {
            return try ReaderService(
                directory: directory, configuration: configuration, gazetteerPath: GazetteerLocation.find(),
                following: followed)
        } catch let error as LogError { throw error } catch { throw .otherLog("\(error)") }
    }
}
