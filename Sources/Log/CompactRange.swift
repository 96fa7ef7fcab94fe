import Cryptography

/// The Merkle tree of RFC 9162 §2.1 over a growing list of leaves, kept as the roots of its maximal complete subtrees.
///
/// Appending costs one node hash on average; the root costs as many as there are subtrees, at most 63.
package struct CompactRange: Sendable {
    /// The number of leaves.
    package private(set) var size: Int64
    /// The roots of the complete subtrees, largest first: one for each bit set in ``size``.
    private(set) var subtrees: [Digest]

    /// The range of no leaves.
    init() {
        size = 0
        subtrees = []
    }

    /// The stored form; `nil` if the number of hashes does not match the number of leaves.
    init?(size: Int64, bytes: [UInt8]) {
        guard size >= 0, bytes.count == size.nonzeroBitCount * 32 else { return nil }
        self.size = size
        subtrees = stride(from: 0, to: bytes.count, by: 32).compactMap { Digest(bytes: bytes[$0..<$0 + 32]) }
    }

    /// The stored form: 32 bytes for each subtree.
    var bytes: [UInt8] { subtrees.flatMap(\.bytes) }

    /// Adds a leaf at the end.
    mutating func append(_ leaf: Digest, _ sha256: SHA256) {
        var node = leaf
        var merged = size
        while merged & 1 == 1 {
            node = sha256.hash(prefix: 1, subtrees.removeLast(), node)
            merged >>= 1
        }
        subtrees.append(node)
        size += 1
    }

    /// The root of the tree; SHA-256 of nothing when it is empty.
    func root(_ sha256: SHA256) -> Digest {
        guard var node = subtrees.last else { return sha256.hash([]) }
        for subtree in subtrees.dropLast().reversed() { node = sha256.hash(prefix: 1, subtree, node) }
        return node
    }
}
