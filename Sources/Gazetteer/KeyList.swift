/// A sorted list of keys with the numbers each names, front-coded in blocks; read where it lies.
///
/// Valid as long as the file it came from. No read leaves its sections.
struct KeyList: Sendable {
    /// A number that a key names.
    struct Entry: Hashable {
        enum Kind: Int { case other, main, abbreviation, qualifier }

        let number: Int
        let kind: Kind
    }

    static let keysInBlock = 64

    let codes: Section
    let blocks: Section
    let bytes: Section

    /// The entries of exactly this key; empty for an unknown key. About 1 µs.
    func entries(of key: [UInt16]) -> [Entry] {
        var cursor = Cursor(self, block: lastBlock(notAfter: key))
        while cursor.next() {
            if cursor.key == key { return cursor.entries }
            if key.lexicographicallyPrecedes(cursor.key) { break }
        }
        return []
    }

    /// Goes through the keys that begin with `prefix`, blocks with the most populous places first, while `wants` says
    /// so of the population of a block's most populous place.
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

    /// The last block whose first key is not after `key`; 0 if there is none.
    private func lastBlock(notAfter key: [UInt16]) -> Int {
        var (low, high) = (0, blocks.count)
        while low < high {
            let middle = (low + high) / 2
            if key.lexicographicallyPrecedes(firstKey(middle)) { high = middle } else { low = middle + 1 }
        }
        return max(low - 1, 0)
    }

    private func firstKey(_ block: Int) -> [UInt16] {
        var cursor = Cursor(self, block: block)
        return cursor.next() ? cursor.key : []
    }

    func begin(_ block: Int) -> Int {
        block < blocks.count ? min(Int(blocks.uint32(block, at: 0)), bytes.count) : bytes.count
    }

    /// 0 behind the end.
    @inline(__always)
    func byte(_ offset: Int) -> UInt8 {
        offset < bytes.count ? bytes.start.load(fromByteOffset: offset, as: UInt8.self) : 0
    }

    /// Reads the head of a key and moves past it. The head gives the number of units shared with the previous key and
    /// the number of bytes that follow.
    @inline(__always)
    func head(at place: inout Int) -> (shared: Int, length: Int) {
        let head = Int(byte(place))
        place += 1
        var length = head & 15
        if length == 15 {
            length = Int(byte(place))
            place += 1
        }
        return (head >> 4, length)
    }

    /// Returns the units that a byte of a key encodes, with the two bytes after it if necessary, and moves past them.
    @inline(__always)
    func decode(at place: inout Int, _ append: (UInt16) -> Void) {
        let code = codes.start + 8 * Int(byte(place))
        place += 1
        let length = min(Int(code.load(as: UInt8.self)), 7)
        if length == 0 {
            append(UInt16(byte(place)) | UInt16(byte(place + 1)) << 8)
            place += 2
        }
        for index in 0..<length { append(UInt16(code.load(fromByteOffset: 1 + index, as: UInt8.self))) }
    }

    /// The entries of a key that begin at a byte.
    func entries(at begin: Int) -> [Entry] {
        var found: [Entry] = []
        var at = begin
        while at + 3 <= bytes.count {
            let value = Int(byte(at)) | Int(byte(at + 1)) << 8 | Int(byte(at + 2)) << 16
            found.append(Entry(number: value & 0x3ffff, kind: Entry.Kind(rawValue: value >> 18 & 3) ?? .other))
            guard value & 0x80_0000 != 0 else { break }
            at += 3
        }
        return found
    }

    /// Where the entries end that begin at a byte.
    func endOfEntries(at begin: Int) -> Int {
        var at = begin
        while at + 3 <= bytes.count, byte(at + 2) & 0x80 != 0 { at += 3 }
        return at + 3
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

        fileprivate init(_ list: KeyList, block: Int) {
            self.list = list
            self.block = block
            at = list.begin(block)
            blockEnd = list.begin(block + 1)
        }

        /// Whether there is another key, and reads it.
        mutating func next() -> Bool {
            while true {
                if at >= blockEnd || keysLeft == 0 {
                    guard block + 1 < list.blocks.count else { return false }
                    enter(block + 1)
                    continue
                }
                keysLeft -= 1
                let (front, length) = list.head(at: &at)
                let end = at + length
                key.removeLast(key.count - min(front, key.count))
                while at < end, at < list.bytes.count { decode() }
                at = end
                entriesBegin = at
                skipEntries()
                return true
            }
        }

        private mutating func enter(_ block: Int) {
            self.block = block
            at = list.begin(block)
            blockEnd = list.begin(block + 1)
            keysLeft = KeyList.keysInBlock
        }

        /// The entries of the key read last.
        var entries: [Entry] { list.entries(at: entriesBegin) }

        private mutating func skipEntries() { at = list.endOfEntries(at: at) }

        private mutating func decode() {
            var place = at
            list.decode(at: &place) { key.append($0) }
            at = place
        }
    }
}
