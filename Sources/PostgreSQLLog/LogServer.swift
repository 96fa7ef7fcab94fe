import Cryptography
import Glibc
package import Log
import PostgreSQL
import Whereabouts

/// A house's log on a database server, as one process sees it. The process waits until no other one has the log, then takes
/// it.
///
/// What keeps two processes from writing is the *term*: each process that takes the log raises it, and a commit under a
/// lower term changes nothing. The server's lock, which ends with the session of the process that holds it, only says
/// whether it is worth trying.
package final class LogServer {
    /// The settings of the server.
    package let settings: LogServerSettings
    let session: Session
    private var hasTurn = false

    /// "WHER", as the application id of `log.sqlite`.
    private static let lockNumber: Int64 = 0x5748_4552
    private static let oldestVersion = 150_000

    /// Connects to the server.
    package init(_ settings: LogServerSettings) throws(LogError) {
        self.settings = settings
        session = try Self.connect(settings)
    }

    /// Opens a session in which commits wait for the disk. If this machine disappears, the server ends it within seconds.
    static func connect(_ settings: LogServerSettings) throws(LogError) -> Session {
        let session: Session
        do throws(PostgreSQLError) {
            session = try Session(settings.connection.text)
            for setting in sessionSettings { try session.run(setting) }
        } catch { throw LogError(error) }
        _ = session.takeWarnings()
        guard session.serverVersion >= oldestVersion else {
            throw .server("it has version \(session.serverVersion / 10_000), and at least version 15 is needed")
        }
        return session
    }

    private static let sessionSettings = [
        // `remote_apply` is stricter, and stays.
        """
        SELECT set_config('synchronous_commit', 'on', false)
        WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')
        """,
        "SET tcp_keepalives_idle = 2", "SET tcp_keepalives_interval = 1", "SET tcp_keepalives_count = 3",
        "SET tcp_user_timeout = 5000", "SET client_min_messages = warning",
    ]

    /// The server's version and address, in words.
    package var place: String {
        "PostgreSQL \(session.serverVersion / 10_000).\(session.serverVersion % 10_000) at \(session.host):\(session.port)"
    }

    /// The row `log`; `nil` if the database has no log.
    package func row() throws(LogError) -> LogRow? { try LogRow.read(session) }

    /// Tries to get the turn to take the log; `false` while the session of another process has it. The turn ends with this
    /// object's session.
    package func takeTurn() throws(LogError) -> Bool {
        if hasTurn { return true }
        do throws(PostgreSQLError) {
            hasTurn = try session.run("SELECT pg_try_advisory_lock($1)", [Self.lockNumber]).int(0, 0) == 1
        } catch { throw LogError(error) }
        return hasTurn
    }

    /// As ``takeTurn()``, and tries again for some seconds: the server notices the end of a session a moment later.
    func takeTurnSoon() throws(LogError) -> Bool {
        for _ in 0..<Self.triesMax {
            if try takeTurn() { return true }
            usleep(Self.pauseMicroseconds)
        }
        return try takeTurn()
    }

    private static let triesMax = 100
    private static let pauseMicroseconds: UInt32 = 50_000

    /// Why events that this server acknowledges could be lost, as part of a sentence; `nil` if its settings are good.
    package func fault() throws(LogError) -> String? {
        let values: [String]
        do throws(PostgreSQLError) {
            let rows = try session.run(
                """
                SELECT current_setting('fsync'), current_setting('full_page_writes'),
                    current_setting('synchronous_commit'), current_setting('synchronous_standby_names'),
                    pg_is_in_recovery()::text
                """)
            values = (0..<5).map { rows.text(0, $0) }
        } catch { throw LogError(error) }
        if values[4] == "true" {
            return "it is a standby; name the primary, or all servers with target_session_attrs=read-write"
        }
        if values[0] != "on" { return "it has fsync = \(values[0]); set it to on" }
        if values[1] != "on" { return "it has full_page_writes = \(values[1]); set it to on" }
        if settings.needsQuorum, values[3].allSatisfy(\.isWhitespace) {
            return
                "config.json promises a quorum, and it waits for no standby; set synchronous_standby_names, for example to 'ANY 1 (n2, n3)'"
        }
        return nil
    }

    /// Throws if taking the log would be refused, or would wait for as long as no standby comes.
    ///
    /// - Parameter acceptingLoss: Whether the server may lack events that the copy in the directory has.
    /// - Throws: ``LogError/server(_:)`` for unsafe settings and missing standbys, ``LogError/lost(_:)`` with both numbers
    ///   if the server lacks events of the copy.
    package func checkReadiness(for directory: DataDirectory, acceptingLoss: Bool) throws(LogError) {
        if let fault = try fault() { throw .server(fault) }
        // Before the standbys: one that was promoted alone has none, and may have lost events.
        if !acceptingLoss, let row = try row(), row.isInCharge {
            _ = try LogCopy(path: directory.log, of: row, session)
        }
        if try lacksStandbys() { throw .server("a commit waits for a standby, and none is connected") }
    }

    /// Whether a commit waits for a standby, and none is connected.
    private func lacksStandbys() throws(LogError) -> Bool {
        do throws(PostgreSQLError) {
            return try session.run(
                """
                SELECT current_setting('synchronous_standby_names') <> ''
                    AND NOT EXISTS (SELECT FROM pg_stat_replication)
                """
            ).int(0, 0) == 1
        } catch { throw LogError(error) }
    }

    /// Takes the log: raises the term, so that no other process can commit any more. Waits for the standbys if the server
    /// does, so that everything committed before is on them too.
    ///
    /// - Returns: The row `log` from that moment on.
    /// - Throws: ``LogError/otherLog(_:)`` if the log is not in charge here.
    func raiseTerm() throws(LogError) -> LogRow {
        let changed: Int
        do throws(PostgreSQLError) {
            changed = try session.run("UPDATE whereabouts.log SET term = term + 1 WHERE in_charge").changes
        } catch { throw LogError(error) }
        if let warning = session.takeWarnings().first { throw .server(warning.message) }
        guard changed == 1, let row = try row() else {
            throw .otherLog(
                "The log in the database is not in charge. If it moved away from here, remove \"log\" from config.json; if a move here was interrupted, move again."
            )
        }
        return row
    }

    /// Makes the tables and the row of a log; it has no events.
    ///
    /// - Parameter isInCharge: `false` while events are copied into it.
    func create(id: Identifier128, epoch: Int64, keyCheck: [UInt8], isInCharge: Bool) throws(LogError) {
        do throws(PostgreSQLError) {
            try session.send("BEGIN")
            for statement in LogTables.creation { try session.send(statement) }
            var parameters = Parameters()
            parameters.append(id.bytes)
            parameters.append(LogTables.format)
            parameters.append(epoch)
            parameters.append(keyCheck)
            try session.send(
                """
                INSERT INTO whereabouts.log
                    (one, id, format, term, in_charge, epoch, size, compact_range, head, key_check)
                VALUES (1, $1, $2, 0, \(isInCharge), $3, 0, '', '', $4)
                """, parameters)
            try session.send("COMMIT")
            _ = try session.finish()
        } catch {
            session.rollBack()
            throw LogError(error)
        }
    }
}

/// A standby of the server, as the server sees it.
package struct Standby: Sendable {
    /// Its `application_name`.
    package let name: String
    /// `streaming` once it follows.
    package let state: String
    /// `quorum` or `sync` if a commit may wait for it, else `async` or `potential`.
    package let role: String
    /// How many bytes of the write-ahead log it has not flushed yet.
    package let lagBytes: Int64
}

extension LogServer {
    /// The standbys that are connected. An account without the right `pg_monitor` sees only their names.
    package func standbys() throws(LogError) -> [Standby] {
        do throws(PostgreSQLError) {
            let rows = try session.run(
                """
                SELECT application_name, coalesce(state, ''), coalesce(sync_state, ''),
                    coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), flush_lsn)::bigint, -1)
                FROM pg_stat_replication ORDER BY application_name
                """)
            return (0..<rows.count).map {
                Standby(
                    name: rows.text($0, 0), state: rows.text($0, 1), role: rows.text($0, 2), lagBytes: rows.int($0, 3))
            }
        } catch { throw LogError(error) }
    }
}
