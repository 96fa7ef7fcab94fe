package import Cryptography
package import Log
package import SQLite
import Threading
package import Whereabouts

/// One scan of the log for several projections: each batch of events is read once and folded into all of them.
///
/// A fold needs about as long as the reading, so both can go on at once: the caller's thread folds the projection that
/// took longest last time, and a second one folds the others and then reads the next batch. The projections share
/// nothing, so this changes no row. Only one thread at a time may call a scan.
package final class SharedScan {
    let reader: LogReader
    /// The batch that was read while the one before it was folded.
    private(set) var ahead: Batch?

    /// Events in the order of their numbers.
    package struct Batch {
        /// The number before that of the first event.
        package let after: Int64
        package let events: [RecordedEvent]
        /// The leaf of the last event; `nil` without events.
        package let leaf: Digest?
        /// `KeyRing.currentGeneration` when the events were opened. Once a key is destroyed, they must be opened again.
        let keys: Int
    }

    /// A projection that could not be folded, and why. Its transaction is rolled back.
    package typealias Fault = (projection: FollowedProjection, error: SQLiteError)

    /// - Parameter reader: Belongs to the scan while ``fold(_:into:thenReading:)`` runs.
    package init(_ reader: LogReader) { self.reader = reader }

    /// Up to `limit` events after `number`. The batch that was read ahead, if it is this one.
    ///
    /// - Throws: ``LogError`` if the log cannot be read there.
    package func batch(after number: Int64, limit: Int) throws(LogError) -> Batch {
        defer { ahead = nil }
        if let ahead, ahead.after == number, ahead.events.count <= limit, ahead.keys == reader.keys.currentGeneration {
            return ahead
        }
        return try read(after: number, limit: limit)
    }

    /// Removes what was read ahead from memory if no projection waits for it, or if a key was destroyed since.
    func forgetAhead(unless isNeeded: Bool) {
        if !isNeeded || ahead?.keys != reader.keys.currentGeneration { ahead = nil }
    }

    private func read(after number: Int64, limit: Int) throws(LogError) -> Batch {
        let keys = reader.keys.currentGeneration
        let (events, leaf) = try reader.batch(after: number, limit: limit)
        return Batch(after: number, events: events, leaf: leaf, keys: keys)
    }

    /// Folds a batch into the projections that do not have it, on two threads, and reads the next one meanwhile.
    ///
    /// Without anything to read and with one projection, or if no thread can be started, one thread does it all.
    ///
    /// - Parameter limit: The most events to read ahead; 0 for none.
    /// - Returns: The projections that failed. If reading ahead fails, ``batch(after:limit:)`` will say so.
    package func fold(_ batch: Batch, into projections: [FollowedProjection], thenReading limit: Int) -> [Fault] {
        guard let last = batch.events.last?.number, let leaf = batch.leaf else { return [] }
        let due = projections.filter { $0.place < last }.sorted { $0.lastFoldSeconds > $1.lastFoldSeconds }
        let beside = UncheckedBox((rest: due.dropFirst(), scan: self))
        let faults = Monitor<[UncheckedBox<Fault>]>([])
        @Sendable func foldRest() {
            for projection in beside.value.rest {
                if let error = Self.fold(batch, leaf, into: projection) {
                    faults.change { $0.append(UncheckedBox((projection, error))) }
                }
            }
            let scan = beside.value.scan
            if limit > 0 { scan.ahead = try? scan.read(after: last, limit: limit) }
        }
        let second = due.count > 1 || limit > 0 ? try? WorkerThread.started(foldRest) : nil
        if let first = due.first, let error = Self.fold(batch, leaf, into: first) {
            faults.change { $0.append(UncheckedBox((first, error))) }
        }
        if let second { second.join() } else if due.count > 1 { foldRest() }
        return faults.read { $0.map(\.value) }
    }

    /// Folds a batch into one projection after the other, on the calling thread.
    ///
    /// - Returns: The projections that failed.
    package func foldInTurn(_ batch: Batch, into projections: [FollowedProjection]) -> [Fault] {
        guard let last = batch.events.last?.number, let leaf = batch.leaf else { return [] }
        return projections.filter { $0.place < last }.compactMap { projection in
            Self.fold(batch, leaf, into: projection).map { (projection, $0) }
        }
    }

    /// As ``foldInTurn(_:into:)``, on a thread that has the processor only while no other thread of this machine wants it.
    /// Returns when it has ended.
    package func foldBehind(_ batch: Batch, into projections: [FollowedProjection]) -> [Fault] {
        let work = UncheckedBox((scan: self, batch: batch, projections: projections))
        let faults = Monitor<[UncheckedBox<Fault>]>([])
        @Sendable func fold() {
            let found = work.value.scan.foldInTurn(work.value.batch, into: work.value.projections)
            faults.change { $0 = found.map { UncheckedBox($0) } }
        }
        let thread = try? WorkerThread.started {
            WorkerThread.lowerPriority()
            fold()
        }
        if let thread { thread.join() } else { fold() }
        return faults.read { $0.map(\.value) }
    }

    private static func fold(_ batch: Batch, _ leaf: Digest, into projection: FollowedProjection) -> SQLiteError? {
        let began = MonotonicClock.seconds
        defer { projection.lastFoldSeconds = MonotonicClock.seconds - began }
        do throws(SQLiteError) {
            try projection.fold(batch.events, endingWith: leaf)
            return nil
        } catch { return error }
    }
}
