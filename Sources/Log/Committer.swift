import Glibc
import Synchronization
import Threading
import Whereabouts

/// Hashes batches, makes them durable and answers their callers, on a separate thread, while the writer's thread decides
/// and seals the next batch. That is about half of an append's work, plus the wait for the disk.
///
/// The file and the tip belong to the thread that has the turn (``WriterQueue``).
final class Committer: @unchecked Sendable {
    // Only the thread with the turn uses `store` and `tip`; the turn changes through the monitors.
    let store: LogStore
    private(set) var tip: LogTip
    private unowned let log: EventLog
    private let slot = Monitor(Slot())
    private var thread: WorkerThread?
    private struct Slot {
        /// The batch that waits for the thread if `isFull`, and else an empty one, whose arrays keep their capacity.
        var batch = Batch()
        var isFull = false
        var isStopping = false
    }

    /// 64 MiB: with more, a checkpoint is made between two batches even under load.
    private static let pagesPerCheckpoint = 16_000

    /// - Parameter log: Must outlive the committer.
    init(store: LogStore, tip: consuming LogTip, log: EventLog) {
        (self.store, self.log) = (store, log)
        self.tip = tip
    }

    /// Starts the thread.
    func start() {
        thread = WorkerThread { [self] in
            var batch = Batch()
            while takes(&batch) {
                repeat {} while log.queue.passTurn(&batch, for: commit(&batch))
            }
        }
    }

    /// Waits for a batch and takes it, for an empty one; `false` if none comes any more.
    private func takes(_ batch: inout Batch) -> Bool {
        slot.wait { slot in
            guard slot.isFull else { return slot.isStopping ? false : nil }
            swap(&slot.batch, &batch)
            slot.isFull = false
            return true
        } ?? false
    }

    /// Ends the thread, after the batch that it has.
    func stop() {
        slot.change { $0.isStopping = true }
        thread?.join()
    }

    /// Gives the turn to the committing thread, with the batch; `batch` is then an empty one for the next commands.
    func handOver(_ batch: inout Batch) {
        slot.change { slot in
            swap(&slot.batch, &batch)
            slot.isFull = true
        }
    }

    /// Writes a batch, answers its callers, empties it, and makes a checkpoint if one is due. Called by the thread with the
    /// turn. A fault stops the log, and the callers get it.
    ///
    /// - Returns: The callers that the next commit waits for.
    func commit(_ batch: inout Batch) -> Gathering {
        let answered = batch.answers.count
        let (start, workStart) = (MonotonicClock.seconds, MonotonicClock.workSeconds)
        var gathering = Gathering()
        do throws(LogError) {
            if let failure = log.failure { throw failure }
            try write(batch)
            gathering = log.queue.gathering(
                answering: answered, commitSeconds: MonotonicClock.seconds - start,
                workSeconds: MonotonicClock.workSeconds - workStart)
            answer(&batch, nil)
            if store.pagesSinceCheckpoint >= Self.pagesPerCheckpoint { try store.checkpoint() }
        } catch {
            log.fail(error)
            answer(&batch, error)
        }
        return gathering
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
        let leaf = batch.fixes.count == batch.events.count ? tip.headLeaf : nil
        if let leaf { log.recentFixes.append(batch.fixes, through: tip.size, leaf) }
        log.publish(head: tip.size, ended: batch.ended)
    }

    /// One try: the keys first, because an event must not be durable without its key.
    private func writeOnce(_ batch: borrowing Batch) throws(LogError) {
        try log.keys.makeDurable()
        try store.write(batch, &tip)
    }

    /// Gives each caller its result, or the failure, in the order in which they waited. Empties the batch.
    func answer(_ batch: inout Batch, _ failure: LogError?) {
        for answer in batch.answers {
            if let failure { answer.completion(.failure(.fault(failure))) } else { answer.completion(answer.result) }
        }
        batch.empty()
    }
}
