import Cryptography
import TestSupport
import Testing

@testable import Transparency

/// The tree over the heads of all persons' logs, against the tree that is made of its leaves from nothing.
@Suite struct HeadsTreeTests {
    private let sha256 = SHA256()

    /// SHA-256(0x00 ‖ 84 01 02 18 2a 58 20 00…1f), by Python's hashlib.
    @Test func `a leaf is the hash of its person's number, size and root`() throws {
        let root = try #require(Digest(bytes: 0..<32))
        #expect(
            HeadsTree.leaf(index: 2, size: 42, root: root, sha256).hex
                == "b082128d285a92f922a9bc3ae60ae6a7c2b618e81d01bacce678045cd26f4d35")
    }

    @Test func `any course of changes gives the tree of the newest heads`() {
        var random = SplitMix(71)
        var tree = HeadsTree()
        var heads: [Int64: (size: Int64, root: Digest)] = [:]
        #expect(tree.root(sha256) == sha256.hash([]))
        for turn in 1...400 {
            let index = Int64.random(in: 0...(turn < 200 ? 20 : 130), using: &random)
            let head = (size: Int64(turn), root: sha256.hash([UInt8(turn & 0xFF), UInt8(turn >> 8)]))
            heads[index] = head
            tree.set(index, size: head.size, root: head.root, sha256)
            let size = (heads.keys.max() ?? -1) + 1
            let leaves = (0..<size).map { index in
                let head = heads[index] ?? (0, sha256.hash([]))
                return HeadsTree.leaf(index: index, size: head.size, root: head.root, sha256)
            }
            #expect(tree.size == size && tree.root(sha256) == MerkleTree(leaves: leaves, sha256).root(sha256))
        }
    }

    @Test func `another name begins all logs anew`() {
        func fold(_ names: [String]) -> Digest {
            var heads = HouseHeads()
            var root = sha256.hash([])
            for name in names {
                heads.begin(as: name)
                #expect(heads.upTo == 0 || names.count(where: { $0 == name }) > 1)
                heads.append(sha256.hash([1]), person: 3, version: heads.upTo + 1, recordedAtMs: 5, sha256)
                root = heads.commit(heads.upTo + 1, sha256).root
            }
            return root
        }
        #expect(fold(["a.example", "b.example"]) == fold(["b.example"]))
        #expect(fold(["b.example", "b.example"]) != fold(["b.example"]))
    }
}
