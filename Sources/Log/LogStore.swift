import Cryptography
import Threading
import Transparency
import Whereabouts

/// Writes batches: into the server of the log if there is one, then into the file. It belongs to one thread at a time, the
/// writer's or the committing one.
final class LogStore {
    private let file: SQLiteLogEngine
    /// Where a batch becomes durable before it is in the file; `nil` if the file is the only place.
    private let server: (any LogEngine)?
    /// The row `log` as it was when the log was opened, with the epoch that the next commit writes.
    private(set) var identity: LogIdentity
    private let witness: WitnessFile
    /// About the number of pages written since the last checkpoint.
    private(set) var pagesSinceCheckpoint = 0
    /// When the server is asked next whether this process still has the log, on the monotonic clock.
    private var nextConfirmation = 0.0
    private static let secondsPerConfirmation = 2.0

    /// Opens or creates the file.
    ///
    /// - Parameter server: The engine whose copy the file is. The caller has taken the log there and completed the copy.
    /// - Throws: As ``SQLiteLogEngine/init(path:isCopy:)``.
    init(path: String, server: (any LogEngine)? = nil) throws(LogError) {
        file = try SQLiteLogEngine(path: path, isCopy: server != nil)
        self.server = server
        identity = file.identity
        witness = WitnessFile(besideLog: path)
    }

    /// Hashes the events of a batch and inserts them and the row `log` in one transaction, which is durable on return.
    ///
    /// - Throws: ``LogError``. If the disk is full (``LogError/isFull``), nothing of the batch is stored and the
    ///   tip is unchanged, so the same batch may be written again: SQLite finds the disk full before it syncs.
    func write(_ batch: borrowing Batch, _ tip: inout LogTip) throws(LogError) {
        let previous = tip.size
        tip.begin()
        let bytes: Int
        do throws(LogError) {
            bytes = try insert(batch, &tip)
            try commit(LogEnd(epoch: identity.epoch, range: tip.range, head: tip.headLeaf), after: previous)
        } catch {
            file.rollBack()
            server?.rollBack()
            tip.takeBack()
            throw error
        }
        witness.note(
            LogWitness(
                log: identity.id, epoch: identity.epoch, number: tip.size, leaf: tip.headLeaf))
        // The pages of the row `log`, the newest leaf page, its parent and the first page, plus those that the events
        // fill.
        pagesSinceCheckpoint += 4 + (bytes + 90 * batch.events.count) / 4096
    }

    /// Hashes the events and adds them to a batch of each engine. Returns the number of bytes of the batch.
    private func insert(_ batch: borrowing Batch, _ tip: inout LogTip) throws(LogError) -> Int {
        try server?.begin()
        try file.begin()
        let result: Result<Int, LogError> = batch.bytes.withBytes { bytes in
            do throws(LogError) {
                for event in batch.events {
                    let leaf = try tip.append(event, of: bytes)
                    let body = UnsafeRawBufferPointer(rebasing: bytes[event.body])
                    try server?.insert(event.header, body: body, leaf)
                    try file.insert(event.header, body: body, leaf)
                }
                return .success(bytes.count)
            } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// Commits the server's batch, then the file's. A copy that cannot follow its server stops the log, because the server
    /// has the batch.
    private func commit(_ end: LogEnd, after previous: Int64) throws(LogError) {
        if let server { try server.commit(end, after: previous).get() }
        do throws(LogError) { try file.commit(end, after: previous).get() } catch {
            throw server == nil ? error : .copyBehind("\(error)")
        }
    }

    /// Asks the server, if there is one, whether this process still has the log: without work it would not notice.
    func confirm() throws(LogError) {
        guard let server, nextConfirmation <= MonotonicClock.seconds else { return }
        try server.confirm()
        nextConfirmation = MonotonicClock.seconds + Self.secondsPerConfirmation
    }

    /// Moves pages that no reader needs from the write-ahead log into the database, without waiting for readers. Also
    /// makes the witness durable.
    func checkpoint() throws(LogError) {
        try file.checkpoint()
        witness.sync()
        pagesSinceCheckpoint = 0
    }

    /// Uses a higher epoch from the next commit on, so that projections of the lost events are not taken for this
    /// log's.
    func beginEpoch(after loss: LogLoss) {
        identity = LogIdentity(
            id: identity.id, epoch: max(identity.epoch, loss.epoch) + 1, range: identity.range, head: identity.head)
    }
}

extension CommitOutcome {
    /// Throws unless the batch is durable.
    package func get() throws(LogError) {
        switch self {
        case .committed: return
        case .fenced(let error), .unknown(let error), .failed(let error): throw error
        }
    }
}
