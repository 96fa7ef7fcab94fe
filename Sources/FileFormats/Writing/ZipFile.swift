import GZIP

// A zip file (PKWARE's APPNOTE.TXT 6.3) written forwards, so that it can go into a pipe:
//
//     "PK\3\4" 45 flags=0x0808 method=8 time date crc=0 compressed=2³²−1 size=2³²−1 nameLength extraLength=20
//     name  extra: 1(2) 16(2) size=0(8) compressed=0(8)
//     data  "PK\7\8" crc(4) compressed(8) size(8)                                        for each member
//     "PK\1\2" …                                                                         the directory
//     "PK\6\6" … "PK\6\7" … "PK\5\6" …                                                   its end
//
// Numbers are little-endian. Flag 3 puts the sizes after the data, flag 11 marks names in UTF-8. Every member has the
// form of zip64, because its length is not known before; the directory has it where a number needs it.

/// Writes a zip file whose members are compressed, in constant memory:
///
///     var zip = ZipFile(at: .now)
///     zip.begin("fixes/2026-01.jsonl")
///     zip.add(lines)
///     zip.endMember()
///     zip.finish()
///
/// Take the output with ``takeBytes()`` after each step. Memory grows only with the number of members.
package struct ZipFile: ~Copyable {
    /// The length of a member.
    package struct Member: Sendable {
        /// The name, which may have slashes.
        package let name: String
        /// The bytes before compression.
        package fileprivate(set) var byteCount = 0
        fileprivate var compressed = 0
        fileprivate var checksum: UInt32 = 0
        fileprivate let offset: Int
    }

    /// The members that have ended, in their order.
    package private(set) var members: [Member] = []
    private let time: DosTime
    private var open: Member?
    private var deflater = Deflater()
    private var bytes: [UInt8] = []
    private var offset = 0

    private static let flags = 0x0808
    private static let version = 45
    private static let wide = 0xFFFF_FFFF

    /// Begins a file.
    ///
    /// - Parameter time: The time of all members, which zip files have without a zone: UTC.
    package init(at time: DosTime) { self.time = time }

    /// Begins a member.
    ///
    /// - Precondition: The member before has ended; the name has 1 to 65,535 bytes.
    package mutating func begin(_ name: String) {
        precondition(open == nil, "A member ends before the next one begins.")
        precondition((1...0xFFFF).contains(name.utf8.count), "A member has a name.")
        open = Member(name: name, offset: offset)
        deflater = Deflater()
        var head = Fields()
        head.add([0x50, 0x4B, 0x03, 0x04])
        head.add(Self.version, 2)
        addCommon(to: &head)
        head.add(0, 4)
        head.add(Self.wide, 4)
        head.add(Self.wide, 4)
        head.add(name.utf8.count, 2)
        head.add(20, 2)
        head.add(Array(name.utf8))
        head.add(1, 2)
        head.add(16, 2)
        head.add(0, 8)
        head.add(0, 8)
        write(head.bytes)
    }

    /// Adds bytes to the open member.
    package mutating func add(_ data: [UInt8]) {
        var output: [UInt8] = []
        deflater.add(data, into: &output)
        write(output)
    }

    /// Ends the open member.
    ///
    /// - Precondition: A member is open.
    @discardableResult
    package mutating func endMember() -> Member {
        guard var member = open.take() else { preconditionFailure("No member is open.") }
        var output: [UInt8] = []
        deflater.finish(into: &output)
        write(output)
        member.byteCount = deflater.bytesIn
        member.compressed = deflater.bytesOut
        member.checksum = deflater.checksum.value
        var sizes = Fields()
        sizes.add([0x50, 0x4B, 0x07, 0x08])
        sizes.add(Int(member.checksum), 4)
        sizes.add(member.compressed, 8)
        sizes.add(member.byteCount, 8)
        write(sizes.bytes)
        members.append(member)
        return member
    }

    /// Writes the directory and the end. Nothing can be added after it.
    ///
    /// - Precondition: No member is open.
    package mutating func finish() {
        precondition(open == nil, "The last member has not ended.")
        let begin = offset
        for member in members { write(directoryEntry(of: member)) }
        let length = offset - begin
        let isLong = members.count >= 0xFFFF || begin >= Self.wide || length >= Self.wide
        if isLong { writeLongEnd(begin, length) }
        var end = Fields()
        end.add([0x50, 0x4B, 0x05, 0x06])
        end.add(0, 4)
        end.add(min(members.count, 0xFFFF), 2)
        end.add(min(members.count, 0xFFFF), 2)
        end.add(min(length, Self.wide), 4)
        end.add(min(begin, Self.wide), 4)
        end.add(0, 2)
        write(end.bytes)
    }

    /// The bytes since the last call.
    package mutating func takeBytes() -> [UInt8] {
        defer { bytes.removeAll(keepingCapacity: true) }
        return bytes
    }

    private func addCommon(to head: inout Fields) {
        head.add(Self.flags, 2)
        head.add(8, 2)
        head.add(time.clock, 2)
        head.add(time.day, 2)
    }

    private func directoryEntry(of member: Member) -> [UInt8] {
        var extra = Fields()
        for number in [member.byteCount, member.compressed, member.offset] where number >= Self.wide {
            extra.add(number, 8)
        }
        var entry = Fields()
        entry.add([0x50, 0x4B, 0x01, 0x02])
        // 3: made on Unix, whose permissions follow below.
        entry.add(3 << 8 | Self.version, 2)
        entry.add(Self.version, 2)
        addCommon(to: &entry)
        entry.add(Int(member.checksum), 4)
        entry.add(min(member.compressed, Self.wide), 4)
        entry.add(min(member.byteCount, Self.wide), 4)
        entry.add(member.name.utf8.count, 2)
        entry.add(extra.bytes.isEmpty ? 0 : extra.bytes.count + 4, 2)
        // No comment, disk 0, no internal attributes.
        entry.add(0, 6)
        // A regular file that its owner can read and write.
        entry.add(0o100600 << 16, 4)
        entry.add(min(member.offset, Self.wide), 4)
        entry.add(Array(member.name.utf8))
        if !extra.bytes.isEmpty {
            entry.add(1, 2)
            entry.add(extra.bytes.count, 2)
            entry.add(extra.bytes)
        }
        return entry.bytes
    }

    private mutating func writeLongEnd(_ begin: Int, _ length: Int) {
        let place = offset
        var end = Fields()
        end.add([0x50, 0x4B, 0x06, 0x06])
        end.add(44, 8)
        end.add(3 << 8 | Self.version, 2)
        end.add(Self.version, 2)
        end.add(0, 8)
        end.add(members.count, 8)
        end.add(members.count, 8)
        end.add(length, 8)
        end.add(begin, 8)
        end.add([0x50, 0x4B, 0x06, 0x07])
        end.add(0, 4)
        end.add(place, 8)
        end.add(1, 4)
        write(end.bytes)
    }

    private mutating func write(_ more: [UInt8]) {
        bytes += more
        offset += more.count
    }
}

/// A date and time in the form of zip files: two seconds exact, from 1980 to 2107.
package struct DosTime: Sendable {
    let day: Int
    let clock: Int

    /// - Parameter text: ISO 8601, for example `2026-01-01T08:00:00Z`; 1980-01-01 if it cannot be represented.
    package init(iso text: String) {
        let numbers = text.split { !$0.isNumber }.prefix(6).compactMap { Int($0) }
        guard numbers.count == 6, (1980...2107).contains(numbers[0]) else {
            (day, clock) = (1 << 5 | 1, 0)
            return
        }
        day = (numbers[0] - 1980) << 9 | numbers[1] << 5 | numbers[2]
        clock = numbers[3] << 11 | numbers[4] << 5 | numbers[5] / 2
    }
}

/// Little-endian numbers, one after the other.
private struct Fields {
    private(set) var bytes: [UInt8] = []

    mutating func add(_ number: Int, _ count: Int) {
        for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * index))) }
    }

    mutating func add(_ more: [UInt8]) { bytes += more }
}
