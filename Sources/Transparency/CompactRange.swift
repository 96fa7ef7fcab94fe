package import Cryptography

/// The right edge of a growing Merkle tree (RFC 9162, section 2.1): the roots of its maximal complete subtrees.
///
/// This is enough to append leaves and to know the root after each, with at most 63 digests in memory. Proofs need the
/// nodes inside: see ``MerkleTree``. Appending costs one node hash on average; the root costs as many as there are
/// subtrees.
package struct CompactRange: Sendable {
    /// The number of leaves.
    package private(set) var size: Int64
    /// The roots of the complete subtrees, largest first: one for each bit set in ``size``.
    package private(set) var subtrees: [Digest]

    /// The range of no leaves.
    package init() {
        size = 0
        subtrees = []
    }

    /// The stored form; `nil` if the number of hashes does not match the number of leaves.
    package init?(size: Int64, bytes: [UInt8]) {
        guard size >= 0, bytes.count == size.nonzeroBitCount * 32 else { return nil }
        self.size = size
        subtrees = stride(from: 0, to: bytes.count, by: 32).compactMap { Digest(bytes: bytes[$0..<$0 + 32]) }
    }

    /// The stored form: 32 bytes for each subtree.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(subtrees.count * Digest.byteCount)
        for subtree in subtrees { subtree.withBytes { bytes += $0 } }
        return bytes
    }

    /// Adds a leaf at the end.
    package mutating func append(_ leaf: Digest, _ sha256: SHA256) {
        var node = leaf
        var merged = size
        while merged & 1 == 1 {
            node = sha256.node(subtrees.removeLast(), node)
            merged >>= 1
        }
        subtrees.append(node)
        size += 1
    }

    /// The root of the tree; SHA-256 of nothing when it is empty.
    package func root(_ sha256: SHA256) -> Digest {
        guard var node = subtrees.last else { return sha256.hash([]) }
        for subtree in subtrees.dropLast().reversed() { node = sha256.node(subtree, node) }
        return node
    }
}

extension SHA256 {
    /// The hash of a leaf: SHA-256(0x00 ‖ entry) (RFC 9162, section 2.1.1).
    package func leaf(_ entry: [UInt8]) -> Digest {
        entry.withUnsafeBytes { hash(prefix: 0, $0, UnsafeRawBufferPointer(start: nil, count: 0)) }
    }

    /// The hash of an inner node: SHA-256(0x01 ‖ left ‖ right) (RFC 9162, section 2.1.1).
    package func node(_ left: Digest, _ right: Digest) -> Digest {
        hash(prefix: 1, left, right)
    }
}
