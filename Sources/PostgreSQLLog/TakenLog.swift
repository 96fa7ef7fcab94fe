import Cryptography
import Glibc
package import Log
import PostgreSQL
import Whereabouts

/// A log that this process has taken, and whose copy is complete.
package struct TakenLog {
    /// Commits to the server.
    package let engine: any LogEngine
    /// Writes keys to the server.
    package let keyRecord: any KeyRecord
    /// The keys on the server, for the copy in `keys.sqlite`.
    package let keys: KeyTable
}

extension LogServer {
    /// Takes the log and completes the copy in a data directory. A database without a log gets an empty one, if the
    /// directory has none either.
    ///
    /// - Parameters:
    ///   - acceptingLoss: Whether to go on if the server lacks events that the copy has.
    ///   - progress: Called every few thousand copied events with their number and the size of the log.
    /// - Throws: ``LogError/lost(_:)`` with both numbers if the server lacks events that were durable.
    package func take(
        for directory: DataDirectory, acceptingLoss: Bool = false,
        progress: (_ done: Int64, _ all: Int64) -> Void = { _, _ in }
    ) throws(LogError) -> TakenLog {
        guard try takeTurnSoon() else {
            throw .otherLog("Another process has the log of this database; end it, or let \"serve\" wait for its end.")
        }
        try checkReadiness(for: directory, acceptingLoss: acceptingLoss)
        if try row() == nil { try begin(for: directory) }
        let row = try raiseTerm()
        guard directory.hasKeyEncryptionKey || row.size == 0 else {
            throw .keyEncryptionKey(
                "\(directory.path) has no kek, and the log in the database has events. Put the kek of the machine that began this log here."
            )
        }
        var copy = try LogCopy(path: directory.log, of: row, session, acceptingLoss: acceptingLoss)
        try copy.follow(to: row.size, session) { progress($0, row.size) }
        try copy.check(row)
        let keys = try PostgreSQLKeys.table(session, check: row.keyCheck)
        return TakenLog(
            engine: try PostgreSQLLogEngine(session, term: row.term),
            keyRecord: PostgreSQLKeys(try Self.connect(settings), term: row.term), keys: keys)
    }

    /// Begins an empty log in the database.
    private func begin(for directory: DataDirectory) throws(LogError) {
        var status = stat()
        if stat(directory.log, &status) == 0, status.st_size > 0 {
            throw .otherLog(
                "The database has no log, and \(directory.log) has one. Move it there with `log move`, and then start the service."
            )
        }
        let check = try directory.openKeys().table().check
        try create(id: .random(), epoch: 1, keyCheck: check, isInCharge: true)
    }

    /// The ids of the keys that were destroyed; `nil` if their number is `known`.
    package func destroyedKeys(unless known: Int) throws(LogError) -> Set<Int64>? {
        do throws(PostgreSQLError) {
            if try session.run("SELECT count(*) FROM whereabouts.destroyed").int(0, 0) == Int64(known) { return nil }
            let rows = try session.run("SELECT id FROM whereabouts.destroyed")
            return Set((0..<rows.count).map { rows.int($0, 0) })
        } catch { throw LogError(error) }
    }

    /// Keeps the copy in a data directory close to the log while another process has it.
    ///
    /// The events of the newest transaction are left out, because they may be on no standby although the primary shows
    /// them: for example if an operator cancelled the wait for the standbys. Another primary would then lack them, and a
    /// copy that has them would take it for one that lost durable events. A later transaction vouches for those before it.
    ///
    /// - Returns: The size of the copy, and how many events it can have; `nil` if the database has no log in charge.
    package func follow(for directory: DataDirectory, most: Int64 = 100_000) throws(LogError) -> (
        copy: Int64, log: Int64
    )? {
        guard let row = try row(), row.isInCharge else { return nil }
        let durable: Int64
        do throws(PostgreSQLError) {
            let rows = try session.run(LogTables.vouchedFor)
            durable = rows.count == 1 ? rows.int(0, 0) : 0
        } catch { throw LogError(error) }
        var copy = try LogCopy(path: directory.log, of: row, session)
        try copy.follow(to: min(durable, copy.size + most), session)
        return (copy.size, max(durable, copy.size))
    }
}
