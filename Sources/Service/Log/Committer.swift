import Glibc
import Synchronization

/// Seals batches, makes them durable and answers the ones who wait, on a thread of its own while the writer's thread
/// decides the next batch: about half of an append's work, and the waiting for the disk.
///
/// The file and the sealer belong to whichever of the two threads holds the turn (``EventLog/Queue/isCommitting``).
final class Committer: @unchecked Sendable {
    // `store` and `sealer` are used by the thread that holds the turn; handing it over goes through the monitors.
    let store: LogStore
    private(set) var sealer: LogSealer
    private unowned let log: EventLog
    private let slot = Monitor(Slot())
    private var thread: WorkerThread?
    /// An emptied batch, so that its arrays need not grow anew.
    private struct Slot {
        var batch: Batch?
        var spare = Batch()
        var isStopping = false
    }

    /// 64 MiB: beyond that a checkpoint is made between two batches even under load.
    private static let pagesPerCheckpoint = 16_000

    init(store: LogStore, sealer: consuming LogSealer, log: EventLog) {
        (self.store, self.log) = (store, log)
        self.sealer = sealer
    }

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
                log.endTurn()
            }
        }
    }

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

    /// Writes a batch, tells its callers, and checkpoints when that is due. On the thread that holds the turn.
    func commit(_ batch: consuming Batch) {
        var batch = batch
        if let failure = log.failure { return answer(&batch, failure) }
        do throws(LogError) {
            try write(batch)
            answer(&batch, nil)
            if store.pagesSinceCheckpoint >= Self.pagesPerCheckpoint { try store.checkpoint() }
        } catch {
            log.fail(error)
            answer(&batch, error)
        }
    }

    /// Makes a batch durable without telling anybody yet.
    func write(_ batch: borrowing Batch) throws(LogError) {
        if batch.events.isEmpty { return }
        let start = MonotonicClock.seconds
        do throws(LogError) { try writeOnce(batch) } catch {
            // Nothing was synced, so the batch is written again, into the reserve.
            guard error.isFull, log.room?.spend() == true else { throw error }
            try writeOnce(batch)
        }
        log.commitSeconds.withLock { $0.add(seconds: MonotonicClock.seconds - start) }
        log.publish(head: sealer.range.size, ended: batch.ended)
    }

    private func writeOnce(_ batch: borrowing Batch) throws(LogError) {
        try log.keys.makeDurable()
        try store.write(batch, &sealer)
    }

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
