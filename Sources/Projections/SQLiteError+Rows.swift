package import SQLite

extension SQLiteError {
    /// A row that no fold wrote. The file is deleted and folded again (`SQLITE_CORRUPT`).
    package static var damagedProjection: SQLiteError {
        SQLiteError(code: 11, message: "a row of the projection is damaged: its fold never writes such a row")
    }
}
