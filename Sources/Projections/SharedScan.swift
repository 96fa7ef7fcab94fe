package import Cryptography
package import Log
package import SQLite
import Threading
package import Whereabouts

/// One scan of the log for several projections: each batch of events is read once and folded into all of them.
///
/// A fold needs about as long as the reading, so both can go on at once: the caller's thread folds the projection that
/// took longest last time, and a second one folds the others. The one that ends first begins to read the next batch, piece
/// after piece, and the other one helps. The projections share nothing, so this changes no row. Only one thread at a time
/// may call a scan.
package final class SharedScan {
    let reader: LogReader
    /// The caller's thread reads ahead with it; made when it is needed first.
    private var secondReader: LogReader?
    /// The pieces that the caller's thread has read ahead.
    private(set) var piecesOfCaller = 0
    /// The events of a piece.
    private let piece: Int
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

    /// - Parameters:
    ///   - reader: Belongs to the scan while ``fold(_:into:thenReading:)`` runs.
    ///   - piece: The events that a thread reads ahead at a time.
    package init(_ reader: LogReader, piece: Int = 2048) { (self.reader, self.piece) = (reader, piece) }

    /// Up to `limit` events after `number`. The batch that was read ahead, if it is this one.
    ///
    /// - Throws: ``LogError`` if the log cannot be read there.
    package func batch(after number: Int64, limit: Int) throws(LogError) -> Batch {
        defer { ahead = nil }
        if let ahead, ahead.after == number, ahead.events.count <= limit, ahead.keys == reader.keys.currentGeneration {
            return ahead
        }
        return try Self.read(after: number, limit: limit, with: reader)
    }

    /// Removes what was read ahead from memory if no projection waits for it, or if a key was destroyed since. The second
    /// reader is removed with it, because it keeps keys.
    func forgetAhead(unless isNeeded: Bool) {
        if isNeeded, ahead?.keys == reader.keys.currentGeneration { return }
        (ahead, secondReader) = (nil, nil)
    }

    private static func read(after number: Int64, limit: Int, with reader: LogReader) throws(LogError) -> Batch {
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
        let next = Ahead(after: last, limit: limit, piece: piece)
        let beside = UncheckedBox((rest: due.dropFirst(), reader: reader))
        let faults = Monitor<[UncheckedBox<Fault>]>([])
        @Sendable func foldRest() {
            for projection in beside.value.rest {
                if let error = Self.fold(batch, leaf, into: projection) {
                    faults.change { $0.append(UncheckedBox((projection, error))) }
                }
            }
            next.read(with: beside.value.reader)
        }
        let second = due.count > 1 || limit > 0 ? try? WorkerThread.started(foldRest) : nil
        if let first = due.first, let error = Self.fold(batch, leaf, into: first) {
            faults.change { $0.append(UncheckedBox((first, error))) }
        }
        if let second {
            if next.hasMore, secondReader == nil { secondReader = try? reader.another() }
            if let secondReader { piecesOfCaller += next.read(with: secondReader) }
            second.join()
        } else if due.count > 1 {
            foldRest()
        }
        ahead = next.batch
        return faults.read { $0.map(\.value) }
    }

    /// A batch that two threads read ahead in pieces.
    private final class Ahead: Sendable {
        private let after: Int64
        private let limit, piece: Int
        /// The pieces in their order, of which the first `taken` have been begun; `nil` for one that is not read.
        private let pieces: Monitor<(taken: Int, read: [UncheckedBox<Batch>?])>

        init(after: Int64, limit: Int, piece: Int) {
            (self.after, self.limit, self.piece) = (after, limit, piece)
            let count = (limit + piece - 1) / piece
            pieces = Monitor((0, [UncheckedBox<Batch>?](repeating: nil, count: count)))
        }

        /// Whether there is a piece that no thread has begun.
        var hasMore: Bool { pieces.read { $0.taken < $0.read.count } }

        /// Reads pieces until all are begun; returns how many.
        @discardableResult
        func read(with reader: LogReader) -> Int {
            var count = 0
            while let index = begin() {
                let offset = index * piece
                let batch = try? SharedScan.read(
                    after: after + Int64(offset), limit: min(piece, limit - offset), with: reader)
                if let batch { pieces.read { $0.read[index] = UncheckedBox(batch) } }
                count += 1
            }
            return count
        }

        private func begin() -> Int? {
            pieces.read { pieces in
                guard pieces.taken < pieces.read.count else { return nil }
                defer { pieces.taken += 1 }
                return pieces.taken
            }
        }

        /// The pieces as one batch, up to the first that could not be read; `nil` without any.
        ///
        /// The first piece was begun first, so no other was opened with older keys.
        var batch: Batch? {
            pieces.read { pieces in
                guard let first = pieces.read.first??.value else { return nil }
                var (events, leaf) = (first.events, first.leaf)
                events.reserveCapacity(limit)
                for piece in pieces.read.dropFirst() {
                    guard let piece = piece?.value, piece.after == events.last?.number, piece.leaf != nil else { break }
                    events += piece.events
                    leaf = piece.leaf
                }
                return Batch(after: after, events: events, leaf: leaf, keys: first.keys)
            }
        }
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
