/// A sorted list of keys with the numbers each names, front-coded in blocks; read where it lies.
///
/// Valid as long as the file it came from. No read leaves its sections.
struct KeyList: Sendable {
    /// A number that a key names.
    struct Entry: Hashable {
        enum Kind: Int { case other, main, abbreviation }

        let number: Int
        let kind: Kind
    }

    private static let keysInBlock = 32

    let codes: Section
    let blocks: Section
    let bytes: Section

    /// What exactly this key names; nothing for an unknown one. About 1 µs.
    func entries(of key: [UInt16]) -> [Entry] {
        var cursor = Cursor(self, block: lastBlock(notAfter: key))
        while cursor.next() {
            if cursor.key == key { return cursor.entries }
            if key.lexicographicallyPrecedes(cursor.key) { break }
        }
        return []
    }

    /// Goes through the keys that begin with `prefix`, blocks with the most populous places first, while `wants` says so of the
    /// population of a block's most populous place.
    func eachKey(
        beginningWith prefix: [UInt16], while wants: (UInt32) -> Bool, _ body: (KeyList.Cursor) -> Void
    ) {
        let first = lastBlock(notAfter: prefix)
        let last = lastBlock(notAfter: prefix + [.max])
        guard first <= last else { return }
        let order = (first...last).map { (block: $0, best: best($0)) }.sorted { $0.best > $1.best }
        for (block, best) in order {
            guard wants(best) else { return }
            var cursor = Cursor(self, block: block)
            while cursor.next(), cursor.block == block {
                if cursor.key.starts(with: prefix) {
                    body(cursor)
                } else if prefix.lexicographicallyPrecedes(cursor.key) {
                    break
                }
            }
        }
    }

    /// Goes through the keys within `limit` edits of `key`: a unit inserted, left out, replaced, or two exchanged. Of
    /// several edits at most one may concern the first two units, which few people mistype twice: otherwise every key
    /// would have to be looked at.
    ///
    /// The rows of the usual table (Wagner and Fischer 1974, with exchange: Lowrance and Wagner 1975) are kept for what
    /// a key shares with the one before it, and keys that begin with a beginning too far off are skipped, by block where
    /// there are many. About a millisecond for one edit, a few for two.
    func eachKey(within limit: Int, of key: [UInt16], _ body: (KeyList.Cursor, _ edits: Int) -> Void) {
        var table = EditTable(key, limit: limit)
        var cursor = Cursor(self, block: 0)
        while cursor.next(skippingKeysThatShare: table.hopelessAt) {
            table.update(cursor.key, shared: cursor.shared)
            if let edits = table.edits { body(cursor, edits) }
            if let hopeless = table.hopelessAt, cursor.isAtStartOfBlock || cursor.isAtEndOfBlock {
                cursor.leap(overKeysThatShare: hopeless)
            }
        }
    }

    /// The last block whose first key is not after `key`; 0 if there is none.
    fileprivate func lastBlock(notAfter key: [UInt16]) -> Int {
        var (low, high) = (0, blocks.count)
        while low < high {
            let middle = (low + high) / 2
            if key.lexicographicallyPrecedes(firstKey(middle)) { high = middle } else { low = middle + 1 }
        }
        return max(low - 1, 0)
    }

    fileprivate func firstKey(_ block: Int) -> [UInt16] {
        var cursor = Cursor(self, block: block)
        return cursor.next() ? cursor.key : []
    }

    fileprivate func begin(_ block: Int) -> Int {
        block < blocks.count ? min(Int(blocks.uint32(block, at: 0)), bytes.count) : bytes.count
    }

    private func best(_ block: Int) -> UInt32 { block < blocks.count ? blocks.uint32(block, at: 4) : 0 }
}

extension KeyList {
    /// Reads one key after the other.
    struct Cursor {
        private let list: KeyList
        private(set) var block: Int
        private var at: Int
        private var blockEnd: Int
        /// So that a damaged file, whose blocks may seem to overlap, is not read over and over.
        private var keysLeft = KeyList.keysInBlock
        private var entriesBegin = 0
        /// The key read last.
        private(set) var key: [UInt16] = []
        /// How many units it certainly has in common with the key read before it.
        private(set) var shared = 0

        fileprivate init(_ list: KeyList, block: Int) {
            self.list = list
            self.block = block
            at = list.begin(block)
            blockEnd = list.begin(block + 1)
        }

        var isAtStartOfBlock: Bool { keysLeft == KeyList.keysInBlock - 1 }
        var isAtEndOfBlock: Bool { at >= blockEnd || keysLeft == 0 }

        /// Whether there is another key, and reads it; without looking closely at those that share `skipped` units with
        /// the one before them.
        mutating func next(skippingKeysThatShare skipped: Int? = nil) -> Bool {
            while true {
                if isAtEndOfBlock {
                    guard block + 1 < list.blocks.count else { return false }
                    enter(block + 1)
                    continue
                }
                keysLeft -= 1
                let head = byte(at)
                let front = Int(head >> 4)
                var length = Int(head & 15)
                at += 1
                if length == 15 {
                    length = Int(byte(at))
                    at += 1
                }
                let end = at + length
                if let skipped, front >= skipped {
                    at = end
                    skipEntries()
                    continue
                }
                shared = min(front, key.count)
                key.removeLast(key.count - shared)
                while at < end, at < list.bytes.count { decode() }
                at = end
                entriesBegin = at
                skipEntries()
                return true
            }
        }

        /// Goes on with the first block that may hold a key which neither is before the present one nor begins as its
        /// first `count` units do.
        mutating func leap(overKeysThatShare count: Int) {
            // The blocks that lie within are mostly few: first by doubling steps, then by halving.
            var step = 1
            while block + step < list.blocks.count, isShared(count, block + step) { step *= 2 }
            var (low, high) = (block + step / 2, min(block + step, list.blocks.count))
            while low + 1 < high {
                let middle = (low + high) / 2
                if isShared(count, middle) { low = middle } else { high = middle }
            }
            // The block at `low` begins so, and may end otherwise.
            if low > block { enter(low) }
        }

        /// Whether the first key of a block begins with the first `count` units of the key read last: read unit by unit,
        /// because this is asked more often than anything else.
        private func isShared(_ count: Int, _ block: Int) -> Bool {
            var at = list.begin(block)
            let length = Int(byte(at) & 15)
            at += length == 15 ? 2 : 1
            let end = length == 15 ? at + Int(byte(at - 1)) : at + length
            var unit = 0
            while unit < count {
                guard at < end else { return false }
                let code = list.codes.start + 8 * Int(byte(at))
                at += 1
                let units = min(Int(code.load(as: UInt8.self)), 7)
                if units == 0 {
                    guard key[unit] == UInt16(byte(at)) | UInt16(byte(at + 1)) << 8 else { return false }
                    at += 2
                    unit += 1
                    continue
                }
                for index in 0..<units where unit < count {
                    guard key[unit] == UInt16(code.load(fromByteOffset: 1 + index, as: UInt8.self)) else {
                        return false
                    }
                    unit += 1
                }
            }
            return true
        }

        private mutating func enter(_ block: Int) {
            self.block = block
            at = list.begin(block)
            blockEnd = list.begin(block + 1)
            keysLeft = KeyList.keysInBlock
        }

        /// What the key read last names.
        var entries: [Entry] {
            var found: [Entry] = []
            var at = entriesBegin
            while at + 3 <= list.bytes.count {
                let value = Int(byte(at)) | Int(byte(at + 1)) << 8 | Int(byte(at + 2)) << 16
                found.append(Entry(number: value & 0x3ffff, kind: Entry.Kind(rawValue: value >> 18 & 3) ?? .other))
                guard value & 0x80_0000 != 0 else { break }
                at += 3
            }
            return found
        }

        @inline(__always)
        private func byte(_ offset: Int) -> UInt8 {
            offset < list.bytes.count ? list.bytes.start.load(fromByteOffset: offset, as: UInt8.self) : 0
        }

        private mutating func skipEntries() {
            while at + 3 <= list.bytes.count, byte(at + 2) & 0x80 != 0 { at += 3 }
            at += 3
        }

        private mutating func decode() {
            let code = list.codes.start + 8 * Int(byte(at))
            at += 1
            let length = min(Int(code.load(as: UInt8.self)), 7)
            if length == 0 {
                key.append(UInt16(byte(at)) | UInt16(byte(at + 1)) << 8)
                at += 2
            }
            for index in 0..<length { key.append(UInt16(code.load(fromByteOffset: 1 + index, as: UInt8.self))) }
        }
    }
}

/// How far the beginnings of a key are from the beginnings of what was asked, up to a limit.
private struct EditTable {
    /// So many units at the beginning may be wrong by one edit only.
    private static let guardedUnits = 2

    private let asked: [UInt16]
    private let limit: Int
    /// Rows of `asked.count + 1`, one for each beginning of the key.
    private var cells: [UInt8]
    private var rowCount = 1
    /// The length of the shortest beginning of the key that no ending can bring within the limit.
    private(set) var hopelessAt: Int?

    init(_ asked: [UInt16], limit: Int) {
        self.asked = asked
        self.limit = limit
        cells = (0...asked.count).map { UInt8(min($0, 100)) }
    }

    /// The edits between the key and what was asked; nil if more than the limit.
    var edits: Int? {
        guard hopelessAt == nil else { return nil }
        let last = Int(cells[rowCount * (asked.count + 1) - 1])
        return last <= limit ? last : nil
    }

    mutating func update(_ key: [UInt16], shared: Int) {
        let width = asked.count + 1
        let begin = min(shared, rowCount - 1, hopelessAt ?? .max)
        if let hopelessAt, shared < hopelessAt { self.hopelessAt = nil }
        guard hopelessAt == nil else { return }
        rowCount = begin + 1
        for row in begin + 1..<max(begin + 1, key.count + 1) {
            let needed = (row + 1) * width
            if cells.count < needed { cells += [UInt8](repeating: 100, count: needed - cells.count) }
            let unit = key[row - 1]
            let (low, high) = (max(0, row - limit), min(asked.count, row + limit))
            guard low <= high else {
                hopelessAt = row
                return
            }
            var least: UInt8 = 100
            cells.withUnsafeMutableBufferPointer { cells in
                let (at, above) = (row * width, (row - 1) * width)
                for column in low...high {
                    var value: UInt8 = 100
                    if column == 0 {
                        value = UInt8(min(row, 100))
                    } else {
                        let same = unit == asked[column - 1]
                        value = cells[above + column - 1] + (same ? 0 : 1)
                        // Outside the band there is nothing worth having.
                        if column < row + limit { value = min(value, cells[above + column] + 1) }
                        if column > low { value = min(value, cells[at + column - 1] + 1) }
                        if row > 1, column > 1, unit == asked[column - 2], key[row - 2] == asked[column - 1] {
                            value = min(value, cells[above - width + column - 2] + 1)
                        }
                    }
                    cells[at + column] = value
                    least = min(least, value)
                }
                // What the next row reads just outside this band.
                if high < asked.count { cells[at + high + 1] = 100 }
                if low > 0 { cells[at + low - 1] = 100 }
            }
            rowCount = row + 1
            if least > limit || row == Self.guardedUnits && least > 1 {
                hopelessAt = row
                return
            }
        }
        // The last column of a row outside the band says nothing.
        if abs(key.count - asked.count) > limit { cells[rowCount * width - 1] = 100 }
    }
}
