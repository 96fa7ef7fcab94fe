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

    /// Consecutive events in the order of their numbers.
    package struct Batch {
        /// The number before that of the first event.
        package let after: Int64
        /// The events, without those that were passed over.
        package let events: [RecordedEvent]
        /// The number and leaf of the last event, passed over or not; `nil` without any.
        package let last: (number: Int64, leaf: Digest)?
        /// The kinds of events that were passed over.
        let passedOver: EventKinds
        /// `KeyRing.currentGeneration` when the events were opened. Once a key is destroyed, they must be opened again.
        let keys: Int
    }

    /// A projection that could not be folded, and why. Its transaction is rolled back.
    package typealias Fault = (projection: FollowedProjection, error: SQLiteError)

    /// - Parameters:
    ///   - reader: Belongs to the scan while ``fold(_:into:thenReading:)`` runs.
    ///   - piece: The events that a thread reads ahead at a time.
    package init(_ reader: LogReader, piece: Int = 2048) { (self.reader, self.piece) = (reader, piece) }

    /// Up to `limit` events after `number`, without those that concern none of the projections; all of them if no
    /// projection is given. If it has been read ahead, nothing is read.
    ///
    /// - Throws: ``LogError`` if the log cannot be read there.
    package func batch(
        after number: Int64, limit: Int, for projections: [FollowedProjection]
    ) throws(LogError) -> Batch {
        defer { ahead = nil }
        let passedOver = Self.passedOver(by: projections)
        if let ahead, let last = ahead.last, ahead.after == number, last.number - number <= limit,
            ahead.passedOver.isSubset(of: passedOver), ahead.keys == reader.keys.currentGeneration
        {
            return ahead
        }
        return try Self.read(after: number, limit: limit, passingOver: passedOver, with: reader)
    }

    /// The kinds of events that change none of these projections.
    private static func passedOver(by projections: [FollowedProjection]) -> EventKinds {
        guard let first = projections.first else { return EventKinds() }
        return projections.dropFirst().reduce(first.kind.passedOver) { $0.intersection($1.kind.passedOver) }
    }

    /// Frees the batch that was read ahead if a key has been destroyed since, and the second reader, which keeps keys.
    func forgetStale() {
        if ahead?.keys == reader.keys.currentGeneration { return }
        (ahead, secondReader) = (nil, nil)
    }

    private static func read(
        after number: Int64, limit: Int, passingOver kinds: EventKinds, with reader: LogReader
    ) throws(LogError) -> Batch {
        let keys = reader.keys.currentGeneration
        let (events, last) = try reader.batch(after: number, limit: limit, passingOver: kinds)
        return Batch(after: number, events: events, last: last, passedOver: kinds, keys: keys)
    }

    /// Folds a batch into the projections that do not have it, on two threads, and reads the next one meanwhile.
    ///
    /// Without anything to read and with one projection, or if no thread can be started, one thread does it all.
    ///
    /// - Parameter limit: The most events to read ahead; 0 for none.
    /// - Returns: The projections that failed. If reading ahead fails, ``batch(after:limit:for:)`` will say so.
    package func fold(_ batch: Batch, into projections: [FollowedProjection], thenReading limit: Int) -> [Fault] {
        guard let last = batch.last else { return [] }
        let due = projections.filter { $0.place < last.number }.sorted { $0.lastFoldSeconds > $1.lastFoldSeconds }
        let next = Ahead(after: last.number, limit: limit, piece: piece, passingOver: Self.passedOver(by: projections))
        let beside = UncheckedBox((rest: due.dropFirst(), reader: reader))
        let faults = Monitor<[UncheckedBox<Fault>]>([])
        @Sendable func foldRest() {
            for projection in beside.value.rest {
                if let error = Self.fold(batch, last, into: projection) {
                    faults.change { $0.append(UncheckedBox((projection, error))) }
                }
            }
            next.read(with: beside.value.reader)
        }
        let second = due.count > 1 || limit > 0 ? try? WorkerThread.started(foldRest) : nil
        if let first = due.first, let error = Self.fold(batch, last, into: first) {
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
        private let passedOver: EventKinds
        /// The pieces in their order, of which the first `taken` have been begun; `nil` for one that is not read.
        private let pieces: Monitor<(taken: Int, read: [UncheckedBox<Batch>?])>

        init(after: Int64, limit: Int, piece: Int, passingOver kinds: EventKinds) {
            (self.after, self.limit, self.piece, passedOver) = (after, limit, piece, kinds)
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
                    after: after + Int64(offset), limit: min(piece, limit - offset), passingOver: passedOver,
                    with: reader)
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
                var (events, last) = (first.events, first.last)
                events.reserveCapacity(limit)
                for piece in pieces.read.dropFirst() {
                    guard let piece = piece?.value, piece.after == last?.number, piece.last != nil else { break }
                    events += piece.events
                    last = piece.last
                }
                return Batch(after: after, events: events, last: last, passedOver: passedOver, keys: first.keys)
            }
        }
    }

    /// Folds a batch into one projection after the other, on the calling thread.
    ///
    /// - Returns: The projections that failed.
    package func foldInTurn(_ batch: Batch, into projections: [FollowedProjection]) -> [Fault] {
        guard let last = batch.last else { return [] }
        return projections.filter { $0.place < last.number }.compactMap { projection in
            Self.fold(batch, last, into: projection).map { (projection, $0) }
        }
    }

    private static func fold(
        _ batch: Batch, _ last: (number: Int64, leaf: Digest), into projection: FollowedProjection
    ) -> SQLiteError? {
        assert(batch.passedOver.isSubset(of: projection.kind.passedOver), "The batch was read for others.")
        let began = MonotonicClock.seconds
        defer { projection.lastFoldSeconds = MonotonicClock.seconds - began }
        do throws(SQLiteError) {
            try projection.fold(batch.events, endingWith: last)
            return nil
        } catch { return error }
    }
}
