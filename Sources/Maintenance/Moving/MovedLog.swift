package import Log
package import PostgreSQLLog
import Projections
import Whereabouts

/// Moves the log of a data directory that no service has open, and records the move as an event of the log.
package enum MovedLog {
    /// Moves the log into a database. Begun again, an interrupted move goes on.
    package static func intoDatabase(
        _ settings: LogServerSettings, _ directory: DataDirectory,
        progress: @escaping (LogMove.Step, _ done: Int64, _ all: Int64) -> Void = { _, _, _ in }
    ) throws(LogError) -> LogMove.Outcome {
        let move = LogMove(try LogServer(settings), progress: progress)
        return try move.moveIntoDatabase(directory) { () throws(LogError) in
            try record(.postgresql, in: try EventLog.alone(in: directory))
        }
    }

    /// Moves the log out of a database, into the file of the data directory.
    package static func outOfDatabase(
        _ settings: LogServerSettings, _ directory: DataDirectory,
        progress: @escaping (LogMove.Step, _ done: Int64, _ all: Int64) -> Void = { _, _, _ in }
    ) throws(LogError) -> LogMove.Outcome {
        let move = LogMove(try LogServer(settings), progress: progress)
        return try move.moveOutOfDatabase(directory) { () throws(LogError) in
            let taken = try LogServer(settings).take(for: directory)
            try record(.sqlite, in: try EventLog.alone(in: directory, taken: taken))
        }
    }

    private static func record(_ place: LogPlace, in log: EventLog) throws(LogError) {
        defer { log.stop() }
        do throws(AppendFailure) {
            _ = try log.appendAndWait(.moveLog(to: place), by: .house, correlation: .random())
        } catch {
            if case .fault(let fault) = error { throw fault }
            throw .stopped
        }
    }
}

extension EventLog {
    /// The log of a directory that this process has taken from its server, without its projections.
    package static func alone(
        in directory: DataDirectory, taken: TakenLog, acceptingLoss: Bool = false
    ) throws(LogError) -> EventLog {
        let keys = try directory.openKeys(under: try directory.keyEncryptionKey(isCopy: true), record: taken.keyRecord)
        try keys.copy(taken.keys)
        return try EventLog(
            path: directory.log, keys: keys, savedStanding: StandingFile(directory: directory.projections),
            identities: .init(folder: directory.fixIdentities), server: taken.engine,
            acceptingLoss: acceptingLoss, clock: { Timestamp.now })
    }
}
