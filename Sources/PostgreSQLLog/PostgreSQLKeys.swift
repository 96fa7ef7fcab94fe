import Log
import PostgreSQL
import Synchronization
import Threading
import Whereabouts

/// The keys of the log on the server, for the process that has taken the log. Safe to use from any thread.
///
/// A destroyed key leaves the table's file with the transaction, and the write-ahead log and base backups later; the page
/// Growing says what an erasure therefore needs.
final class PostgreSQLKeys: KeyRecord {
    private let session: Mutex<UncheckedBox<Session>>
    private let term: Int64

    init(_ session: Session, term: Int64) {
        self.session = Mutex(UncheckedBox(session))
        self.term = term
    }

    func insert(_ keys: [KeyRow]) throws(LogError) {
        try change { (session) throws(PostgreSQLError) in
            for key in keys { try Self.insert(key, session) }
        }
    }

    func destroy(_ ids: [Int64]?, of person: PersonID) throws(LogError) {
        try change { (session) throws(PostgreSQLError) in
            if let ids {
                for id in ids { try Self.destroy("person = $1 AND id = $2", [person.rawValue, id], session) }
            } else {
                try Self.destroy("person = $1", [person.rawValue], session)
            }
            // So that the wrapped keys do not stay in the table's file: TRUNCATE begins a new file, some megabytes at most.
            // VACUUM, also with FULL, keeps rows that a query which began earlier may still see.
            try session.send("CREATE TEMPORARY TABLE kept ON COMMIT DROP AS SELECT * FROM whereabouts.key")
            try session.send("TRUNCATE whereabouts.key")
            try session.send("INSERT INTO whereabouts.key SELECT * FROM pg_temp.kept")
        }
    }

    static func insert(_ key: KeyRow, _ session: Session) throws(PostgreSQLError) {
        var parameters: Parameters = [key.id, key.person, key.keyClass, key.period]
        parameters.append(key.wrapped)
        try session.send(
            "INSERT INTO whereabouts.key (id, person, class, period, wrapped) VALUES ($1, $2, $3, $4, $5)", parameters)
    }

    private static func destroy(
        _ condition: String, _ parameters: Parameters, _ session: Session
    ) throws(PostgreSQLError) {
        try session.send(
            "INSERT INTO whereabouts.destroyed SELECT id FROM whereabouts.key WHERE \(condition) ON CONFLICT DO NOTHING",
            parameters)
        try session.send("DELETE FROM whereabouts.key WHERE \(condition)", parameters)
    }

    /// Changes the keys in one transaction, if the process still has the log.
    private func change(_ body: (Session) throws(PostgreSQLError) -> Void) throws(LogError) {
        try session.withLock { box throws(LogError) in
            let session = box.value
            do throws(PostgreSQLError) {
                try session.send("BEGIN")
                // As a commit of events does: NULL in the column ends the transaction. The lock keeps the term as it is.
                try session.send(
                    "UPDATE whereabouts.log SET term = CASE WHEN term = $1 AND in_charge THEN term END", [term])
                try body(session)
                try session.send("COMMIT")
                _ = try session.finish()
            } catch {
                session.rollBack()
                if error.isConstraint { throw .fenced }
                throw LogError(error)
            }
            if let warning = session.takeWarnings().first {
                throw .commitUnknown("the database server warned (\(warning.message))")
            }
        }
    }

    /// All keys on the server.
    static func table(_ session: Session, check: [UInt8]) throws(LogError) -> KeyTable {
        // The keys first: one that is destroyed between the two statements must not count as there.
        let keys = try rows(after: 0, session)
        let destroyed: [Int64]
        do throws(PostgreSQLError) {
            let rows = try session.run("SELECT id FROM whereabouts.destroyed ORDER BY id")
            destroyed = (0..<rows.count).map { rows.int($0, 0) }
        } catch { throw LogError(error) }
        let gone = Set(destroyed)
        return KeyTable(keys: keys.filter { !gone.contains($0.id) }, destroyed: destroyed, check: check)
    }

    /// The keys on the server with ids after this one, by ascending id.
    static func rows(after id: Int64, _ session: Session) throws(LogError) -> [KeyRow] {
        do throws(PostgreSQLError) {
            let keys = try session.run(
                "SELECT id, person, class, period, wrapped FROM whereabouts.key WHERE id > $1 ORDER BY id", [id])
            return (0..<keys.count).map { row in
                KeyRow(
                    id: keys.int(row, 0), person: keys.int(row, 1), keyClass: keys.int(row, 2),
                    period: keys.int(row, 3), wrapped: keys.bytes(row, 4))
            }
        } catch { throw LogError(error) }
    }
}
