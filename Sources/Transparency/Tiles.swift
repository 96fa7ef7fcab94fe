import Cryptography

// Where a log's hashes and entries are (C2SP tlog-tiles):
//
//     tile/0/x001/x234/067          256 hashes: the roots over 256ˡ leaves each, here the leaves from 1,234,067 · 256 on
//     tile/1/000.p/17               the first 17 hashes of a tile that is not full yet
//     tile/entries/x001/x234/067    256 entries, each after its length in 2 bytes, the most significant first

/// The path of a tile or of a bundle of entries.
package struct TilePath: Hashable, Sendable {
    /// How many hashes or entries a full one has.
    package static let width = 256
    /// The highest level.
    package static let levelMax = 63
    /// The highest index that a log of 2⁶³ − 1 leaves has.
    package static let indexMax: Int64 = (1 << 55) - 1

    /// The content of a file.
    package enum Content: Hashable, Sendable {
        /// Hashes over 256ˡ leaves each, *l* from 0 to 63.
        case hashes(level: Int)
        case entries
    }

    package let content: Content
    /// The number of the tile within its level, from 0 on.
    package let index: Int64
    /// How many hashes or entries it has: 256, or 1 to 255 at the right edge.
    package let count: Int

    package init(_ content: Content, index: Int64, count: Int = Self.width) {
        precondition((0...Self.indexMax).contains(index) && (1...Self.width).contains(count), "There is no such tile.")
        self.content = content
        self.index = index
        self.count = count
    }

    /// Reads a path like `tile/0/x001/x234/067.p/112`.
    ///
    /// - Throws: ``TransparencyError/malformed(_:)`` for every other spelling, so that a tile has one path.
    package init(_ text: some StringProtocol) throws(TransparencyError) {
        let expected = TransparencyError.malformed(
            "a tile is written tile/LEVEL/xNNN/NNN or tile/LEVEL/xNNN/NNN.p/WIDTH")
        guard text.utf8.count <= 64 else { throw expected }
        var parts = Substring(text).utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { Substring($0) }[...]
        guard parts.popFirst() == "tile", let level = parts.popFirst() else { throw expected }
        if level == "entries" {
            content = .entries
        } else {
            guard let level = NoteText.number(level), level <= Int64(Self.levelMax) else { throw expected }
            content = .hashes(level: Int(level))
        }
        var count = Self.width
        if parts.count >= 2, parts[parts.endIndex - 2].hasSuffix(".p"), let width = parts.popLast() {
            guard let number = NoteText.number(width), (1..<Int64(Self.width)).contains(number) else { throw expected }
            count = Int(number)
            parts[parts.endIndex - 1] = parts[parts.endIndex - 1].dropLast(2)
        }
        guard !parts.isEmpty, parts.count <= 6 else { throw expected }
        var index: Int64 = 0
        for (position, part) in parts.enumerated() {
            let isLast = position == parts.count - 1
            let digits = isLast ? part : part.dropFirst()
            guard isLast || part.hasPrefix("x"), digits.utf8.count == 3,
                digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
                let number = Int64(digits), position > 0 || isLast || number > 0
            else { throw expected }
            index = index * 1000 + number
        }
        guard index <= Self.indexMax else { throw expected }
        self.index = index
        self.count = count
    }

    /// The path, which has no slash at its beginning.
    package var text: String {
        var parts = [String(1000 + index % 1000).dropFirst()]
        var rest = index / 1000
        while rest > 0 {
            parts.append("x\(String(1000 + rest % 1000).dropFirst())")
            rest /= 1000
        }
        let name =
            switch content {
            case .hashes(let level): String(level)
            case .entries: "entries"
            }
        let suffix = count == Self.width ? "" : ".p/\(count)"
        return "tile/\(name)/\(parts.reversed().joined(separator: "/"))\(suffix)"
    }

    /// How many leaves each hash of the tile covers; `nil` for a level so high that no log of 2⁶³ − 1 leaves has it.
    private var leavesPerHash: Int64? {
        switch content {
        case .hashes(let level): 8 * level < 63 ? 1 << Int64(8 * level) : nil
        case .entries: 1
        }
    }

    /// Whether a log of `size` leaves has the tile: all its hashes are complete.
    package func exists(inLogOfSize size: Int64) -> Bool {
        guard let leavesPerHash else { return false }
        let complete = size / leavesPerHash
        return index < complete / 256 || index == complete / 256 && Int64(count) <= complete % 256
    }

    /// The tiles and bundles of a log of `size` leaves: the full ones, and at the right edge those that are not.
    ///
    /// It takes as long as there are tiles: one for each 128 leaves.
    package static func all(inLogOfSize size: Int64) -> [TilePath] {
        func paths(_ content: Content, _ complete: Int64) -> [TilePath] {
            var paths = (0..<(complete / 256)).map { TilePath(content, index: $0) }
            if complete % 256 > 0 {
                paths.append(TilePath(content, index: complete / 256, count: Int(complete % 256)))
            }
            return paths
        }
        var all = paths(.entries, size)
        var complete = size
        var level = 0
        while complete > 0 {
            all += paths(.hashes(level: level), complete)
            (complete, level) = (complete / 256, level + 1)
        }
        return all
    }
}

extension MerkleTree {
    /// The content of a tile of hashes; `nil` where the tree does not have it.
    package func tile(_ path: TilePath) -> [UInt8]? {
        guard case .hashes(let level) = path.content, path.exists(inLogOfSize: size) else { return nil }
        return (0..<Int64(path.count)).flatMap { node(level: 8 * level, index: path.index * 256 + $0).bytes }
    }
}

/// Entries of a log, one after the other (C2SP tlog-tiles, "log entries").
package enum EntryBundle {
    /// The longest entry in bytes.
    package static let entryBytesMax = 65_535

    /// The bytes of a bundle.
    ///
    /// - Throws: ``TransparencyError/malformed(_:)`` when an entry is longer than ``entryBytesMax``, or there are more
    ///   than fit in a tile.
    package static func bytes(of entries: [[UInt8]]) throws(TransparencyError) -> [UInt8] {
        guard entries.count <= TilePath.width else { throw .malformed("a bundle has 256 entries at most") }
        var bytes: [UInt8] = []
        for entry in entries {
            guard let length = UInt16(exactly: entry.count) else {
                throw .malformed("an entry has \(entryBytesMax) bytes at most")
            }
            bytes += bigEndianBytes(length)
            bytes += entry
        }
        return bytes
    }

    /// The entries of a bundle.
    ///
    /// - Throws: ``TransparencyError/malformed(_:)`` when the bytes end within an entry, or there are more than fit.
    package static func entries(of bytes: [UInt8]) throws(TransparencyError) -> [[UInt8]] {
        var entries: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard entries.count < TilePath.width else { throw .malformed("a bundle has 256 entries at most") }
            guard rest.count >= 2, case let length = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1]),
                rest.count >= 2 + length
            else { throw .malformed("a bundle ends within an entry") }
            entries.append(Array(rest.dropFirst(2).prefix(length)))
            rest = rest.dropFirst(2 + length)
        }
        return entries
    }
}
