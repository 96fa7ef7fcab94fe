import CSQLite
import Glibc

extension Connection {
    /// Copies the database, as of one moment, into a new file (online backup API, `sqlite3_backup_step`).
    ///
    /// Use a dedicated reading connection. The copy is made inside one reading transaction, so it never starts over,
    /// however much is written meanwhile. Until it is done, checkpoints cannot pass the moment of its start.
    ///
    /// - Parameters:
    ///   - path: where the copy goes; nothing may be there. The file is readable by its owner only, synced at the end,
    ///     and removed when the backup fails.
    ///   - progress: called with the remaining and the total pages after each step of `backupStepPages` pages.
    /// - Throws: `SQLITE_CANTOPEN` when `path` exists or cannot be made; a failure to read or write on either side.
    package func backup(
        to path: String, progress: (_ remaining: Int, _ total: Int) -> Void
    ) throws(SQLiteError) {
        var status = stat()
        if lstat(path, &status) == 0 {
            throw SQLiteError(code: SQLITE_CANTOPEN, message: "a backup does not overwrite an existing file")
        }
        let target = try Connection(path: path, access: .readWrite)
        do {
            if isInTransaction {
                try copyPages(to: target, progress)
            } else {
                try snapshot { () throws(SQLiteError) in try copyPages(to: target, progress) }
            }
        } catch {
            unlink(path)
            unlink(path + "-journal")
            throw error
        }
    }

    /// 1 MiB at the usual page size of 4 KiB: some milliseconds between two words of progress.
    private static var backupStepPages: Int32 { 256 }

    private func copyPages(
        to target: borrowing Connection, _ progress: (_ remaining: Int, _ total: Int) -> Void
    ) throws(SQLiteError) {
        // The deferred BEGIN becomes a read transaction with its first read; without one, each step would see another
        // state and start over after every commit.
        try cached("SELECT 1 FROM sqlite_schema LIMIT 1") { statement throws(SQLiteError) in try statement.run() }
        guard let backup = sqlite3_backup_init(target.handle, "main", handle, "main") else {
            throw SQLiteError(extendedCode: sqlite3_extended_errcode(target.handle), handle: target.handle, sql: nil)
        }
        var code = SQLITE_OK
        while code == SQLITE_OK {
            code = sqlite3_backup_step(backup, Self.backupStepPages)
            progress(Int(sqlite3_backup_remaining(backup)), Int(sqlite3_backup_pagecount(backup)))
        }
        let end = sqlite3_backup_finish(backup)
        // `finish` repeats a failure of the steps and leaves its message with the target; a lock it does not repeat.
        try Self.check(end, target.handle, nil)
        if code != SQLITE_DONE { throw SQLiteError(extendedCode: code, handle: target.handle, sql: nil) }
    }
}
