import Cryptography
import TestSupport
import Testing

@testable import Transparency

/// A small tiled log that another implementation has written, with a checkpoint at each size.
@Suite struct TiledLogTests {
    /// The public key of the test data, as the project that made it publishes it.
    private static let key = "example.com/log/testdata+33d7b496+AeHTu4Q3hEIMHNqc6fASMsq3rKNx280NI+oO5xCFkkSx"

    @Test(.enabled(if: Repository.fixtures != nil, "WHEREABOUTS_FIXTURES names no folder with recorded files."))
    func `checkpoints of sizes 0 to 15 verify, and tiles and entries recompute them`() throws {
        let folder = try #require(Repository.fixtures) + "/tlog"
        let policy = TrustPolicy(log: try NoteVerifier(text: Self.key))
        let sha256 = SHA256()
        var tree = MerkleTree()
        var notes: [SignedNote] = []
        for size in 0...15 {
            let bytes = try contents(ofFile: "\(folder)/checkpoint.\(size)")
            let note = try SignedNote(parsing: bytes)
            #expect(note.bytes == bytes)
            let checkpoint = try policy.judge(note).checkpoint
            #expect(checkpoint.size == Int64(size))
            if size > 0 {
                let path = TilePath(.entries, index: 0, count: size)
                let bundle = try contents(ofFile: "\(folder)/\(path.text)")
                let entries = try EntryBundle.entries(of: bundle)
                #expect(entries.count == size)
                #expect(try EntryBundle.bytes(of: entries) == bundle)
                tree.append(sha256.leaf(entries[size - 1]), sha256)
                let tile = TilePath(.hashes(level: 0), index: 0, count: size)
                #expect(tree.tile(tile) == (try contents(ofFile: "\(folder)/\(tile.text)")))
                #expect(TilePath.all(inLogOfSize: Int64(size)) == [path, tile])
            }
            #expect(tree.root(sha256) == checkpoint.root)
            notes.append(note)
        }
        // Each entry is proven in each later checkpoint, in the text of the specification.
        let entries = try EntryBundle.entries(of: contents(ofFile: "\(folder)/tile/entries/000.p/15"))
        for size in 1...15 {
            for index in 0..<size {
                let proof = EntryProof(
                    index: Int64(index), extra: index == 3 ? [1, 2] : nil,
                    hashes: try tree.inclusionProof(of: Int64(index), atSize: Int64(size), sha256), note: notes[size])
                let read = try EntryProof(parsing: proof.bytes)
                #expect(read == proof)
                #expect(try read.verify(entry: entries[index], policy: policy).checkpoint.size == Int64(size))
                #expect(throws: TransparencyError.self) { try read.verify(entry: [0], policy: policy) }
            }
        }
    }

    /// The figures of C2SP tlog-tiles for a tree of 70,000 leaves, and its path of tile 1,234,067.
    @Test func `the tiles of a log are those of the specification`() throws {
        #expect(TilePath(.hashes(level: 0), index: 1_234_067).text == "tile/0/x001/x234/067")
        let all = TilePath.all(inLogOfSize: 70_000)
        func count(_ content: TilePath.Content) -> [Int] { all.filter { $0.content == content }.map(\.count) }
        #expect(count(.hashes(level: 0)) == [Int](repeating: 256, count: 273) + [112])
        #expect(count(.hashes(level: 1)) == [256, 17])
        #expect(count(.hashes(level: 2)) == [1])
        #expect(count(.entries) == [Int](repeating: 256, count: 273) + [112] && all.count == 274 + 274 + 3)
        #expect(TilePath.all(inLogOfSize: 256).map(\.text) == ["tile/entries/000", "tile/0/000", "tile/1/000.p/1"])
        #expect(TilePath.all(inLogOfSize: 0) == [])
        for path in all { #expect(path.exists(inLogOfSize: 70_000)) }
        for text in [
            "tile/0/273.p/113", "tile/0/273", "tile/1/001.p/18", "tile/2/000.p/2", "tile/3/000.p/1", "tile/63/000",
        ] {
            #expect(try !TilePath(text).exists(inLogOfSize: 70_000))
        }
        for path in all + [TilePath(.hashes(level: 63), index: TilePath.indexMax, count: 1)] {
            #expect(try TilePath(path.text) == path)
        }
    }

    /// A hash at level 1 is the root over the 256 hashes below.
    @Test func `hashes of a higher level are roots of full tiles`() throws {
        let sha256 = SHA256()
        let leaves = (0..<600).map { sha256.leaf(bigEndianBytes(Int64($0))) }
        let tree = MerkleTree(leaves: leaves, sha256)
        let above = try #require(tree.tile(TilePath(.hashes(level: 1), index: 0, count: 2)))
        #expect(above == [0, 256].flatMap { MerkleTreeTests.root(leaves[$0..<$0 + 256], sha256).bytes })
        #expect(tree.tile(TilePath(.hashes(level: 1), index: 0, count: 3)) == nil)
        #expect(tree.tile(TilePath(.entries, index: 0)) == nil)
    }

    @Test(arguments: [
        "", "tile", "tile/0", "tile/0/", "tile/00/000", "tile/64/000", "tile/0/0", "tile/0/0000", "tile/0/001/067",
        "tile/0/x000/067", "tile/0/x01/067", "tile/0/000.p/0", "tile/0/000.p/256", "tile/0/000.p/01", "tile/0/000.p",
        "tile/0/x001", "tile/entries/000.p/1/2", "tile/0/+01", "tile/0/x001/x234/067/", "/tile/0/000", "tile/data/000",
        "tile/0/x999/x999/x999/x999/x999/x999/999",
    ])
    func `other spellings of a path are refused`(text: String) {
        #expect(throws: TransparencyError.self) { try TilePath(text) }
    }

    @Test func `bundles are bounded and end with an entry`() throws {
        #expect(try EntryBundle.entries(of: []) == [])
        #expect(throws: TransparencyError.self) { try EntryBundle.entries(of: [0]) }
        #expect(throws: TransparencyError.self) { try EntryBundle.entries(of: [0, 2, 1]) }
        #expect(try EntryBundle.entries(of: [0, 0, 0, 1, 7]) == [[], [7]])
        #expect(throws: TransparencyError.self) { try EntryBundle.entries(of: [UInt8](repeating: 0, count: 514)) }
        #expect(throws: TransparencyError.self) { try EntryBundle.bytes(of: [[UInt8](repeating: 0, count: 65_536)]) }
        #expect(throws: TransparencyError.self) { try EntryBundle.bytes(of: [[UInt8]](repeating: [], count: 257)) }
    }
}
