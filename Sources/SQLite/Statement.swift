import CSQLite

/// A prepared statement (`sqlite3_stmt`): bind, step, read the row's columns, reset.
///
/// Parameters are numbered from 1 and columns from 0, as in C. One thread at a time, the one that uses its connection.
/// The statement keeps its connection open until it is gone (`sqlite3_close_v2`).
package struct Statement: ~Copyable {
    let handle: OpaquePointer

    /// Takes over `handle`, which is finalized with the statement.
    init(handle: OpaquePointer) {
        self.handle = handle
    }

    deinit {
        // The code repeats the failure of the last step, which that step has thrown.
        sqlite3_finalize(handle)
    }

    // MARK: Steps

    /// Runs to the next row (`sqlite3_step`).
    ///
    /// - Returns: `true` on a row, `false` at the end. The step after the end starts over.
    /// - Throws: SQLite's error; the statement is then reset, its bindings kept.
    package func step() throws(SQLiteError) -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        throw stepFailure(code)
    }

    /// Runs to the end, passing over any rows, and resets. Bindings are kept.
    package func run() throws(SQLiteError) {
        while try step() {}
        reset()
    }

    /// Goes back to before the first row and lets go of read locks (`sqlite3_reset`). Bindings are kept.
    package func reset() {
        // The code repeats the failure of the last step, which that step has thrown.
        sqlite3_reset(handle)
    }

    /// Makes every parameter NULL (`sqlite3_clear_bindings`); the statement must have been reset.
    func clearBindings() {
        sqlite3_clear_bindings(handle)
    }

    // MARK: Failures

    @inline(never)
    private func stepFailure(_ code: Int32) -> SQLiteError {
        let error = failure(code)
        sqlite3_reset(handle)
        return error
    }

    @inline(never)
    func failure(_ code: Int32) -> SQLiteError {
        SQLiteError(
            extendedCode: code, handle: sqlite3_db_handle(handle), sql: sqlite3_sql(handle).map { String(cString: $0) })
    }
}
