import Cryptography
import TestSupport
import Testing

@testable import Transparency

/// Laws over random trees, judged by the recursive definitions of RFC 9162 and of the draft on subtrees.
@Suite struct MerkleTreeTests {
    private static func split(_ count: Int) -> Int {
        var split = 1
        while split * 2 < count { split *= 2 }
        return split
    }

    /// MTH of RFC 9162, section 2.1.1.
    static func root(_ leaves: ArraySlice<Digest>, _ sha256: SHA256) -> Digest {
        if leaves.isEmpty { return sha256.hash([]) }
        if leaves.count == 1 { return leaves[leaves.startIndex] }
        let middle = leaves.startIndex + split(leaves.count)
        return sha256.hash([1] + root(leaves[..<middle], sha256).bytes + root(leaves[middle...], sha256).bytes)
    }

    /// SUBTREE_SUBPROOF of draft-ietf-plants-merkle-tree-certs. From leaf 0 it is SUBPROOF of RFC 9162, section 2.1.4.1,
    /// of one leaf PATH of section 2.1.3.1.
    static func proof(
        _ start: Int, _ end: Int, _ leaves: ArraySlice<Digest>, isKnown: Bool, _ sha256: SHA256
    ) -> [Digest] {
        if start == 0, end == leaves.count { return isKnown ? [] : [root(leaves, sha256)] }
        let split = split(leaves.count)
        let (left, right) = (leaves.prefix(split), leaves.dropFirst(split))
        if end <= split {
            return proof(start, end, left, isKnown: isKnown, sha256) + [root(right, sha256)]
        }
        if split <= start {
            return proof(start - split, end - split, right, isKnown: isKnown, sha256) + [root(left, sha256)]
        }
        return proof(0, end - split, right, isKnown: false, sha256) + [root(left, sha256)]
    }

    private static func leaves(_ count: Int, _ sha256: SHA256) -> [Digest] {
        (0..<count).map { sha256.hash(Array("leaf \($0)".utf8)) }
    }

    @Test func `roots and proofs of every earlier size are those of the definitions`() throws {
        let sha256 = SHA256()
        let leaves = Self.leaves(40, sha256)
        let tree = MerkleTree(leaves: leaves, sha256)
        for size in 0...leaves.count {
            let root = Self.root(leaves[..<size], sha256)
            #expect(tree.root(atSize: Int64(size), sha256) == root)
            for index in 0..<size {
                let proof = try tree.inclusionProof(of: Int64(index), atSize: Int64(size), sha256)
                #expect(proof == Self.proof(index, index + 1, leaves[..<size], isKnown: true, sha256))
                #expect(
                    MerkleProof.verifyInclusion(
                        of: leaves[index], at: Int64(index), inTreeOfSize: Int64(size), root: root, proof: proof, sha256
                    ))
            }
            for older in 1..<max(1, size) {
                let proof = try tree.consistencyProof(from: Int64(older), to: Int64(size), sha256)
                #expect(proof == Self.proof(0, older, leaves[..<size], isKnown: true, sha256))
                #expect(
                    MerkleProof.verifyConsistency(
                        from: Int64(older), root: Self.root(leaves[..<older], sha256), to: Int64(size), root: root,
                        proof: proof, sha256))
            }
        }
    }

    @Test func `subtrees of random trees are proven, and each change to a proof is refused`() throws {
        let sha256 = SHA256()
        var random = SplitMix(7)
        let leaves = Self.leaves(700, sha256)
        let tree = MerkleTree(leaves: leaves, sha256)
        for _ in 0..<300 {
            let size = Int.random(in: 1...leaves.count, using: &random)
            let length = Int.random(in: 1...size, using: &random)
            let step = length == 1 ? 1 : 2 * Self.split(length)
            let start = step * Int.random(in: 0...(size - length) / step, using: &random)
            let (range, size64) = (Int64(start)..<Int64(start + length), Int64(size))
            let part = Self.root(leaves[start..<start + length], sha256)
            let root = Self.root(leaves[..<size], sha256)
            let proof = try tree.subtreeProof(of: range, atSize: size64, sha256)
            #expect(proof == Self.proof(start, start + length, leaves[..<size], isKnown: true, sha256))
            #expect(proof.count <= MerkleProof.hashesMax)
            func isRight(_ proof: [Digest], part: Digest = part, root: Digest = root) -> Bool {
                MerkleProof.verify(
                    subtree: range, root: part, inTreeOfSize: size64, root: root, proof: proof, sha256)
            }
            #expect(isRight(proof))
            #expect(!isRight(proof + [part]))
            #expect(!isRight(proof, part: leaves[0] == part ? leaves[1] : leaves[0]))
            #expect(!isRight(proof, root: leaves[0] == root ? leaves[1] : leaves[0]))
            if !proof.isEmpty {
                #expect(!isRight(proof.dropLast()))
                var changed = proof
                changed[Int.random(in: changed.indices, using: &random)] = sha256.hash([])
                #expect(!isRight(changed))
            }
        }
    }

    @Test func `ranges that are no subtrees and sizes that never were are refused`() throws {
        let sha256 = SHA256()
        let tree = MerkleTree(leaves: Self.leaves(8, sha256), sha256)
        for range: Range<Int64> in [1..<3, 2..<5, 2..<6, 4..<9, 7..<9] {
            #expect(throws: TransparencyError.self) { try tree.subtreeProof(of: range, atSize: 8, sha256) }
        }
        #expect(throws: TransparencyError.self) { try tree.consistencyProof(from: 9, to: 8, sha256) }
        #expect(throws: TransparencyError.self) { try tree.consistencyProof(from: 1, to: 9, sha256) }
        #expect(throws: TransparencyError.self) { try tree.consistencyProof(from: -1, to: 8, sha256) }
        #expect(throws: TransparencyError.self) { try tree.inclusionProof(of: 8, atSize: 8, sha256) }
        #expect(throws: TransparencyError.self) { try tree.inclusionProof(of: -1, atSize: 8, sha256) }
        #expect(MerkleProof.isSubtree(0..<Int64.max) && !MerkleProof.isSubtree(8..<Int64.max))
        #expect(try MerkleProof.parts(of: 0..<1, atSize: .max).count == 63)
    }

    @Test func `a proof that ends at a node below the root proves nothing about the tree`() throws {
        let sha256 = SHA256()
        let leaves = Self.leaves(8, sha256)
        let tree = MerkleTree(leaves: leaves, sha256)
        let proof = try tree.inclusionProof(of: 3, atSize: 8, sha256)
        // The path up to the root of the first four leaves, given as the root of all eight.
        #expect(
            !MerkleProof.verifyInclusion(
                of: leaves[3], at: 3, inTreeOfSize: 8, root: Self.root(leaves[..<4], sha256),
                proof: Array(proof.prefix(2)), sha256))
    }

    @Test func `nothing is proven from the empty tree`() {
        let sha256 = SHA256()
        let leaves = Self.leaves(8, sha256)
        let empty = sha256.hash([])
        #expect(
            !MerkleProof.verifyConsistency(
                from: 0, root: empty, to: 8, root: Self.root(leaves[...], sha256), proof: [], sha256))
    }
}
