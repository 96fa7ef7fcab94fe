package import Cryptography
import Transparency
import Whereabouts

extension StreamHead {
    /// The newest event of a stream, with its leaf.
    package init(number: Int64, version: Int64, leaf: Digest) {
        self.init(number: number, version: version, leafHash: Hash256(words: leaf.words))
    }

    /// The event's leaf.
    package var leaf: Digest { Digest(words: leafHash.words) }
}

/// The end of the log: the heads of the streams and of the tree. Like the log's file, it belongs to the thread with the
/// turn to write.
struct LogTip: ~Copyable {
    private let sha256 = SHA256()
    private var scratch = CBORRoom(for: EventHeader.mostBytes)
    /// The tree over all leaves, including those of the batch under way.
    private(set) var range: CompactRange
    /// The number of events, with the batch under way.
    var size: Int64 { range.size }
    /// The leaf of the newest event; `nil` for an empty log.
    private(set) var headLeaf: Digest?
    /// The newest event of each stream.
    private(set) var heads: StreamHeads
    /// The state at ``begin()``, and the heads that were replaced since.
    private var mark: (range: CompactRange, headLeaf: Digest?)
    private var replaced: [(stream: StreamID, head: StreamHead?)] = []

    /// - Parameters:
    ///   - identity: The row `log` of the file, from which the tree continues.
    ///   - heads: The newest event of each stream.
    init(after identity: LogIdentity, heads: StreamHeads) {
        (range, headLeaf) = (identity.range, identity.head)
        mark = (identity.range, identity.head)
        self.heads = heads
    }

    /// Begins a batch that ``takeBack()`` can undo.
    mutating func begin() {
        mark = (range, headLeaf)
        replaced.removeAll(keepingCapacity: true)
    }

    /// Undoes everything since ``begin()`` after the batch did not become durable.
    mutating func takeBack() {
        (range, headLeaf) = mark
        for (stream, head) in replaced.reversed() { heads[stream] = head }
        replaced.removeAll(keepingCapacity: true)
    }

    /// Appends an event of a batch.
    ///
    /// - Parameter bytes: Those of the batch.
    /// - Returns: The event's leaf.
    /// - Throws: ``LogError/damaged(number:_:)`` if the event does not continue the log or its stream.
    ///
    /// Cost: about 0.7 µs.
    mutating func append(_ event: Batch.Event, of bytes: UnsafeRawBufferPointer) throws(LogError) -> Digest {
        let previous = heads[event.header.stream]
        guard event.header.number == range.size + 1, event.header.version == (previous?.version ?? 0) + 1 else {
            throw .damaged(
                number: event.header.number,
                "it would be version \(event.header.version) of its stream, and version \(previous?.version ?? 0) "
                    + "is in the log; it was not written")
        }
        let leaf = EventHeader.leaf(
            head: UnsafeRawBufferPointer(rebasing: bytes[event.head]), bodyHash: event.bodyHash,
            previous: previous?.leaf, sha256, scratch: &scratch)
        range.append(leaf, sha256)
        headLeaf = leaf
        replaced.append((event.header.stream, previous))
        heads[event.header.stream] = StreamHead(
            number: event.header.number, version: event.header.version, leaf: leaf)
        return leaf
    }
}
