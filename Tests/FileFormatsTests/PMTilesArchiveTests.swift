import FileFormats
import Testing

/// Files of map tiles: the curve of their numbers, directories with runs and leaves, and damaged files.
@Suite struct PMTilesArchiveTests {
    /// The pairs are those of the specification's section 4.1.1.
    @Test(arguments: [
        (UInt64(0), 0, 0, 0), (1, 1, 0, 0), (2, 1, 0, 1), (3, 1, 1, 1), (4, 1, 1, 0), (5, 2, 0, 0),
        (19_078_479, 12, 3423, 1763),
    ])
    func `a number on the curve is the square of the specification`(id: UInt64, zoom: Int, x: Int, y: Int) throws {
        let square = try #require(PMTilesArchive.square(of: id))
        #expect(square == (zoom, x, y))
    }

    @Test func `each number of a zoom is another square, next to the one before`() throws {
        let squares = try (1365..<5461).map { try #require(PMTilesArchive.square(of: $0)) }
        #expect(squares.allSatisfy { $0.zoom == 6 })
        #expect(Set(squares.map { $0.x * 64 + $0.y }).count == 4096)
        #expect(zip(squares, squares.dropFirst()).allSatisfy { abs($0.x - $1.x) + abs($0.y - $1.y) == 1 })
        #expect(PMTilesArchive.square(of: .max) == nil)
    }

    private static func little(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    /// A file with the world at zoom 0, a run of two tiles that starts at 1, and a leaf with tile 3 and 4, which follow
    /// each other.
    private static func file(type: UInt8 = 2) -> [UInt8] {
        // n; differences of ids; runs; lengths; offsets plus 1. The leaf's entry points into the leaves.
        let root: [UInt8] = [3, 0, 1, 2, 1, 2, 0, 3, 4, 9, 1, 4, 1]
        let leaf: [UInt8] = [2, 3, 1, 1, 1, 1, 2, 8, 0]
        let metadata = Array("{}".utf8)
        let data = Array("abcdefgXYZ".utf8)
        var head = Array("PMTiles".utf8) + [3]
        var place = 127
        for part in [root, metadata, leaf, data] {
            head += little(place, 8) + little(part.count, 8)
            place += part.count
        }
        head += [UInt8](repeating: 0, count: 24) + [1, 1, 1, type, 0, 1] + [UInt8](repeating: 0, count: 25)
        #expect(head.count == 127)
        return head + root + metadata + leaf + data
    }

    private static func archive(_ bytes: [UInt8]) throws(PMTilesArchive.Fault) -> PMTilesArchive {
        try PMTilesArchive { offset, count in
            guard offset <= UInt64(bytes.count), count <= bytes.count - Int(offset) else { return nil }
            return Array(bytes[Int(offset)..<Int(offset) + count])
        }
    }

    private static func tiles(_ bytes: [UInt8]) throws -> [String] {
        let archive = try archive(bytes)
        var found: [PMTilesArchive.Entry] = []
        try archive.forEachEntry {
            found.append($0)
            return true
        }
        return try found.map {
            "\($0.id)+\($0.run) \(String(decoding: try archive.content(of: $0), as: UTF8.self))"
        }
    }

    @Test func `runs, leaves and contents that follow each other are read`() throws {
        #expect(try Self.tiles(Self.file()) == ["0+1 abc", "1+2 defg", "3+1 X", "4+1 YZ"])
    }

    @Test func `a file of vectors, of another version or none at all is refused`() {
        #expect(throws: PMTilesArchive.Fault.vectorTiles) { try Self.archive(Self.file(type: 1)) }
        var other = Self.file()
        other[7] = 2
        #expect(throws: PMTilesArchive.Fault.otherVersion(2)) { try Self.archive(other) }
        #expect(throws: PMTilesArchive.Fault.notPMTiles) { try Self.archive(Array("PNG".utf8)) }
        other = Self.file()
        other[97] = 3
        #expect(throws: PMTilesArchive.Fault.compressedOtherwise) { try Self.archive(other) }
    }

    @Test func `no change of a byte and no cut makes the reader leave the file`() throws {
        let whole = Self.file()
        var (read, refused) = (0, 0)
        func look(_ bytes: [UInt8]) {
            guard let tiles = try? Self.tiles(bytes) else {
                refused += 1
                return
            }
            read += 1
            // Ids and runs have 20 digits at most, and each byte of the contents becomes at most the three of U+FFFD.
            for tile in tiles { #expect(tile.utf8.count <= 42 + 3 * bytes.count) }
        }
        for place in whole.indices {
            for byte: UInt8 in [0, 1, 0x7F, 0x80, 0xFF] {
                var bytes = whole
                bytes[place] = byte
                look(bytes)
            }
            look(Array(whole.prefix(place)))
        }
        #expect(read > 0 && refused > 0)
    }
}
