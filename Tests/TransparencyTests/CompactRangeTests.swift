import Cryptography
import Testing

@testable import Transparency

@Suite struct CompactRangeTests {
    /// The roots over the first 1 to 8 of the leaf inputs that the certificate-transparency implementations test with.
    private static let roots = [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ]
    private static let inputs: [[UInt8]] = [
        [], [0x00], [0x10], [0x20, 0x21], [0x30, 0x31], [0x40, 0x41, 0x42, 0x43], Array(0x50...0x57),
        Array(0x60...0x6F),
    ]

    @Test func `roots are those of certificate transparency`() {
        let sha256 = SHA256()
        var range = CompactRange()
        for (input, root) in zip(Self.inputs, Self.roots) {
            range.append(sha256.hash([0] + input), sha256)
            #expect(range.root(sha256).hex == root)
        }
    }

    /// MTH of RFC 9162 §2.1.1 by its recursive definition.
    private static func root(_ leaves: ArraySlice<Digest>, _ sha256: SHA256) -> Digest {
        if leaves.isEmpty { return sha256.hash([]) }
        if leaves.count == 1 { return leaves[leaves.startIndex] }
        var split = 1
        while split * 2 < leaves.count { split *= 2 }
        let middle = leaves.startIndex + split
        return sha256.hash(prefix: 1, root(leaves[..<middle], sha256), root(leaves[middle...], sha256))
    }

    @Test func `at every size the root is the tree's, and the stored form loads equal`() throws {
        let sha256 = SHA256()
        var range = CompactRange()
        var leaves: [Digest] = []
        for size in 0...300 {
            #expect(range.root(sha256) == Self.root(leaves[...], sha256))
            let loaded = try #require(CompactRange(size: Int64(size), bytes: range.bytes))
            #expect(loaded.subtrees == range.subtrees && loaded.size == Int64(size))
            leaves.append(sha256.hash(Array("leaf \(size)".utf8)))
            range.append(leaves[size], sha256)
        }
        #expect(CompactRange(size: 3, bytes: [UInt8](repeating: 0, count: 32)) == nil)
        #expect(CompactRange(size: -1, bytes: []) == nil)
    }
}
