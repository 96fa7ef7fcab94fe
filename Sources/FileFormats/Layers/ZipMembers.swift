import GZIP

// A zip file (PKWARE's APPNOTE.TXT 6.3), read forwards by its local headers:
//
//     "PK\3\4" version(2) flags(2) method(2) time(2) date(2) crc(4) compressed(4) size(4) nameLength(2) extraLength(2)
//     name extra data ["PK\7\8" crc(4) compressed(4) size(4)]                          for each member
//     "PK\1\2" …                                                                       the directory, which is not read
//
// Numbers are little-endian. With bit 3 of the flags, the sizes are 0 and follow the data. In zip64, sizes of 2³²−1 are
// in the extra field 1, with 8 bytes each. Bit 0 marks an encrypted member. Method 0 is stored, 8 deflate.

/// The members of a zip file, one after the other.
///
/// The directory at the end is not used. So a zip can be read from a stream, a zip in a zip needs no temporary file, and
/// members that overlap, which the densest bombs need, do not exist.
final class ZipMembers: ArchiveMembers {
    /// The members that are read at most.
    static let membersMax = 100_000

    private let source: LookAhead
    private var bound = ExpansionBound()
    private var current: ArchiveMember?
    private var count = 0
    private var isAtEnd = false

    init(_ source: LookAhead) { self.source = source }

    func nextMember() throws(FormatFault) -> ArchiveMember? {
        if let current {
            self.current = nil
            // The checksum of a skipped member does not matter.
            do throws(FormatFault) { while try current.next() != nil {} } catch {
                guard error == .wrongChecksum else { throw error }
            }
        }
        guard !isAtEnd else { return nil }
        let mark = try source.peek(4)
        guard mark.elementsEqual([0x50, 0x4B, 0x03, 0x04]) else {
            isAtEnd = true
            // The directory, its end, or an empty archive.
            let known: [[UInt8]] = [[1, 2], [5, 6], [6, 6], [6, 8]]
            guard mark.count == 4, mark.starts(with: "PK".utf8), known.contains(Array(mark.suffix(2))) else {
                throw .badArchive(
                    mark.isEmpty
                        ? "The zip file ends too early; what came before was read."
                        : "The zip file is damaged; what came before was read.")
            }
            return nil
        }
        count += 1
        guard count <= Self.membersMax else {
            isAtEnd = true
            throw .tooManyMembers
        }
        let member = try header()
        current = member
        return member
    }

    private func header() throws(FormatFault) -> ArchiveMember {
        guard let fixed = try source.take(30), let name = try source.take(Self.number(fixed, 26, 2)),
            let extra = try source.take(Self.number(fixed, 28, 2))
        else { throw end("The zip file ends too early; what came before was read.") }
        let flags = Self.number(fixed, 6, 2)
        let method = Self.number(fixed, 8, 2)
        let hasDescriptor = flags & 8 != 0
        var (compressed, isLong) = (Self.number(fixed, 18, 4), false)
        if let sizes = Self.zip64(extra) {
            isLong = true
            if compressed == 0xFFFF_FFFF {
                // The uncompressed size comes first, if it is there.
                let place = Self.number(fixed, 22, 4) == 0xFFFF_FFFF ? 8 : 0
                guard sizes.count >= place + 8, sizes[place + 7] < 0x80 else { throw end("The zip file is damaged.") }
                compressed = Self.number(sizes, place, 8)
            }
        }
        let text = String(decoding: name, as: UTF8.self)
        let checksum = hasDescriptor ? nil : UInt32(truncatingIfNeeded: Self.number(fixed, 14, 4))
        if flags & 1 != 0 {
            guard !hasDescriptor || compressed > 0 else { throw end("The zip file is encrypted; decrypt it first.") }
            return stored(text, compressed, hasDescriptor, isLong, checksum, refusal: "it is encrypted")
        }
        switch method {
        case 0:
            guard !hasDescriptor || compressed > 0 || Self.isFolder(name) else {
                throw end("The zip file has a stored member of unknown length; unpack it and import the parts.")
            }
            return stored(text, compressed, hasDescriptor && compressed > 0, isLong, checksum, refusal: nil)
        case 8: return deflated(text, hasDescriptor, isLong, checksum)
        default:
            guard !hasDescriptor || compressed > 0 else {
                throw end("The zip file is packed by an unknown method; unpack it and import the parts.")
            }
            return stored(
                text, compressed, hasDescriptor, isLong, checksum, refusal: "it is packed by an unknown method")
        }
    }

    private static func isFolder(_ name: [UInt8]) -> Bool { name.last == UInt8(ascii: "/") }

    private func stored(
        _ name: String, _ count: Int, _ hasDescriptor: Bool, _ isLong: Bool, _ checksum: UInt32?, refusal: String?
    ) -> ArchiveMember {
        var left = count
        var found = CRC32()
        return ArchiveMember(name: name, refusal: refusal) { [unowned self] member throws(FormatFault) in
            guard left > 0 else {
                let isWhole = try self.finish(member, hasDescriptor, isLong, checksum, found)
                // The checksum of what cannot be read is not that of these bytes.
                guard isWhole || refusal != nil else { throw .wrongChecksum }
                return nil
            }
            let piece = Array(try self.source.peek(min(left, FileSource.pieceBytes)))
            guard !piece.isEmpty else {
                member.isAtEnd = true
                throw self.end("The zip file ends too early; what came before was read.")
            }
            self.source.drop(piece.count)
            left -= piece.count
            found.add(piece[...])
            try self.bound.add(compressed: piece.count, expanded: piece.count)
            return piece[...]
        }
    }

    private func deflated(
        _ name: String, _ hasDescriptor: Bool, _ isLong: Bool, _ checksum: UInt32?
    ) -> ArchiveMember {
        let stream = BareStream()
        var found = CRC32()
        return ArchiveMember(name: name, refusal: nil) { [unowned self] member throws(FormatFault) in
            while !stream.inflater.isAtEnd {
                let input = try self.source.peek(FileSource.pieceBytes)
                let (output, used): ([UInt8], Int)
                do throws(Inflater.Fault) {
                    (output, used) = try stream.inflater.expand(input, capacity: FileSource.pieceBytes)
                } catch {
                    member.isAtEnd = true
                    throw self.end("The zip file is damaged; what came before was read.")
                }
                self.source.drop(used)
                do throws(FormatFault) { try self.bound.add(compressed: used, expanded: output.count) } catch {
                    (self.isAtEnd, member.isAtEnd) = (true, true)
                    throw error
                }
                found.add(output[...])
                if !output.isEmpty { return output[...] }
                if used == 0 && input.isEmpty {
                    member.isAtEnd = true
                    throw self.end("The zip file ends too early; what came before was read.")
                }
            }
            guard try self.finish(member, hasDescriptor, isLong, checksum, found) else { throw .wrongChecksum }
            return nil
        }
    }

    /// Passes the sizes after the data, which may have a signature, and 4 or 8 bytes each.
    ///
    /// - Parameters:
    ///   - checksum: The checksum of the local header; `nil` if it is after the data.
    ///   - found: The checksum of the data.
    /// - Returns: Whether the checksum is right.
    private func finish(
        _ member: ArchiveMember, _ hasDescriptor: Bool, _ isLong: Bool, _ checksum: UInt32?, _ found: CRC32
    ) throws(FormatFault) -> Bool {
        member.isAtEnd = true
        guard hasDescriptor else { return checksum.map { $0 == found.value } ?? true }
        let next = try source.peek(28)
        let signature = next.starts(with: [0x50, 0x4B, 0x07, 0x08]) ? 4 : 0
        for sizes in isLong ? [8, 4] : [4, 8] {
            let length = signature + 4 + 2 * sizes
            let after = next.dropFirst(length)
            // Another member or the directory follows.
            if after.starts(with: "PK".utf8) || next.count == length {
                let stored = Self.number(Array(next.dropFirst(signature).prefix(4)), 0, 4)
                source.drop(length)
                return stored == Int(found.value)
            }
        }
        throw end("The zip file is damaged; what came before was read.")
    }

    private func end(_ sentence: String) -> FormatFault {
        isAtEnd = true
        return .badArchive(sentence)
    }

    private static func zip64(_ extra: [UInt8]) -> [UInt8]? {
        var place = 0
        while place + 4 <= extra.count {
            let (kind, length) = (number(extra, place, 2), number(extra, place + 2, 2))
            guard place + 4 + length <= extra.count else { return nil }
            if kind == 1 { return Array(extra[(place + 4)..<(place + 4 + length)]) }
            place += 4 + length
        }
        return nil
    }

    private static func number(_ bytes: [UInt8], _ place: Int, _ count: Int) -> Int {
        (0..<count).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) }
    }
}

/// An inflater that a closure can hold.
private final class BareStream {
    var inflater = Inflater(.bare)
}
