import Cryptography
import Log
import Transparency
import Whereabouts

/// The tree over events, computed from their headers and bodies alone.
struct RecomputedTree: ~Copyable {
    private(set) var range = CompactRange()
    private(set) var head: Digest?
    private var heads: [Int64: (version: Int64, leaf: Digest)] = [:]
    private let sha256 = SHA256()
    private var scratch = CBORRoom(for: EventHeader.mostBytes)

    /// Adds the next event.
    ///
    /// - Throws: ``LogError/damaged(number:_:)`` if it does not continue the log and its stream, or has another leaf.
    mutating func append(_ event: LogReader.StoredEvent) throws(LogError) {
        let header = event.header
        guard header.number == range.size + 1 else { throw .damaged(number: range.size + 1, "it is missing") }
        let previous = heads[header.stream.rawValue]
        guard header.version == (previous?.version ?? 0) + 1 else {
            throw .damaged(number: header.number, "it does not continue its stream")
        }
        let leaf = event.body.withUnsafeBytes {
            header.leaf(body: $0, previous: previous?.leaf, sha256, scratch: &scratch)
        }
        guard leaf == event.leaf else { throw .damaged(number: header.number, "it does not match its leaf") }
        heads[header.stream.rawValue] = (header.version, leaf)
        range.append(leaf, sha256)
        head = leaf
    }
}
