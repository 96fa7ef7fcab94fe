package import SQLite

extension SQLiteError {
    /// A row of the log's bookkeeping with impossible content.
    package static var damagedRow: SQLiteError {
        SQLiteError(code: 11, message: "a bookkeeping row is damaged")
    }

    /// Whether a file that can be made again is damaged, or lacks our tables (`SQLITE_ERROR`, because our statements
    /// are right).
    package var meansDamage: Bool { isCorruption || code == 1 }
}
