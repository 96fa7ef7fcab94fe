import CSQLite

/// Columns of the current row, numbered from 0. Reading where there is no row or no such column is a bug, which debug
/// builds stop at. A value of another type is converted by SQLite's rules (NULL: 0, 0.0, empty); tables are STRICT.
extension Statement {
    /// The integer (`sqlite3_column_int64`).
    package func int(at column: Int32) -> Int64 {
        assertRow(has: column)
        return sqlite3_column_int64(handle, column)
    }

    /// The real number (`sqlite3_column_double`).
    package func double(at column: Int32) -> Double {
        assertRow(has: column)
        return sqlite3_column_double(handle, column)
    }

    /// A copy of the text, NUL characters included. Invalid UTF-8 in the file becomes U+FFFD.
    package func text(at column: Int32) -> String {
        assertRow(has: column)
        // SQLite: the pointer first, then the length, so that the length is that of the converted value.
        guard let start = sqlite3_column_text(handle, column) else { return "" }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// A copy of the blob.
    package func bytes(at column: Int32) -> [UInt8] {
        [UInt8](blob(at: column))
    }

    /// Lends the blob without copying it. The buffer is dead after `body`, and after the next step.
    package func withBytes<R, E: Error>(
        at column: Int32, _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try body(blob(at: column))
    }

    /// The blob without a copy and without a closure, for a loop that reads many. The buffer is dead after the next step,
    /// a reset, and any other reading of this column.
    package func lentBytes(at column: Int32) -> UnsafeRawBufferPointer { blob(at: column) }

    /// Whether the value is NULL.
    package func isNull(at column: Int32) -> Bool {
        assertRow(has: column)
        return sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    /// Whether the value is an integer as it is in the file, before any conversion.
    package func isInteger(at column: Int32) -> Bool {
        assertRow(has: column)
        return sqlite3_column_type(handle, column) == SQLITE_INTEGER
    }

    /// Whether the value is a blob as it is in the file, before any conversion.
    package func isBlob(at column: Int32) -> Bool {
        assertRow(has: column)
        return sqlite3_column_type(handle, column) == SQLITE_BLOB
    }

    /// The integer, `nil` for NULL.
    package func optionalInt(at column: Int32) -> Int64? {
        isNull(at: column) ? nil : int(at: column)
    }

    /// The real number, `nil` for NULL.
    package func optionalDouble(at column: Int32) -> Double? {
        isNull(at: column) ? nil : double(at: column)
    }

    /// A copy of the text, `nil` for NULL.
    package func optionalText(at column: Int32) -> String? {
        isNull(at: column) ? nil : text(at: column)
    }

    /// A copy of the blob, `nil` for NULL.
    package func optionalBytes(at column: Int32) -> [UInt8]? {
        isNull(at: column) ? nil : bytes(at: column)
    }

    private func blob(at column: Int32) -> UnsafeRawBufferPointer {
        assertRow(has: column)
        // SQLite: the pointer first, then the length, so that the length is that of the converted value.
        let start = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(handle, column)))
    }

    private func assertRow(has column: Int32) {
        assert(column >= 0 && column < sqlite3_data_count(handle), "There is no row here, or it has no such column.")
    }
}
