import Cryptography
import Glibc
import TestSupport
import Testing
import Transparency
import Whereabouts

@testable import Log
@testable import Maintenance

/// The bytes of shipped batches, and what damage does to them.
@Suite struct ShippedBatchTests {
    static let secret = [UInt8](repeating: 7, count: 32)
    private static let origin = ShippedBatch.Origin(
        log: Array(UInt8(0)..<16).withUnsafeBytes { Identifier128(bytes: $0) } ?? .random(), epoch: 3)
    private let sha256 = SHA256()

    private static func digest(_ byte: UInt8) -> Digest {
        Digest(bytes: [UInt8](repeating: byte, count: 32)) ?? Digest(words: (0, 0, 0, 0))
    }

    private static func event(_ number: Int64) -> LogReader.StoredEvent {
        let correlation = Array(UInt8(0x20)..<0x30).withUnsafeBytes { RequestID(bytes: $0) } ?? .random()
        return LogReader.StoredEvent(
            header: EventHeader(
                number: number, stream: StreamID(rawValue: 5), version: min(2, number), kind: 7,
                recordedAt: Timestamp(milliseconds: 1_777_881_600_000), actor: PrincipalID(rawValue: -1),
                correlation: correlation, cause: min(1, number - 1)),
            body: [0x81, 0xA0], leaf: digest(UInt8(number) * 0x11))
    }

    /// A batch with the events of these numbers.
    private func batch(_ numbers: ClosedRange<Int64>) -> ShippedBatch {
        var before = CompactRange()
        for number in 1..<numbers.lowerBound { before.append(Self.digest(UInt8(number) * 0x11), sha256) }
        return ShippedBatch(Self.origin, before: before, events: numbers.map(Self.event), sha256)
    }

    private func bytes(_ numbers: ClosedRange<Int64>) -> [UInt8] { batch(numbers).bytes(Self.secret, sha256) }

    private func read(_ bytes: [UInt8]) throws -> ShippedBatch { try ShippedBatch(bytes, Self.secret, sha256) }

    /// Computed with Python's struct, hashlib and hmac from the table at the head of `ShippedBatch.swift`.
    private static let vector =
        "77627368697030310000011a000102030405060708090a0b0c0d0e0f00000000000000030000000000000003"
        + "00000000000000031d8f52d3ec81ac02cd97cb3281523be47af850c0f0295af866f04bc245f46bbf00000000"
        + "00000005000000000000000200000000000000070000019df2005000ffffffffffffffff2021222324252627"
        + "28292a2b2c2d2e2f00000000000000010000000281a033333333333333333333333333333333333333333333"
        + "33333333333333333333adc505e99f1e9887777a6aa5d140106fcc012a2e4430875f3c2e135124145842316f"
        + "4b2b4cf2bba7f635024f37e48f04ac58c64259d533283452d56faff3d2ae9f5ec9a391696cabb6bcd3ef43c4"
        + "d70e83a70e10cdc43a7bff9cf636015d54ba"

    @Test func `a batch has the bytes that the specification says, and is read back from them`() throws {
        #expect(Hex.encode(bytes(3...3)) == Self.vector)
        let read = try read(try #require(Hex.decode(Self.vector)))
        #expect(read.origin == Self.origin && read.first == 3 && read.last == 3)
        #expect(read.before.subtrees == batch(3...3).before.subtrees && read.after.size == 3)
        let (event, due) = (try #require(read.events.first), Self.event(3))
        #expect(event.body == due.body && event.leaf == due.leaf && event.header.actor == due.header.actor)
        #expect(event.header.stream == due.header.stream && event.header.recordedAt == due.header.recordedAt)
        #expect(event.header.version == 2 && event.header.kind == 7 && event.header.cause == 1)
        #expect(event.header.correlation == due.header.correlation)
    }

    @Test func `a batch with any changed byte, or cut off anywhere, is refused`() throws {
        let whole = bytes(2...4)
        #expect(try read(whole).events.count == 3)
        for index in whole.indices {
            var changed = whole
            changed[index] ^= 0x40
            #expect(throws: BatchDamage.self, "byte \(index)") { try read(changed) }
            #expect(throws: BatchDamage.self, "\(index) bytes") { try read(Array(whole[..<index])) }
        }
        #expect(throws: BatchDamage.self) { try read(whole + [0]) }
    }

    /// Someone who can write to the target can compute every hash, but not the HMAC.
    @Test func `a batch made under another key-encryption key is refused`() throws {
        let forged = batch(1...2).bytes([UInt8](repeating: 8, count: 32), sha256)
        #expect(throws: BatchDamage.foreign) { try read(forged) }
    }

    @Test func `impossible lengths and numbers are refused before they are used`() throws {
        let whole = bytes(1...2)
        func changed(_ place: Int, _ value: [UInt8]) -> [UInt8] {
            Array(whole[..<place]) + value + Array(whole[(place + value.count)...])
        }
        let most: [UInt8] = [0x7F] + [UInt8](repeating: 0xFF, count: 7)
        for bytes in [
            changed(8, [0xFF, 0xFF, 0xFF, 0xFF]), changed(8, [0, 0, 0, 1]), changed(36, most),
            changed(44, most), changed(36, [UInt8](repeating: 0, count: 8)),
            changed(36, [UInt8](repeating: 0xFF, count: 8)), changed(44, [0, 0, 0, 0, 0, 0, 0x20, 0]),
        ] {
            #expect(throws: BatchDamage.self) { try ShippedBatch.Head(bytes[..<ShippedBatch.headBytes]) }
        }
    }

    @Test func `names of files are read as they are written, and no others are`() {
        for name in [
            ShippedName(first: 1, last: nil), ShippedName(first: 4097, last: 8192),
            ShippedName(first: 1 << 52, last: nil),
        ] { #expect(ShippedName(name.text) == name) }
        #expect(ShippedName(first: 1, last: nil).text == "events-0000000000000001.batches")
        for text in [
            "events-1.batches", "events-0000000000000001", "events-000000000000000a.batches", "keys.sqlite",
            "events-0000000000000001-2.batch", "events-0000000000000001.batch", "events-.batch", "events--.batch",
        ] { #expect(ShippedName(text) == nil, "\(text)") }
    }

    // MARK: Files

    /// The numbers of the events of whole batches in a file, and the place at which they end.
    private func look(_ bytes: [UInt8], _ folder: TemporaryFolder) throws -> ([Int64], ShippedFile.Break?) {
        try TestSupport.write(bytes, to: folder.file("events"))
        let file = try ShippedFile(folder.file("events"), Self.secret, sha256)
        var numbers: [Int64] = []
        while true {
            switch try file.next() {
            case .batch(let batch): numbers += batch.events.map(\.header.number)
            case .end: return (numbers, nil)
            case .broken(let broken): return (numbers, broken)
            }
        }
    }

    @Test func `a file that ends within a batch has the batches before, and the rest is that of one append`() throws {
        let folder = TemporaryFolder()
        let (first, second) = (bytes(1...2), bytes(3...5))
        #expect(try look(first + second, folder).0 == [1, 2, 3, 4, 5])
        for count in 1..<second.count {
            let (numbers, broken) = try look(first + second[..<count], folder)
            #expect(numbers == [1, 2] && broken?.offset == Int64(first.count))
            #expect(broken?.isTail == true && broken?.isIncomplete == true, "\(count)")
        }
        // A power cut may leave the length of a file and not its content.
        let zeros = try look(first + [UInt8](repeating: 0, count: second.count), folder)
        #expect(zeros.0 == [1, 2] && zeros.1?.isTail == true && zeros.1?.isIncomplete == false)
    }

    @Test func `a changed byte before the last batch is damage, and never the rest of an append`() throws {
        let folder = TemporaryFolder()
        let (first, second, third) = (bytes(1...2), bytes(3...5), bytes(6...6))
        for index in second.indices {
            var changed = first + second + third
            changed[first.count + index] ^= 0x40
            let (numbers, broken) = try look(changed, folder)
            #expect(numbers == [1, 2] && broken?.isTail == false && broken?.offset == Int64(first.count), "\(index)")
        }
    }

    @Test func `a batch of another kek is damage, so that it is not cut off`() throws {
        let folder = TemporaryFolder()
        let foreign = batch(3...4).bytes([UInt8](repeating: 8, count: 32), sha256)
        for before in [[], bytes(1...2)] {
            let (_, broken) = try look(before + foreign, folder)
            #expect(broken?.isTail == false && broken?.sentence == BatchDamage.foreign.sentence)
        }
    }

    @Test func `bytes that promise many batches are damage, and take no long time`() throws {
        let folder = TemporaryFolder()
        let head = bytes(1...2)[..<ShippedBatch.headBytes]
        var hostile: [UInt8] = []
        while hostile.count < 1 << 20 { hostile += head }
        let (numbers, broken) = try look(hostile, folder)
        #expect(numbers.isEmpty && broken?.isTail == false)
    }
}
