import GZIP

/// Makes zip files in tests: local headers, a directory, and its end.
struct ZipWriter {
    private(set) var bytes: [UInt8] = []
    private var directory: [UInt8] = []
    private var count = 0

    enum Packing { case stored, deflated, deflatedWithDescriptor, encrypted }

    /// Adds a member. Each deflate stream ends by itself.
    ///
    /// - Parameter flips: Bits of the checksum to change.
    mutating func add(_ name: String, _ content: [UInt8], _ packing: Packing = .deflated, flips: UInt32 = 0) {
        var crc = CRC32()
        crc.add(content[...])
        let checksum = Int(crc.value ^ flips)
        let data = packing == .stored || packing == .encrypted ? content : bareDeflate(content)
        let hasDescriptor = packing == .deflatedWithDescriptor
        let flags = hasDescriptor ? 8 : packing == .encrypted ? 1 : 0
        let method = packing == .stored || packing == .encrypted ? 0 : 8
        let offset = bytes.count
        let fields =
            number(20, 2) + number(flags, 2) + number(method, 2) + number(0, 4)
            + number(hasDescriptor ? 0 : checksum, 4)
            + number(hasDescriptor ? 0 : data.count, 4) + number(hasDescriptor ? 0 : content.count, 4)
            + number(name.utf8.count, 2) + number(0, 2)
        bytes += [0x50, 0x4B, 3, 4] + fields + Array(name.utf8) + data
        if hasDescriptor {
            bytes += [0x50, 0x4B, 7, 8] + number(checksum, 4) + number(data.count, 4) + number(content.count, 4)
        }
        directory += [0x50, 0x4B, 1, 2] + number(20, 2) + fields + number(0, 10) + number(offset, 4) + Array(name.utf8)
        count += 1
    }

    /// The whole file.
    var file: [UInt8] {
        bytes + directory + [0x50, 0x4B, 5, 6] + number(0, 4) + number(count, 2) + number(count, 2)
            + number(directory.count, 4) + number(bytes.count, 4) + number(0, 2)
    }

    private func number(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// The output of gzip without its header of 10 bytes and its trailer of 8.
    private func bareDeflate(_ content: [UInt8]) -> [UInt8] {
        guard let packed = gzipped(content) else { return [] }
        return Array(packed.dropFirst(10).dropLast(8))
    }
}
