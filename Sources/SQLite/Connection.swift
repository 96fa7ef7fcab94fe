import CSQLite
import Glibc

/// A connection to one SQLite database file (`sqlite3`).
///
/// **One writing connection.** A database in WAL mode is written, and checkpointed, by one connection of one process,
/// and every other connection is ``Access/readOnly``. SQLite before 3.51.3 can corrupt a WAL that two connections write
/// and checkpoint at the same instant ("The WAL-Reset Bug" in sqlite.org/wal.html); Debian 12 has 3.40.1. For the same
/// reason a reading connection here never checkpoints, not after a commit (`wal_autocheckpoint=0`) and not when it is
/// the last to close (its file is open for reading only), no file is mapped (`mmap_size=0`), backups are taken from
/// inside the process, and a live file must not be opened with the `sqlite3` shell.
///
/// Use it on one thread at a time: the connection takes no locks (`SQLITE_OPEN_NOMUTEX`). All methods only borrow the
/// connection, so that a class can keep it in a `let`.
///
/// Every connection reports extended result codes, waits up to 5 s for a lock, distrusts functions named in the schema
/// (`trusted_schema=OFF`) and looks for damaged pages (`cell_size_check=ON`). `journal_mode` and `synchronous` are the
/// owner's to choose.
package struct Connection: ~Copyable {
    /// The access of a connection.
    package enum Access: Sendable {
        /// Reads and writes; makes a missing file, readable by its owner only (mode 0600, and so are its WAL and its
        /// shared memory). An existing file keeps its mode.
        case readWrite
        /// Reads an existing file (`SQLITE_OPEN_READONLY`, `query_only`) and never checkpoints.
        case readOnly
        /// Reads a file that no process can change meanwhile, such as one on read-only media (`immutable=1`). It takes
        /// no locks and ignores a journal or WAL beside the file.
        case immutable
    }

    let handle: OpaquePointer
    private let statements = StatementCache()

    /// Opens the file at `path` (`sqlite3_open_v2`).
    ///
    /// - Parameters:
    ///   - path: a path as the system calls take it, absolute or relative to the working directory; `?`, `#` and `%`
    ///     are letters like any other and nothing is a URI. Only `:memory:` is no path: a new database in memory.
    ///   - access: whether it may be written.
    /// - Throws: `SQLITE_CANTOPEN` when the file cannot be opened or made. SQLite reads the file with the first
    ///   statement, so that a file which is no database is found out then (``SQLiteError/isCorruption``).
    package init(path: String, access: Access) throws(SQLiteError) {
        self.handle = try Self.open(path: path, access: access)
    }

    deinit {
        statements.removeAll()
        // Statements that are still alive keep the connection; SQLite frees it with the last of them.
        sqlite3_close_v2(handle)
    }

    // MARK: Statements

    /// Runs one or several statements, passing over any rows (`sqlite3_exec`).
    package func execute(_ sql: StaticString) throws(SQLiteError) {
        try Self.check(sqlite3_exec(handle, sql.cString, nil, nil, nil), handle, sql.description)
    }

    /// Compiles the first statement in `sql` (`sqlite3_prepare_v3`, to be kept for long).
    package func prepare(_ sql: StaticString) throws(SQLiteError) -> Statement {
        Statement(handle: try Self.prepare(sql.cString, handle))
    }

    /// Lends the statement compiled from `sql`, which the connection keeps for the next time.
    ///
    /// After `body`, also when it throws, the statement is reset and its bindings are cleared. The key is the literal's
    /// address, so that one literal in the source is compiled once; a use inside its own `body` gets another statement.
    package func cached<R>(
        _ sql: StaticString, _ body: (borrowing Statement) throws(SQLiteError) -> R
    ) throws(SQLiteError) -> R {
        let entry = try statements.take(sql) { () throws(SQLiteError) in try Self.prepare(sql.cString, handle) }
        defer { statements.giveBack(entry) }
        return try body(entry.statement)
    }

    /// The steps SQLite would take for `sql` (`EXPLAIN QUERY PLAN`), a line each, such as
    /// `SEARCH event USING INTEGER PRIMARY KEY (rowid=?)`.
    package func explainQueryPlan(_ sql: StaticString) throws(SQLiteError) -> [String] {
        let plan = Statement(handle: try Self.prepare("EXPLAIN QUERY PLAN " + sql.description, handle))
        var lines: [String] = []
        while try plan.step() { lines.append(plan.text(at: 3)) }
        return lines
    }

    // MARK: State

    /// The row id of this connection's latest insert into a table with row ids (`sqlite3_last_insert_rowid`); 0 before.
    package var lastInsertRowID: Int64 { sqlite3_last_insert_rowid(handle) }

    /// How many rows the latest INSERT, UPDATE or DELETE changed itself, without triggers (`sqlite3_changes64`).
    package var changes: Int { Int(sqlite3_changes64(handle)) }

    /// Whether a transaction is open (`sqlite3_get_autocommit`).
    package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Looks through the file for damage (`PRAGMA quick_check`), at most 100 findings. Reads the whole file.
    ///
    /// - Returns: SQLite's findings; none when the file is sound. Where damage stops the look itself, that it did so is
    ///   the last finding.
    /// - Throws: every error except damage, for example a failure to read.
    package func quickCheck() throws(SQLiteError) -> [String] {
        var findings: [String] = []
        do {
            let check = try prepare("PRAGMA quick_check")
            while try check.step() { findings.append(check.text(at: 0)) }
        } catch {
            guard error.isCorruption else { throw error }
            return findings + [error.message]
        }
        return findings == ["ok"] ? [] : findings
    }
}

// MARK: - Opening

extension Connection {
    private static func open(path: String, access: Access) throws(SQLiteError) -> OpaquePointer {
        _ = countsNoMemory
        let name = try fileName(path, access)
        if access == .readWrite && name != inMemory {
            // SQLite would make the file 0644. Made by `mknod`, it needs no descriptor of the process: closing one
            // would drop the locks that this process may hold on the file (POSIX). If it fails because the file exists,
            // nothing is wrong; for any other failure, SQLite reports below that it cannot open the file.
            mknod(name, S_IFREG | 0o600, 0)
        }
        var handle: OpaquePointer?
        let mode =
            switch access {
            case .readWrite: SQLITE_OPEN_READWRITE
            case .readOnly: SQLITE_OPEN_READONLY
            case .immutable: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            }
        let flags = SQLITE_OPEN_NOMUTEX | mode
        let code = sqlite3_open_v2(name, &handle, flags, nil)
        guard code == SQLITE_OK, let handle else {
            let error = SQLiteError(extendedCode: code, handle: handle, sql: nil)
            sqlite3_close_v2(handle)
            throw error
        }
        do {
            try configure(handle, access)
        } catch {
            sqlite3_close_v2(handle)
            throw error
        }
        return handle
    }

    /// SQLite counts its memory under a lock of the process, which each allocation of any connection takes. A thread of
    /// low priority that is interrupted there would stop the threads of all others. Nothing reads the count.
    private static let countsNoMemory = csqlite_turn_off_memory_statistics() == SQLITE_OK

    private static let inMemory = ":memory:"

    /// The name to hand to SQLite, which reads `file:…` as a URI and `:…` as its own where a path is not spelled out.
    private static func fileName(_ path: String, _ access: Access) throws(SQLiteError) -> String {
        if path.isEmpty || path.utf8.contains(0) {
            throw SQLiteError(code: SQLITE_CANTOPEN, message: "the path is empty or holds a NUL character")
        }
        if access == .immutable { return uri(path) + "?immutable=1" }
        return path == inMemory || path.hasPrefix("/") ? path : "./" + path
    }

    /// `path` as a URI, with every byte escaped except letters, digits and a few marks (RFC 3986).
    private static func uri(_ path: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text = Array("file:".utf8)
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                text.append(byte)
            default: text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func configure(_ handle: OpaquePointer, _ access: Access) throws(SQLiteError) {
        try check(sqlite3_extended_result_codes(handle, 1), handle, nil)
        try check(sqlite3_busy_timeout(handle, busyTimeoutMilliseconds), handle, nil)
        var settings = "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA mmap_size=0;"
        if access != .readWrite {
            try check(sqlite3_wal_autocheckpoint(handle, 0), handle, nil)
            settings += "PRAGMA query_only=ON;"
        }
        try check(sqlite3_exec(handle, settings, nil, nil, nil), handle, settings)
    }

    /// Longer than any checkpoint or commit of the service, short enough that a forgotten lock is noticed.
    private static let busyTimeoutMilliseconds: Int32 = 5_000

    static func prepare(_ sql: UnsafePointer<CChar>, _ handle: OpaquePointer) throws(SQLiteError) -> OpaquePointer {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        try check(code, handle, String(cString: sql))
        guard let statement else { preconditionFailure("There is no SQL in a literal handed to SQLite.") }
        return statement
    }

    static func check(_ code: Int32, _ handle: OpaquePointer, _ sql: @autoclosure () -> String?) throws(SQLiteError) {
        if code != SQLITE_OK { throw SQLiteError(extendedCode: code, handle: handle, sql: sql()) }
    }
}

extension StaticString {
    /// The literal as C wants it; the compiler ends every literal with a NUL.
    var cString: UnsafePointer<CChar> {
        precondition(hasPointerRepresentation, "A single character is not SQL.")
        return UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
    }
}
