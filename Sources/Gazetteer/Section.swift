/// Fixed-width entries one after another in a mapped file, every read within them.
///
/// Sendable because the bytes never change; valid as long as the file it came from.
struct Section: @unchecked Sendable {
    let start: UnsafeRawPointer
    let count: Int
    let stride: Int

    func int32(_ index: Int, at offset: Int) -> Int32 { Int32(bitPattern: uint32(index, at: offset)) }
    func uint32(_ index: Int, at offset: Int) -> UInt32 { UInt32(littleEndian: load(index, offset)) }
    func uint16(_ index: Int, at offset: Int) -> UInt16 { UInt16(littleEndian: load(index, offset)) }
    /// Three bytes, read as four: `offset` leaves one before them in the entry.
    func uint24(_ index: Int, at offset: Int) -> UInt32 { uint32(index, at: offset - 1) >> 8 }
    func int24(_ index: Int, at offset: Int) -> Int32 { int32(index, at: offset - 1) >> 8 }
    func uint64(_ index: Int, at offset: Int) -> UInt64 { UInt64(littleEndian: load(index, offset)) }

    /// Two bytes at an offset from the beginning, in a section of single bytes.
    func uint16(bytesAt offset: Int) -> Int {
        precondition(offset >= 0 && offset + 2 <= count * stride, "A read stays within its section.")
        return Int(UInt16(littleEndian: start.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
    }

    private func load<Integer: FixedWidthInteger & BitwiseCopyable>(_ index: Int, _ offset: Int) -> Integer {
        precondition(
            index >= 0 && index < count && offset + MemoryLayout<Integer>.size <= stride,
            "A read stays within its section.")
        return start.loadUnaligned(fromByteOffset: index * stride + offset, as: Integer.self)
    }
}

/// The first index in a range that satisfies a predicate, found by bisection; `end` if none does.
///
/// - Parameter isSo: True for every index after the first one it is true for.
func firstIndex(from start: Int, to end: Int, where isSo: (Int) -> Bool) -> Int {
    var (low, high) = (start, end)
    while low < high {
        let middle = (low + high) / 2
        if isSo(middle) { high = middle } else { low = middle + 1 }
    }
    return low
}

/// Strings in a mapped file, each a length u16 and that many bytes of UTF-8, named by the offset of its length.
struct StringSection: Sendable {
    private let bytes: Section

    /// `bytes` has a stride of 1.
    init(_ bytes: Section) { self.bytes = bytes }

    /// The string at an offset; nil if it is empty, or not wholly within the section.
    subscript(offset: UInt32) -> String? {
        let utf8 = utf8(at: offset)
        return utf8.isEmpty ? nil : String(decoding: utf8, as: UTF8.self)
    }

    /// The bytes of the string at an offset, for comparisons that need no text; none if it is empty, or not wholly within
    /// the section. Valid as long as the file.
    func utf8(at offset: UInt32) -> UnsafeRawBufferPointer {
        let begin = Int(offset) + 2
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        guard begin <= bytes.count else { return none }
        let all = UnsafeRawBufferPointer(start: bytes.start, count: bytes.count)
        let length = Int(UInt16(littleEndian: all.loadUnaligned(fromByteOffset: Int(offset), as: UInt16.self)))
        guard length > 0, length <= bytes.count - begin else { return none }
        return UnsafeRawBufferPointer(rebasing: all[begin..<begin + length])
    }
}
