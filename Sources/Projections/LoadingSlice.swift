import Log
import SQLite
import Threading

/// A piece of a rebuild beside live traffic: one batch of events, folded into the files that are loaded. It runs on a thread
/// that has the processor only while no other thread of this machine wants it, so live folds never wait for it.
///
/// From `init` until ``end()`` returns, the scan and the projections belong to that thread.
final class LoadingSlice {
    let projections: [FollowedProjection]
    /// The states of the projections when the slice began.
    let status: [ProjectionHost.Status]
    /// The lowest place of the projections when the slice began.
    let from: Int64
    /// `nil` if the system has no thread left; the slice is then over when `init` returns.
    private let thread: WorkerThread?
    private let outcome = Monitor(Outcome())

    /// What a slice did.
    struct Outcome: Sendable {
        /// The time that it took, without the indexes.
        var seconds = 0.0
        /// The projections that failed, and why. Their transactions are rolled back.
        var faults: [UncheckedBox<SharedScan.Fault>] = []
        /// The number after which the log could not be read, and why.
        var unreadable: (place: Int64, error: LogError)?
    }

    /// Begins a slice.
    ///
    /// - Parameters:
    ///   - head: Up to here the log is folded. A file that reaches it gets its indexes.
    ///   - limit: The most events.
    ///   - ended: The last thing that the slice's thread calls.
    init(
        _ projections: [FollowedProjection], with scan: SharedScan, to head: Int64, limit: Int,
        ended: @escaping @Sendable () -> Void
    ) {
        self.projections = projections
        status = projections.map { ProjectionHost.Status($0, head: head) }
        from = projections.map(\.place).min() ?? head
        let (work, outcome) = (UncheckedBox((projections: projections, scan: scan)), outcome)
        @Sendable func fold() {
            let done = Self.fold(work.value.projections, with: work.value.scan, to: head, limit: limit)
            outcome.change { $0 = done }
            ended()
        }
        thread = try? WorkerThread.started {
            WorkerThread.lowerPriority()
            fold()
        }
        if thread == nil { fold() }
    }

    /// Waits until the slice is over.
    func end() -> Outcome {
        thread?.join()
        return outcome.read { $0 }
    }

    /// Projections that are close to each other share the events read.
    private static func fold(
        _ projections: [FollowedProjection], with scan: SharedScan, to head: Int64, limit: Int
    ) -> Outcome {
        let began = MonotonicClock.seconds
        var outcome = Outcome()
        var due = projections
        while let place = due.map(\.place).min(), place < head {
            let batch: SharedScan.Batch
            do throws(LogError) {
                batch = try scan.batch(after: place, limit: Int(min(Int64(limit), head - place)), for: due)
            } catch {
                outcome.unreadable = (place, error)
                break
            }
            guard let last = batch.last?.number else { break }
            outcome.faults += scan.foldInTurn(batch, into: due).map { UncheckedBox($0) }
            due.removeAll { $0.place <= last }
        }
        outcome.seconds = MonotonicClock.seconds - began
        for projection in projections where projection.place >= head {
            do throws(SQLiteError) { try projection.finishLoading() } catch {
                outcome.faults.append(UncheckedBox((projection, error)))
            }
        }
        return outcome
    }
}
