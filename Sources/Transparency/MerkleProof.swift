package import Cryptography

/// Proofs about a Merkle tree, as arithmetic on ranges of leaves. The tree may be in memory (``MerkleTree``), in tiles, or
/// with someone else.
///
/// There is one kind of proof: that a subtree, a range of leaves with its root, is part of a tree with another root. The
/// subtree of one leaf makes it an inclusion proof (RFC 9162, section 2.1.3), the one that begins at leaf 0 a consistency
/// proof (section 2.1.4). Source of the general form: draft-ietf-plants-merkle-tree-certs, section 4.
package enum MerkleProof {
    /// The most hashes that a proof in a tree of up to 2⁶³ − 1 leaves has.
    package static let hashesMax = 64

    /// Whether a range of leaves is a subtree: it begins at a multiple of the smallest power of two that is no less than
    /// its length. The empty range at any place counts as one.
    package static func isSubtree(_ range: Range<Int64>) -> Bool {
        guard range.lowerBound >= 0 else { return false }
        guard range.count > 1 else { return true }
        let bits = Int64.bitWidth - (Int64(range.count) - 1).leadingZeroBitCount
        // A range of more than 2⁶² leaves has no power of two above it that an `Int64` holds: only 0 is a multiple.
        guard bits < Int64.bitWidth - 1 else { return range.lowerBound == 0 }
        return range.lowerBound.trailingZeroBitCount >= bits
    }

    /// The ranges whose roots make the proof that `subtree` is part of the tree of `size` leaves, in the order of the
    /// proof.
    ///
    /// - Throws: ``TransparencyError/unproven(_:)`` when the range is no subtree within the tree.
    package static func parts(
        of subtree: Range<Int64>, atSize size: Int64
    ) throws(TransparencyError) -> [Range<Int64>] {
        guard isSubtree(subtree), subtree.upperBound <= size else {
            throw .unproven("leaves \(subtree) are no subtree of a tree of \(size)")
        }
        if subtree.isEmpty { return [] }
        var parts: [Range<Int64>] = []
        var tree = 0..<size
        var target = subtree
        // Whether the verifier has the root of `target`. It has not when the target was cut below.
        var isKnown = true
        while tree != target {
            let middle = split(tree)
            if target.upperBound <= middle {
                parts.append(middle..<tree.upperBound)
                tree = tree.lowerBound..<middle
            } else {
                parts.append(tree.lowerBound..<middle)
                if target.lowerBound < middle {
                    target = middle..<target.upperBound
                    isKnown = false
                }
                tree = middle..<tree.upperBound
            }
        }
        if !isKnown { parts.append(tree) }
        return parts.reversed()
    }

    /// The root over a range of leaves that begins where a subtree may; `node` gives the complete nodes in it: level and
    /// index.
    package static func root(
        over range: Range<Int64>, _ sha256: SHA256, node: (_ level: Int, _ index: Int64) -> Digest
    ) -> Digest {
        var end = range.upperBound
        // The root so far of the leaves from `end` on: complete nodes are taken from the right, the smallest first.
        var root: Digest?
        while end > range.lowerBound {
            let level = (end - range.lowerBound).trailingZeroBitCount
            end -= 1 << Int64(level)
            let left = node(level, end >> Int64(level))
            root = root.map { sha256.node(left, $0) } ?? left
        }
        return root ?? sha256.hash([])
    }

    /// Whether `proof` shows that `subtree` with root `subtreeRoot` is part of the tree of `size` leaves with `root`.
    ///
    /// An empty subtree is part of every tree. Its proof is empty, and its root is SHA-256 of nothing.
    package static func verify(
        subtree: Range<Int64>, root subtreeRoot: Digest, inTreeOfSize size: Int64, root: Digest, proof: [Digest],
        _ sha256: SHA256
    ) -> Bool {
        guard isSubtree(subtree), subtree.upperBound <= size else { return false }
        if subtree.isEmpty { return proof.isEmpty && subtreeRoot == sha256.hash([]) }
        // The place of the subtree's first and last node, and of the tree's last, at the level reached so far.
        var first = subtree.lowerBound
        var last = subtree.upperBound - 1
        var end = size - 1
        while first != last, last == end || last & 1 == 1 {
            (first, last, end) = (first >> 1, last >> 1, end >> 1)
        }
        var rest = proof[...]
        var node = subtreeRoot
        // Below a subtree that is not complete, both roots are built from its last complete part, which comes first.
        if first != last {
            guard let seed = rest.popFirst() else { return false }
            node = seed
        }
        var (built, whole) = (node, node)
        for part in rest {
            guard end != 0 else { return false }
            if last & 1 == 1 || last == end {
                if first < last { built = sha256.node(part, built) }
                whole = sha256.node(part, whole)
                while last & 1 == 0 { (first, last, end) = (first >> 1, last >> 1, end >> 1) }
            } else {
                whole = sha256.node(whole, part)
            }
            (first, last, end) = (first >> 1, last >> 1, end >> 1)
        }
        return end == 0 && built == subtreeRoot && whole == root
    }

    /// Whether `proof` shows that `leaf` is leaf `index` of the tree of `size` leaves with `root`.
    package static func verifyInclusion(
        of leaf: Digest, at index: Int64, inTreeOfSize size: Int64, root: Digest, proof: [Digest], _ sha256: SHA256
    ) -> Bool {
        guard index >= 0, index < size else { return false }
        return verify(
            subtree: index..<index + 1, root: leaf, inTreeOfSize: size, root: root, proof: proof, sha256)
    }

    /// Whether `proof` shows that the tree of `older` leaves is the beginning of the tree of `newer` leaves.
    ///
    /// Every tree begins with the empty one, so that nothing can be proven about it: `older` must be at least 1.
    package static func verifyConsistency(
        from older: Int64, root olderRoot: Digest, to newer: Int64, root newerRoot: Digest, proof: [Digest],
        _ sha256: SHA256
    ) -> Bool {
        guard older > 0 else { return false }
        return verify(
            subtree: 0..<older, root: olderRoot, inTreeOfSize: newer, root: newerRoot, proof: proof, sha256)
    }

    /// Where RFC 9162 splits a range of at least two leaves: after the largest power of two that is less than its length.
    private static func split(_ range: Range<Int64>) -> Int64 {
        range.lowerBound + (1 << Int64(Int64.bitWidth - 1 - (Int64(range.count) - 1).leadingZeroBitCount))
    }
}
