import CSQLite

extension Connection {
    /// How hard a checkpoint tries.
    package enum CheckpointMode: Sendable {
        /// Copies as much as it can without waiting for anyone (`SQLITE_CHECKPOINT_PASSIVE`).
        case passive
        /// Copies everything, waits for readers up to the busy timeout and cuts the WAL to zero bytes
        /// (`SQLITE_CHECKPOINT_TRUNCATE`). In normal running the WAL is better kept: overwriting it syncs faster.
        case truncate
    }

    /// Copies committed pages from the WAL into the database (`sqlite3_wal_checkpoint_v2`). Only the one writing
    /// connection of a database may do so, outside a transaction.
    ///
    /// - Returns: the frames (pages) in the WAL and how many of them have been copied so far; both 0 after a complete
    ///   ``CheckpointMode/truncate``, both -1 when the database is not in WAL mode.
    /// - Throws: ``SQLiteError/isBusy`` when readers would not let a ``CheckpointMode/truncate`` finish.
    package func checkpoint(_ mode: CheckpointMode) throws(SQLiteError) -> (walFrames: Int, checkpointed: Int) {
        var walFrames: Int32 = 0
        var checkpointed: Int32 = 0
        let how = mode == .passive ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE
        let code = sqlite3_wal_checkpoint_v2(handle, "main", how, &walFrames, &checkpointed)
        try Self.check(code, handle, nil)
        return (Int(walFrames), Int(checkpointed))
    }
}
