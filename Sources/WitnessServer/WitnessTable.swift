internal import Cryptography
internal import SQLite
internal import Transparency

/// The last cosigned size and root of each log, in the file `state.sqlite`.
///
///     origin                                  size  root
///     where.example/whereabouts/7f3c/p/k2m9   3     x'5aac57…'
///
/// A log that the witness no longer knows keeps its row, so that it cannot begin anew later.
///
/// One thread at a time uses it.
final class WitnessTable: WitnessStore {
    let connection: Connection

    /// Opens the file, or makes it with mode 0600.
    ///
    /// - Throws: `SQLITE_CORRUPT` or `SQLITE_NOTADB` when it is damaged or something else, and SQLite's other failures.
    init(path: String) throws(SQLiteError) {
        connection = try Connection(path: path, access: .readWrite)
        // A commit cuts the journal and, at FULL, syncs that (`pager_end_transaction`): it is durable when COMMIT returns.
        // With DELETE, the journal's name could come back after a power failure and undo the last commit.
        try connection.execute("PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL")
        try connection.execute(
            """
            CREATE TABLE IF NOT EXISTS witnessed_log (
                origin TEXT NOT NULL PRIMARY KEY,
                size INTEGER NOT NULL CHECK (size >= 0),
                root BLOB NOT NULL CHECK (length(root) = 32)
            ) STRICT, WITHOUT ROWID
            """)
        if let finding = try connection.quickCheck().first {
            throw SQLiteError(code: Self.corruption, message: finding)
        }
    }

    /// `SQLITE_CORRUPT`.
    private static let corruption: Int32 = 11

    static let selectState: StaticString = "SELECT size, root FROM witnessed_log WHERE origin = ?1"
    static let insertState: StaticString =
        "INSERT INTO witnessed_log (origin, size, root) VALUES (?1, ?2, ?3) ON CONFLICT (origin) DO NOTHING"
    static let updateState: StaticString =
        "UPDATE witnessed_log SET size = ?2, root = ?3 WHERE origin = ?1 AND size = ?4 AND root = ?5"

    func state(of origin: LogOrigin) throws(SQLiteError) -> WitnessedState? {
        try connection.cached(Self.selectState) { statement throws(SQLiteError) in
            try statement.bind(origin.text, at: 1)
            guard try statement.step() else { return nil }
            guard let root = Digest(bytes: statement.bytes(at: 1)) else {
                throw SQLiteError(code: Self.corruption, message: "a root has not 32 bytes")
            }
            return WitnessedState(size: statement.int(at: 0), root: root)
        }
    }

    func count(under prefix: String) throws(SQLiteError) -> Int {
        try connection.cached(
            "SELECT count(*) FROM witnessed_log WHERE substr(origin, 1, length(?1)) = ?1"
        ) { statement throws(SQLiteError) in
            try statement.bind(prefix, at: 1)
            _ = try statement.step()
            return Int(statement.int(at: 0))
        }
    }

    func replace(
        _ old: WitnessedState?, with new: WitnessedState, for origin: LogOrigin
    ) throws(SQLiteError) -> Bool {
        // One statement compares and writes, in a separate transaction.
        try connection.cached(old == nil ? Self.insertState : Self.updateState) { statement throws(SQLiteError) in
            try statement.bind(origin.text, at: 1)
            try statement.bind(new.size, at: 2)
            try statement.bind(new.root.bytes, at: 3)
            if let old {
                try statement.bind(old.size, at: 4)
                try statement.bind(old.root.bytes, at: 5)
            }
            try statement.run()
        }
        return connection.changes == 1
    }
}
