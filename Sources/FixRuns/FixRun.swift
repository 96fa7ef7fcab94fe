package import Cryptography
import Glibc
package import Whereabouts

// One file of the index of fix identities, `fix-identities/FROM-TO.run`: the marks of all fixes among the events after
// FROM up to TO, sorted. A run is written once, under another name, synced and then renamed; nothing changes it
// afterwards.
//
// Words of 8 bytes, least significant byte first, in blocks of 64 words. The last word of a block is its tag
// (`Block.tag`): it depends on the index's key, the run's nonce, the block's number from 0, and the words before it.
//
//     block 0       magic, format, log id (2 words), epoch, FROM, TO, leaf of event TO (4 words), erased, marks, nonce
//     blocks 1…n    21 marks each, in the order of (hash, number): hash, number, person
//     then          the first hash of each of the blocks 1…n, 63 to a block
//
// Unused words are 0. `erased` counts the persons of the log who were erased when the run was written: their marks are
// left out. Example: the one fix of event 5, of person 2, in a log of 7 events makes `0-7.run` of three blocks.

/// Why a run cannot be used. Its events are then folded again from the log.
package enum FixRunFailure: Error, CustomStringConvertible {
    /// The file has changed since it was written.
    case damaged
    /// It belongs to another log, epoch, key or version.
    case foreign
    /// The file cannot be read or written now; it is kept.
    case file(errno: Int32)

    /// The fault as a clause for the operator, without personal data.
    package var description: String {
        switch self {
        case .damaged: "it has changed since it was written"
        case .foreign: "it belongs to another log or another version"
        case .file(let errno): String(cString: strerror(errno))
        }
    }
}

/// An open run. It is never changed, so any thread may use it.
package final class FixRun: Sendable {
    /// The length of a block, which one read fetches.
    package static let blockBytes = 512
    /// The marks in a block: three words each.
    static let marksPerBlock = 21
    private static let wordsPerBlock = blockBytes / 8 - 1
    private static let magic: UInt64 = 0x7365_6D61_4E78_6946  // "FixNames"
    private static let format: UInt64 = 1

    /// The content of the first block.
    package struct Header: Sendable {
        /// The log that the marks are of.
        package let log: Identifier128
        /// Its epoch when the run was written.
        package let epoch: Int64
        /// The marks are of events after this number.
        package let from: Int64
        /// The marks are of events up to this number.
        package let to: Int64
        /// The leaf of event ``to``.
        package let leaf: Digest
        /// The number of persons erased from the log when the run was written.
        package let erased: Int64
        /// The number of marks in the file.
        package var marks: Int64

        package init(
            log: Identifier128, epoch: Int64, from: Int64, to: Int64, leaf: Digest, erased: Int64, marks: Int64
        ) {
            (self.log, self.epoch, self.from, self.to) = (log, epoch, from, to)
            (self.leaf, self.erased, self.marks) = (leaf, erased, marks)
        }
    }

    /// The path of the file.
    package let path: String
    /// The content of the first block.
    package let header: Header
    private let nonce: UInt64
    private let key: SipHash
    private let descriptor: Int32
    /// The first hash of each block of marks: 0.4 bytes a mark in memory.
    private let fences: [UInt64]

    /// Opens a file and checks its form; the blocks of marks are checked when they are read.
    ///
    /// - Throws: ``FixRunFailure``. Cost: a read of 1/64 of the file.
    package init(path: String, key: SipHash) throws(FixRunFailure) {
        (self.path, self.key) = (path, key)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw .file(errno: errno) }
        self.descriptor = descriptor
        var opened = false
        defer { if !opened { Glibc.close(descriptor) } }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .file(errno: errno) }
        var first = Block()
        try first.read(0, from: descriptor)
        guard first[0] == Self.magic, first[1] == Self.format else { throw .foreign }
        nonce = first[13]
        guard first.hasTag(key, nonce, 0) else { throw .damaged }
        header = Header(
            log: Identifier128(high: first[2], low: first[3]), epoch: Int64(bitPattern: first[4]),
            from: Int64(bitPattern: first[5]), to: Int64(bitPattern: first[6]),
            leaf: Digest(words: (first[7], first[8], first[9], first[10])), erased: Int64(bitPattern: first[11]),
            marks: Int64(bitPattern: first[12]))
        guard header.from >= 0, header.from < header.to, header.marks >= 0, header.marks <= header.to - header.from
        else { throw .damaged }
        // Checked before the count is used: a file of this length has this many marks.
        guard header.marks <= Int64(status.st_size), Int64(status.st_size) == Self.bytes(ofMarks: header.marks) else {
            throw .damaged
        }
        let blocks = Self.blocks(ofMarks: Int(header.marks))
        let fenceBlocks = (blocks + Self.wordsPerBlock - 1) / Self.wordsPerBlock
        var fences: [UInt64] = []
        fences.reserveCapacity(blocks)
        var block = Block()
        for index in 0..<fenceBlocks {
            try block.read(1 + blocks + index, from: descriptor)
            guard block.hasTag(key, nonce, 1 + blocks + index) else { throw .damaged }
            for word in 0..<min(Self.wordsPerBlock, blocks - index * Self.wordsPerBlock) { fences.append(block[word]) }
        }
        self.fences = fences
        opened = true
    }

    deinit { close(descriptor) }

    /// The length of a file with this many marks.
    package static func bytes(ofMarks marks: Int64) -> Int64 {
        let blocks = Int64(blocks(ofMarks: Int(marks)))
        return (1 + blocks + (blocks + Int64(wordsPerBlock) - 1) / Int64(wordsPerBlock)) * Int64(blockBytes)
    }

    /// The blocks that this many marks fill.
    fileprivate static func blocks(ofMarks marks: Int) -> Int { (marks + marksPerBlock - 1) / marksPerBlock }

    /// The matches of one hash in a run: events with the same fix, and events whose fix has the same device, time and
    /// place.
    package struct Candidates: Equatable {
        /// Events whose mark has the hash; the first ``FixRun/candidatesMax`` of them.
        package fileprivate(set) var same: [Int64] = []
        /// Up to two events whose mark has the identity's part of the hash.
        package fileprivate(set) var twins: [Int64] = []
    }

    /// The most events with the same hash that are opened and compared. More have one only if they were made so on
    /// purpose.
    package static let candidatesMax = 64

    /// The events that may have the fix with this hash, or a twin of it.
    ///
    /// Marks of one identity are neighbors, so the two beside the place of the hash show whether there is a twin. Cost:
    /// one read of 512 bytes, or two at the end of a block, however many twins there are.
    ///
    /// - Parameter block: A buffer for blocks, reused because a new one costs as much as a read.
    package func candidates(of hash: UInt64, reading block: inout Block) throws(FixRunFailure) -> Candidates {
        // The block before the first one that begins at or above the hash may end with it.
        var (low, high) = (0, fences.count)
        while low < high {
            let middle = (low + high) / 2
            if fences[middle] < hash { low = middle + 1 } else { high = middle }
        }
        var found = Candidates()
        func isTwin(_ other: UInt64) -> Bool { (other ^ hash) & ~FixMark.contentBits == 0 }
        var before: Int64?
        var index = max(0, low - 1)
        blocks: while index < fences.count, fences[index] <= hash || isTwin(fences[index]) {
            try read(&block, index)
            for slot in 0..<count(inBlock: index) {
                let (other, number) = (block[3 * slot], Int64(bitPattern: block[3 * slot + 1]))
                if other < hash {
                    before = isTwin(other) ? number : nil
                } else if other == hash {
                    found.same.append(number)
                    if found.same.count == Self.candidatesMax { break blocks }
                } else {
                    if isTwin(other) { found.twins.append(number) }
                    break blocks
                }
            }
            index += 1
        }
        if let before { found.twins.append(before) }
        return found
    }

    /// The marks in a block; fewer only in the last one.
    private func count(inBlock index: Int) -> Int {
        min(Self.marksPerBlock, Int(header.marks) - index * Self.marksPerBlock)
    }

    /// Reads a block of marks and checks its tag and its first hash.
    private func read(_ block: inout Block, _ index: Int) throws(FixRunFailure) {
        try block.read(1 + index, from: descriptor)
        guard block.hasTag(key, nonce, 1 + index), block[0] == fences[index] else { throw .damaged }
    }

    /// Reads the marks in their order, block by block.
    package struct Cursor {
        private let run: FixRun
        private var block = Block()
        private var index = -1
        private var slot = 0
        private var count = 0
        /// The mark at the cursor; `nil` at the end.
        package private(set) var mark: FixMark?

        /// A cursor at the first mark.
        package init(_ run: FixRun) throws(FixRunFailure) {
            self.run = run
            try advance()
        }

        /// Goes to the next mark; throws ``FixRunFailure/damaged`` if the order is wrong.
        package mutating func advance() throws(FixRunFailure) {
            if slot == count {
                index += 1
                guard index < run.fences.count else { return mark = nil }
                try run.read(&block, index)
                (slot, count) = (0, run.count(inBlock: index))
            }
            let next = FixMark(
                hash: block[3 * slot], number: Int64(bitPattern: block[3 * slot + 1]),
                person: PersonID(rawValue: Int64(bitPattern: block[3 * slot + 2])))
            slot += 1
            // The sum over a log's events compares sets; the order is checked here.
            if let mark, next < mark { throw .damaged }
            mark = next
        }
    }

    /// 64 words on the heap, made once for each user.
    package struct Block {
        private var words = [UInt64](repeating: 0, count: FixRun.blockBytes / 8)

        /// A block of zeros.
        package init() {}

        fileprivate subscript(index: Int) -> UInt64 {
            get { UInt64(littleEndian: words[index]) }
            set { words[index] = newValue.littleEndian }
        }

        /// Sets all words to 0.
        fileprivate mutating func clear() { for index in words.indices { words[index] = 0 } }

        /// Reads the block of this number, from 0.
        fileprivate mutating func read(_ number: Int, from descriptor: Int32) throws(FixRunFailure) {
            let count = words.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress, FixRun.blockBytes, off_t(number * FixRun.blockBytes))
            }
            guard count >= 0 else { throw .file(errno: errno) }
            guard count == FixRun.blockBytes else { throw .damaged }
        }

        /// Finds damage. It need not withstand a forger, who could at worst make the log keep a fix twice. Each step
        /// maps the tags so far one to one, so a change within one word is always found.
        private func tag(_ key: SipHash, _ nonce: UInt64, _ number: Int) -> UInt64 {
            var tag = key.hash((nonce, UInt64(number), 0, 0))
            for word in words[..<FixRun.wordsPerBlock] {
                tag = (tag ^ UInt64(littleEndian: word)) &* 0x9E37_79B9_7F4A_7C15
                tag ^= tag >> 32
            }
            return tag
        }

        /// Whether the last word is the tag of the others.
        fileprivate func hasTag(_ key: SipHash, _ nonce: UInt64, _ number: Int) -> Bool {
            self[FixRun.wordsPerBlock] == tag(key, nonce, number)
        }

        /// Sets the tag and appends the block's bytes.
        fileprivate mutating func close(_ key: SipHash, _ nonce: UInt64, _ number: Int, into bytes: inout [UInt8]) {
            self[FixRun.wordsPerBlock] = tag(key, nonce, number)
            words.withUnsafeBytes { bytes.append(contentsOf: $0) }
        }
    }

    /// Writes a run under a temporary name; without ``finish()`` the file is deleted.
    package struct Writer: ~Copyable {
        private let path: String
        private var header: Header
        private let key: SipHash
        private let nonce: UInt64
        private let descriptor: Int32
        private var fences: [UInt64] = []
        private var block = Block()
        private var slot = 0
        private var number = 1
        private var buffer: [UInt8] = []
        /// The offset of the buffer in the file.
        private var offset = 0
        private var isDone = false

        private static let bufferBytes = 256 << 10
        private var temporary: String { path + ".new" }

        /// - Parameter header: The number of marks is filled in at the end.
        package init(folder: String, _ header: Header, key: SipHash) throws(FixRunFailure) {
            path = "\(folder)/\(header.from)-\(header.to).run"
            (self.header, self.key) = (header, key)
            self.header.marks = 0
            nonce = UInt64.random(in: 0...UInt64.max)
            descriptor = Glibc.open(path + ".new", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { throw .file(errno: errno) }
            buffer.reserveCapacity(Self.bufferBytes + FixRun.blockBytes)
            // The first block is written last.
            buffer.append(contentsOf: [UInt8](repeating: 0, count: FixRun.blockBytes))
        }

        deinit {
            Glibc.close(descriptor)
            if !isDone { unlink(path + ".new") }
        }

        /// Adds the next mark. Marks must be in order.
        package mutating func append(_ mark: FixMark) throws(FixRunFailure) {
            if slot == 0 { fences.append(mark.hash) }
            block[3 * slot] = mark.hash
            block[3 * slot + 1] = UInt64(bitPattern: mark.number)
            block[3 * slot + 2] = UInt64(bitPattern: mark.person.rawValue)
            slot += 1
            header.marks += 1
            if slot == FixRun.marksPerBlock { try endBlock() }
        }

        /// Closes a full block, or the last one.
        private mutating func endBlock() throws(FixRunFailure) {
            block.close(key, nonce, number, into: &buffer)
            block.clear()
            slot = 0
            number += 1
            if buffer.count >= Self.bufferBytes { try flush() }
        }

        /// Writes the buffer to the file.
        private mutating func flush() throws(FixRunFailure) {
            var done = 0
            while done < buffer.count {
                let count = buffer.withUnsafeBytes {
                    pwrite(descriptor, $0.baseAddress?.advanced(by: done), buffer.count - done, off_t(offset + done))
                }
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { throw .file(errno: errno) }
                done += count
            }
            offset += done
            buffer.removeAll(keepingCapacity: true)
        }

        /// Makes the file durable, gives it its name, which replaces a file of that name, and opens it.
        package consuming func finish() throws(FixRunFailure) -> FixRun {
            if slot > 0 { try endBlock() }
            for start in stride(from: 0, to: fences.count, by: FixRun.wordsPerBlock) {
                for (word, fence) in fences[start...].prefix(FixRun.wordsPerBlock).enumerated() { block[word] = fence }
                try endBlock()
            }
            try flush()
            let leaf = header.leaf.words
            let words: [UInt64] = [
                FixRun.magic, FixRun.format, header.log.high, header.log.low, UInt64(bitPattern: header.epoch),
                UInt64(bitPattern: header.from), UInt64(bitPattern: header.to), leaf.0, leaf.1, leaf.2, leaf.3,
                UInt64(bitPattern: header.erased), UInt64(bitPattern: header.marks), nonce,
            ]
            for (word, value) in words.enumerated() { block[word] = value }
            block.close(key, nonce, 0, into: &buffer)
            offset = 0
            try flush()
            guard fsync(descriptor) == 0, rename(temporary, path) == 0 else { throw .file(errno: errno) }
            isDone = true
            syncFolder()
            return try FixRun(path: path, key: key)
        }

        /// Makes the name of the file durable.
        private func syncFolder() {
            let folder = open(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]), O_RDONLY | O_DIRECTORY)
            guard folder >= 0 else { return }
            fsync(folder)
            Glibc.close(folder)
        }
    }
}
