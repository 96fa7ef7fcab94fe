import Glibc
import Synchronization
import Threading
import Whereabouts

/// Seals batches, makes them durable and answers their callers, on a separate thread, while the writer's thread decides
/// the next batch. That is about half of an append's work, plus the wait for the disk.
///
/// The file and the sealer belong to the thread that has the turn (``WriterQueue``).
final class Committer: @unchecked Sendable {
    // Only the thread with the turn uses `store` and `sealer`; the turn changes through the monitors.
    let store: LogStore
    private(set) var sealer: LogSealer
    private unowned let log: EventLog
    private let slot = Monitor(Slot())
    private var thread: WorkerThread?
    /// The batch that waits for the thread, and an emptied batch, whose arrays keep their capacity.
    private struct Slot {
        var batch: Batch?
        var spare = Batch()
        var isStopping = false
    }

    /// 64 MiB: with more, a checkpoint is made between two batches even under load.
    private static let pagesPerCheckpoint = 16_000

    /// - Parameter log: Must outlive the committer.
    init(store: LogStore, sealer: consuming LogSealer, log: EventLog) {
        (self.store, self.log) = (store, log)
        self.sealer = sealer
    }

    /// Starts the thread.
    func start() {
        thread = WorkerThread { [self] in
            while let batch = slot.wait(for: { slot -> Batch?? in
                if let batch = slot.batch {
                    slot.batch = nil
                    return .some(batch)
                }
                return slot.isStopping ? .some(nil) : nil
            }) ?? nil {
                commit(batch)
            }
        }
    }

    /// Ends the thread, after the batch that it has.
    func stop() {
        slot.change { $0.isStopping = true }
        thread?.join()
    }

    /// Gives the turn to the committing thread; returns an empty batch for the next commands.
    func handOver(_ batch: consuming Batch) -> Batch {
        let batch = batch
        return slot.change { slot in
            slot.batch = batch
            defer { slot.spare = Batch() }
            return slot.spare
        }
    }

    /// Writes a batch, answers its callers, makes a checkpoint if one is due, and ends the turn. Called by the thread with
    /// the turn. A fault stops the log, and the callers get it.
    func commit(_ batch: consuming Batch) {
        var batch = batch
        let answered = batch.answers.count
        let start = MonotonicClock.seconds
        var gathering = Gathering()
        do throws(LogError) {
            if let failure = log.failure { throw failure }
            try write(batch)
            gathering = log.queue.gathering(answering: answered, commitSeconds: MonotonicClock.seconds - start)
            answer(&batch, nil)
            if store.pagesSinceCheckpoint >= Self.pagesPerCheckpoint { try store.checkpoint() }
        } catch {
            log.fail(error)
            answer(&batch, error)
        }
        log.queue.endTurn(gathering)
    }

    /// Makes a batch durable without answering its callers. An empty batch costs nothing.
    ///
    /// - Throws: ``LogError``. A full disk is tried again once, in the space of the reserve (``Room/spend()``).
    func write(_ batch: borrowing Batch) throws(LogError) {
        if batch.events.isEmpty { return }
        let start = MonotonicClock.seconds
        log.commitBegan.withLock { $0 = start }
        defer { log.commitBegan.withLock { $0 = nil } }
        do throws(LogError) { try writeOnce(batch) } catch {
            // Nothing was synced, so the batch is written again, into the reserve.
            guard error.isFull, log.room?.spend() == true else { throw error }
            try writeOnce(batch)
        }
        log.commitSeconds.withLock { $0.add(seconds: MonotonicClock.seconds - start) }
        let leaf = batch.fixes.count == batch.events.count ? sealer.headLeaf : nil
        if let leaf { log.recentFixes.append(batch.fixes, through: sealer.size, leaf) }
        log.publish(head: sealer.size, ended: batch.ended)
    }

    /// One try: the keys first, because an event must not be durable without its key.
    private func writeOnce(_ batch: borrowing Batch) throws(LogError) {
        try log.keys.makeDurable()
        try store.write(batch, &sealer)
    }

    /// Gives each caller its result, or the failure, in the order in which they waited. Empties the batch and keeps it
    /// as the next spare.
    func answer(_ batch: inout Batch, _ failure: LogError?) {
        for (completion, result) in batch.answers {
            if let failure { completion(.failure(.fault(failure))) } else { completion(result) }
        }
        batch.empty()
        slot.read { [batch] in $0.spare = batch }
    }

    /// Forgets the schedules of keys that were destroyed.
    func forgetKeys() { sealer.forgetKeys() }
}
