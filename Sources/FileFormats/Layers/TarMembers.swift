// A tar file (POSIX.1-2008, pax; GNU tar), blocks of 512 bytes:
//
//     name(100) mode(8) owner(8) group(8) size(12) time(12) checksum(8) type(1) link(100) "ustar" … prefix(155)
//     data, filled up with zeros to whole blocks                                       for each member
//     two blocks of zeros
//
// Numbers are octal, or big-endian with the first bit set. Types 0 and NUL are files; others have no content for us.

/// The members of a tar file, one after the other.
final class TarMembers: ArchiveMembers {
    private static let blockBytes = 512
    private let source: LookAhead
    private var current: ArchiveMember?
    private var count = 0
    private var isAtEnd = false

    init(_ source: LookAhead) { self.source = source }

    /// Whether a file begins with a member.
    static func isOne(_ prefix: [UInt8]) -> Bool {
        prefix.count >= blockBytes && prefix[257..<262].elementsEqual("ustar".utf8)
    }

    func nextMember() throws(FormatFault) -> ArchiveMember? {
        if let current {
            while try current.next() != nil {}
            self.current = nil
        }
        guard !isAtEnd else { return nil }
        guard let head = try source.take(Self.blockBytes) else {
            throw end("The tar file ends too early; what came before was read.")
        }
        if head.allSatisfy({ $0 == 0 }) {
            isAtEnd = true
            return nil
        }
        count += 1
        guard count <= ZipMembers.membersMax else {
            isAtEnd = true
            throw .tooManyMembers
        }
        guard Self.isOne(head), let size = Self.size(head[124..<136]) else {
            throw end("The tar file is damaged; what came before was read.")
        }
        let isFile = head[156] == UInt8(ascii: "0") || head[156] == 0
        // A folder ends with a slash. So do, for us, links and the headers of long names.
        let name = String(decoding: head[0..<100].prefix { $0 != 0 }, as: UTF8.self) + (isFile ? "" : "/")
        let member = member(name, size)
        current = member
        return member
    }

    private func member(_ name: String, _ size: Int) -> ArchiveMember {
        var left = size
        return ArchiveMember(name: name, refusal: nil) { [unowned self] member throws(FormatFault) in
            guard left > 0 else {
                member.isAtEnd = true
                let filling = (Self.blockBytes - size % Self.blockBytes) % Self.blockBytes
                guard try self.source.take(filling) != nil else {
                    throw self.end("The tar file ends too early; what came before was read.")
                }
                return nil
            }
            let piece = Array(try self.source.peek(min(left, FileSource.pieceBytes)))
            guard !piece.isEmpty else {
                member.isAtEnd = true
                throw self.end("The tar file ends too early; what came before was read.")
            }
            self.source.drop(piece.count)
            left -= piece.count
            return piece[...]
        }
    }

    private func end(_ sentence: String) -> FormatFault {
        isAtEnd = true
        return .badArchive(sentence)
    }

    private static func size(_ field: ArraySlice<UInt8>) -> Int? {
        guard let first = field.first else { return nil }
        if first & 0x80 != 0 {
            guard field.dropLast(7).dropFirst().allSatisfy({ $0 == 0 }), first == 0x80 else { return nil }
            return field.suffix(7).reduce(0) { $0 << 8 | Int($1) }
        }
        let digits = field.drop { $0 == 0x20 }.prefix { (0x30...0x37).contains($0) }
        return digits.isEmpty ? nil : digits.reduce(0) { $0 << 3 | Int($1 - 0x30) }
    }
}
