package import Cryptography
package import Transparency

/// Where a batch of events becomes durable.
///
/// Bytes, numbers, sealing and leaves are made above the engine, so every engine stores the same rows under the same Merkle
/// root. ``SQLiteLogEngine`` is the file `log.sqlite`. Another engine, a database server, takes a batch before the file does;
/// the file is then a copy that the readers of this machine use.
///
/// A batch is `begin()`, one `insert(_:body:_:)` for each event, and ``commit(_:after:)`` or ``rollBack()``. One thread
/// uses an engine at a time.
package protocol LogEngine: AnyObject {
    /// Begins a batch.
    func begin() throws(LogError)

    /// Adds the next event. An engine may report a fault of an event as late as ``commit(_:after:)``.
    ///
    /// - Parameters:
    ///   - body: Valid during the call.
    ///   - leaf: The hash of header, body and the leaf before it in its stream.
    func insert(_ header: EventHeader, body: UnsafeRawBufferPointer, _ leaf: Digest) throws(LogError)

    /// Makes the batch durable, with the row `log`, unless another process has written to the log since `previous`.
    ///
    /// - Parameters:
    ///   - end: The row `log` after the batch.
    ///   - previous: The number of the newest event before the batch.
    func commit(_ end: LogEnd, after previous: Int64) -> CommitOutcome

    /// Throws ``LogError/fenced``, or the fault of the engine, if a batch could no longer be committed. Called between two
    /// batches, from time to time.
    func confirm() throws(LogError)

    /// Drops the batch after a fault. Does nothing if none has begun.
    func rollBack()
}

/// The changing columns of the row `log`.
package struct LogEnd: Sendable {
    /// Raised by each restore and each accepted loss.
    package let epoch: Int64
    /// The tree over all leaves; its size is the number of events.
    package let range: CompactRange
    /// The leaf of the newest event; `nil` for an empty log.
    package let head: Digest?

    /// The row with these columns.
    package init(epoch: Int64, range: CompactRange, head: Digest?) {
        (self.epoch, self.range, self.head) = (epoch, range, head)
    }
}

/// The outcome of a commit.
package enum CommitOutcome: Sendable {
    /// It is durable.
    case committed
    /// Nothing of it is stored, because another process has taken the log.
    case fenced(LogError)
    /// It may be durable or not. No caller gets an answer, and the log stops; the next start reads which it is.
    case unknown(LogError)
    /// Nothing of it is stored.
    case failed(LogError)
}
