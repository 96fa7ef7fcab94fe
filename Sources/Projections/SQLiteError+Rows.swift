package import SQLite

extension SQLiteError {
    /// A row of a file's bookkeeping with impossible content.
    package static var damagedRow: SQLiteError {
        SQLiteError(code: 11, message: "a bookkeeping row is damaged")
    }

    /// A row that no fold wrote. The file is deleted and folded again (`SQLITE_CORRUPT`).
    package static var damagedProjection: SQLiteError {
        SQLiteError(code: 11, message: "a row of the projection is damaged: its fold never writes such a row")
    }
}
