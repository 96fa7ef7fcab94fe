package import Cryptography

/// A Merkle tree (RFC 9162, section 2.1) that keeps every complete node, so that it can prove things about each of its
/// earlier sizes. It takes 64 bytes of memory a leaf.
///
/// Appending costs one node hash on average, a root or a proof at any size O(log n) of them.
package struct MerkleTree: Sendable {
    /// The hashes of the complete nodes: at level 0 the leaves, at level *l* one node for each 2ˡ leaves.
    private var levels: [[Digest]] = [[]]

    /// The tree of no leaves.
    package init() {}

    /// The tree over these leaf hashes.
    package init(leaves: some Sequence<Digest>, _ sha256: SHA256) {
        for leaf in leaves { append(leaf, sha256) }
    }

    /// The number of leaves.
    package var size: Int64 { Int64(levels[0].count) }

    /// The hash of a leaf. The index is below ``size``.
    package func leaf(_ index: Int64) -> Digest { levels[0][Int(index)] }

    /// Adds a leaf at the end.
    package mutating func append(_ leaf: Digest, _ sha256: SHA256) {
        levels[0].append(leaf)
        var level = 0
        while case let nodes = levels[level], nodes.count.isMultiple(of: 2) {
            let parent = sha256.node(nodes[nodes.count - 2], nodes[nodes.count - 1])
            level += 1
            if level == levels.count { levels.append([]) }
            levels[level].append(parent)
        }
    }

    /// A complete node: the root over 2^`level` leaves from `index` · 2^`level` on. It must be within the tree.
    package func node(level: Int, index: Int64) -> Digest { levels[level][Int(index)] }

    /// The root when the tree had `size` leaves, which is now when `size` is `nil`; SHA-256 of nothing for 0.
    package func root(atSize size: Int64? = nil, _ sha256: SHA256) -> Digest {
        let size = size ?? self.size
        precondition((0...self.size).contains(size), "The tree never had this size.")
        return MerkleProof.root(over: 0..<size, sha256, node: node)
    }

    /// The proof that leaf `index` is in the tree of `size` leaves.
    ///
    /// - Throws: ``TransparencyError/unproven(_:)`` when the tree never had this size, or the leaf is beyond it.
    package func inclusionProof(
        of index: Int64, atSize size: Int64, _ sha256: SHA256
    ) throws(TransparencyError) -> [Digest] {
        guard index >= 0, index < size else { throw .unproven("leaf \(index) is not in a tree of \(size)") }
        return try subtreeProof(of: index..<index + 1, atSize: size, sha256)
    }

    /// The proof that the tree of `older` leaves is the beginning of the tree of `newer` leaves.
    ///
    /// - Throws: ``TransparencyError/unproven(_:)`` when the tree never had these sizes.
    package func consistencyProof(
        from older: Int64, to newer: Int64, _ sha256: SHA256
    ) throws(TransparencyError) -> [Digest] {
        guard older >= 0 else { throw .unproven("a tree has no negative size") }
        return try subtreeProof(of: 0..<older, atSize: newer, sha256)
    }

    /// The proof that the leaves of `subtree` are in the tree of `size` leaves.
    ///
    /// - Throws: ``TransparencyError/unproven(_:)`` when the tree never had this size, or the range is no subtree
    ///   within it (``MerkleProof/isSubtree(_:)``).
    package func subtreeProof(
        of subtree: Range<Int64>, atSize size: Int64, _ sha256: SHA256
    ) throws(TransparencyError) -> [Digest] {
        guard size <= self.size else { throw .unproven("the tree has \(self.size) leaves, and not yet \(size)") }
        return try MerkleProof.parts(of: subtree, atSize: size).map { MerkleProof.root(over: $0, sha256, node: node) }
    }
}
