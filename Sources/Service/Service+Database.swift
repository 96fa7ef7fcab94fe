import Answers
import Cryptography
import HTTPInterface
package import Log
package import PostgreSQLLog
package import Reactors
import Readers
import Whereabouts

// The log on a database server.

extension LogServerSettings {
    /// The server of `config.json`.
    package init(_ database: ServiceConfiguration.Database) {
        self.init(database.connection, needsQuorum: database.needsQuorum)
    }
}

extension Service {
    /// Connects to the server that the configuration names; `nil` if the log is a file.
    package static func server(_ configuration: ServiceConfiguration) throws(LogError) -> LogServer? {
        guard let database = configuration.database else { return nil }
        guard database.writers.isEmpty else {
            throw .otherLog(
                "This data directory is a reader's, and a reader does not write. Ask a process that writes the log, with --url or in its own data directory."
            )
        }
        return try LogServer(LogServerSettings(database))
    }

    /// The route at which readers have their reads recorded; none for a log that no reader can follow.
    static func recording(
        for taken: TakenLog?, _ decisions: Decisions, _ receipts: Receipts, _ figures: RequestFigures,
        under keyEncryptionKey: SymmetricKey
    ) -> [Route] {
        if taken == nil { return [] }
        return [
            RecordingEndpoint(
                decisions: decisions, receipts: receipts, seal: ReaderSeal(under: keyEncryptionKey),
                figures: figures.readers
            ).route
        ]
    }

    /// Whether the log is on a database server.
    package var isLogOnServer: Bool { log.withStanding { $0.logPlace } == .postgresql }

    /// Throws, and stops the log, if it says that its place is another one. Otherwise a copy that is no longer complete
    /// would be continued. A new log on a server says so with its first event.
    static func checkPlace(of log: EventLog, isOnServer: Bool) throws(LogError) {
        if isOnServer, log.head == 0 {
            do throws(AppendFailure) {
                _ = try log.appendAndWait(.moveLog(to: .postgresql), by: .house, correlation: .random())
            } catch {
                log.stop()
                if case .fault(let fault) = error { throw fault }
                throw .stopped
            }
        }
        let place = log.withStanding { $0.logPlace }
        if place == (isOnServer ? .postgresql : .sqlite) { return }
        log.stop()
        throw .otherLog(
            place == .postgresql
                ? "This log moved into a database, and log.sqlite is only a copy of it: name the database as \"log\" in config.json. To go on with the copy, restore a backup of it."
                : "This log moved out of the database, and log.sqlite continues it: remove \"log\" from config.json.")
    }
}
