import CSQLite

extension Connection {
    /// Runs `body` in one writing transaction: `BEGIN IMMEDIATE`, then `COMMIT`, or `ROLLBACK` when anything throws.
    ///
    /// Transactions do not nest: SQLite refuses the second BEGIN.
    package func transaction<R>(_ body: () throws(SQLiteError) -> R) throws(SQLiteError) -> R {
        try begin()
        return try finish(body)
    }

    /// Runs `body` in one reading transaction (`BEGIN`), so that all it reads is of one moment, that of its first read.
    ///
    /// A snapshot holds back checkpoints; keep it short.
    package func snapshot<R>(_ body: () throws(SQLiteError) -> R) throws(SQLiteError) -> R {
        try run("BEGIN")
        return try finish(body)
    }

    /// Opens a writing transaction (`BEGIN IMMEDIATE`), waiting for another writer up to the busy timeout.
    package func begin() throws(SQLiteError) {
        try run("BEGIN IMMEDIATE")
    }

    /// Makes the transaction's changes final (`COMMIT`).
    ///
    /// - Throws: SQLite's error; the transaction may then still be open and needs a ``rollback()``.
    package func commit() throws(SQLiteError) {
        try run("COMMIT")
    }

    /// Undoes the open transaction (`ROLLBACK`). Does nothing when none is open: some failures (full disk, I/O) end the
    /// transaction by themselves.
    package func rollback() throws(SQLiteError) {
        if isInTransaction { try run("ROLLBACK") }
    }

    private func finish<R>(_ body: () throws(SQLiteError) -> R) throws(SQLiteError) -> R {
        do {
            let result = try body()
            try commit()
            return result
        } catch {
            // The first failure is reported. If the ROLLBACK fails as well, the transaction stays open and
            // the next BEGIN is refused: nothing can be committed unnoticed.
            try? rollback()
            throw error
        }
    }

    private func run(_ sql: StaticString) throws(SQLiteError) {
        try cached(sql) { statement throws(SQLiteError) in try statement.run() }
    }
}
