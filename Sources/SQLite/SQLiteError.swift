import CSQLite

/// A failure that SQLite reported, in words for the operator. It never contains a bound value.
package struct SQLiteError: Error, Sendable, CustomStringConvertible {
    /// The primary result code (`SQLITE_FULL` = 13 …), as listed in "Result and Error Codes" of the SQLite
    /// documentation.
    package let code: Int32
    /// The extended result code (`SQLITE_IOERR_FSYNC` = 1034 …); its low byte is ``code``.
    package let extendedCode: Int32
    /// SQLite's English sentence (`sqlite3_errmsg`). It names tables and columns, not values.
    package let message: String
    /// The statement that failed, with its parameters unbound; `nil` when the failure belongs to no statement.
    package let sql: String?

    /// The file is damaged or is no database (`SQLITE_CORRUPT`, `SQLITE_NOTADB`).
    package var isCorruption: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB }

    /// Whether a file that can be made again is damaged, or lacks our tables (`SQLITE_ERROR`, because our statements
    /// are right).
    package var meansDamage: Bool { isCorruption || code == 1 }
    /// A row breaks a constraint or a type of its table (`SQLITE_CONSTRAINT`, `SQLITE_MISMATCH`).
    package var isConstraint: Bool { code == SQLITE_CONSTRAINT || code == SQLITE_MISMATCH }
    /// The disk, or the bound on the size of the file, is full (`SQLITE_FULL`).
    package var isFull: Bool { code == SQLITE_FULL }
    /// Another connection held a lock for longer than the busy timeout (`SQLITE_BUSY`), or another statement of this
    /// connection holds the table (`SQLITE_LOCKED`).
    package var isBusy: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }

    package var description: String {
        let place = sql.map { " in: \($0)" } ?? ""
        return "SQLite \(extendedCode): \(message)\(place)"
    }

    /// The failure `code` that `handle`, if any, has just reported.
    init(extendedCode: Int32, handle: OpaquePointer?, sql: String?) {
        self.code = extendedCode & 0xFF
        self.extendedCode = extendedCode
        // The connection's message belongs to its latest call; when that was another one, the general text is right.
        let fits = handle != nil && sqlite3_extended_errcode(handle) == extendedCode
        self.message = String(cString: fits ? sqlite3_errmsg(handle) : sqlite3_errstr(extendedCode))
        self.sql = sql
    }

    /// A failure that SQLite did not report itself: a file name it would misread, or a row that its caller refuses.
    package init(code: Int32, message: String) {
        self.code = code & 0xFF
        self.extendedCode = code
        self.message = message
        self.sql = nil
    }
}
