import CSQLite

/// Parameters. Every `bind` throws `SQLITE_RANGE` for an index the statement does not have, `SQLITE_TOOBIG` for a value
/// above SQLite's bound (1,000,000,000 bytes) and `SQLITE_MISUSE` between a row and the reset.
extension Statement {
    /// Binds an integer (`sqlite3_bind_int64`).
    package func bind(_ value: Int64, at index: Int32) throws(SQLiteError) {
        try check(sqlite3_bind_int64(handle, index, value))
    }

    /// Binds an integer (`sqlite3_bind_int64`).
    package func bind(_ value: Int, at index: Int32) throws(SQLiteError) {
        try check(sqlite3_bind_int64(handle, index, Int64(value)))
    }

    /// Binds a real number (`sqlite3_bind_double`). SQLite keeps no NaN: it becomes NULL. -0.0 in a column of type REAL
    /// comes back as 0.0, since SQLite stores whole reals there as integers.
    package func bind(_ value: Double, at index: Int32) throws(SQLiteError) {
        try check(sqlite3_bind_double(handle, index, value))
    }

    /// Binds an integer, or NULL for `nil`.
    package func bind(_ value: Int64?, at index: Int32) throws(SQLiteError) {
        if let value { try bind(value, at: index) } else { try bindNull(at: index) }
    }

    /// Binds a real number, or NULL for `nil`.
    package func bind(_ value: Double?, at index: Int32) throws(SQLiteError) {
        if let value { try bind(value, at: index) } else { try bindNull(at: index) }
    }

    /// Binds a copy of `text` as UTF-8 (`sqlite3_bind_text64`), with any NUL characters inside. SQL functions stop at
    /// the first NUL; ``text(at:)`` does not.
    package func bind(_ text: String, at index: Int32) throws(SQLiteError) {
        var text = text
        let code = text.withUTF8 { utf8 in
            guard let start = utf8.baseAddress else { return sqlite3_bind_text(handle, index, "", 0, nil) }
            return start.withMemoryRebound(to: CChar.self, capacity: utf8.count) {
                sqlite3_bind_text64(handle, index, $0, UInt64(utf8.count), copied, UInt8(SQLITE_UTF8))
            }
        }
        try check(code)
    }

    /// Binds a copy of `text`, or NULL for `nil`.
    package func bind(_ text: String?, at index: Int32) throws(SQLiteError) {
        if let text { try bind(text, at: index) } else { try bindNull(at: index) }
    }

    /// Binds a copy of `bytes` as a blob, a blob of no bytes when there are none.
    package func bind(_ bytes: [UInt8], at index: Int32) throws(SQLiteError) {
        let code = bytes.withUnsafeBytes { bindBlob($0, at: index, copied) }
        try check(code)
    }

    /// Binds a copy of `bytes` as a blob, or NULL for `nil`.
    package func bind(_ bytes: [UInt8]?, at index: Int32) throws(SQLiteError) {
        if let bytes { try bind(bytes, at: index) } else { try bindNull(at: index) }
    }

    /// Binds a copy of `bytes` as a blob (`SQLITE_TRANSIENT`), a blob of no bytes when there are none.
    package func bind(_ bytes: UnsafeRawBufferPointer, at index: Int32) throws(SQLiteError) {
        try check(bindBlob(bytes, at: index, copied))
    }

    /// Binds `bytes` as a blob without copying (`SQLITE_STATIC`).
    ///
    /// The buffer must stay in place and unchanged until the statement has been reset *and* the parameter bound anew,
    /// or until the end of ``Connection/cached(_:_:)``, which clears all bindings.
    package func bindUncopied(_ bytes: UnsafeRawBufferPointer, at index: Int32) throws(SQLiteError) {
        try check(bindBlob(bytes, at: index, nil))
    }

    /// Binds NULL (`sqlite3_bind_null`), which every parameter is at first.
    package func bindNull(at index: Int32) throws(SQLiteError) {
        try check(sqlite3_bind_null(handle, index))
    }

    private func bindBlob(
        _ bytes: UnsafeRawBufferPointer, at index: Int32, _ destructor: sqlite3_destructor_type?
    ) -> Int32 {
        // An empty Swift buffer may have no address, and SQLite would take that for NULL.
        if bytes.isEmpty { return sqlite3_bind_zeroblob(handle, index, 0) }
        return sqlite3_bind_blob64(handle, index, bytes.baseAddress, UInt64(bytes.count), destructor)
    }

    private func check(_ code: Int32) throws(SQLiteError) {
        if code != SQLITE_OK { throw failure(code) }
    }
}

/// `SQLITE_TRANSIENT`, a macro with a cast that Swift does not import: SQLite makes its own copy.
private var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
