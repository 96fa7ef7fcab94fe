/// Writes items into room that is there already: see ``CBORWriter/items(atMost:_:)`` and ``CBORRoom``, which lend it.
package struct CBORCursor {
    /// A number is stored with eight bytes, of which the next item writes over those beyond its width.
    static let writtenOver = 7

    /// The address of the next byte.
    private var next: UnsafeMutableRawPointer

    /// Lets at most `most` bytes be written from `start` on, and returns how many were.
    ///
    /// More than that stop the process, because they were written over other bytes.
    @inline(__always)
    static func written(
        at start: UnsafeMutableRawPointer, atMost most: Int, _ write: (inout CBORCursor) -> Void
    ) -> Int {
        var cursor = CBORCursor(next: start)
        write(&cursor)
        let count = cursor.next - start
        precondition(count <= most, "Items have more bytes than room was made for.")
        return count
    }

    /// The head of an array; `count` items must follow.
    package mutating func array(_ count: Int) { head(4, UInt64(count)) }

    /// An integer of major type 0 or 1, at most nine bytes.
    package mutating func integer(_ value: Int64) {
        value >= 0 ? head(0, UInt64(value)) : head(1, UInt64(bitPattern: ~value))
    }

    /// A byte string of 16 bytes: 17 bytes.
    package mutating func byteString(_ value: Identifier128) {
        head(2, 16)
        next.storeBytes(of: value.high.bigEndian, as: UInt64.self)
        (next + 8).storeBytes(of: value.low.bigEndian, as: UInt64.self)
        next += 16
    }

    /// The head of a byte string; `raw(_:)` with `count` bytes must follow.
    package mutating func byteStringHead(_ count: Int) { head(2, UInt64(count)) }

    /// A byte string, copied from the buffer.
    package mutating func byteString(_ value: UnsafeRawBufferPointer) {
        byteStringHead(value.count)
        raw(value)
    }

    /// Bytes that are CBOR already.
    package mutating func raw(_ value: UnsafeRawBufferPointer) {
        UnsafeMutableRawBufferPointer(start: next, count: value.count).copyMemory(from: value)
        next += value.count
    }

    /// A Boolean: one byte.
    package mutating func bool(_ value: Bool) {
        next.storeBytes(of: value ? 0xF5 : 0xF4, as: UInt8.self)
        next += 1
    }

    /// A float in the shortest of 16, 32 and 64 bits that keeps the value; every NaN becomes the one of 0xF97E00.
    mutating func float(_ value: Double) {
        if value.isNaN { return put(0xF9, 0x7E00, width: 2) }
        let single = Float(value)
        guard Double(single) == value else { return put(0xFB, value.bitPattern, width: 8) }
        if let half = Self.halfBits(single) {
            put(0xF9, UInt64(half), width: 2)
        } else {
            put(0xFA, UInt64(single.bitPattern), width: 4)
        }
    }

    @inline(__always)
    mutating func head(_ major: UInt8, _ value: UInt64) {
        let type = major << 5
        if value < 24 {
            next.storeBytes(of: type | UInt8(truncatingIfNeeded: value), as: UInt8.self)
            next += 1
            return
        }
        let exponent = value <= 0xFF ? 0 : value <= 0xFFFF ? 1 : value <= 0xFFFF_FFFF ? 2 : 3
        put(type | UInt8(24 + exponent), value, width: 1 << exponent)
    }

    /// Writes a byte and the lowest `width` bytes of a number, highest first.
    @inline(__always)
    mutating func put(_ first: UInt8, _ value: UInt64, width: Int) {
        next.storeBytes(of: first, as: UInt8.self)
        (next + 1).storeBytes(of: (value << UInt64(64 - 8 * width)).bigEndian, as: UInt64.self)
        next += 1 + width
    }

    /// The 16-bit form of `value` if it is exact. Computed here, because `Float16` is not available on x86-64 Linux.
    static func halfBits(_ value: Float) -> UInt16? {
        let bits = value.bitPattern
        let sign = UInt16(bits >> 16) & 0x8000
        let exponent = Int((bits >> 23) & 0xFF) - 127
        let fraction = bits & 0x7F_FFFF
        if bits & 0x7FFF_FFFF == 0 { return sign }
        if exponent == 128 { return fraction == 0 ? sign | 0x7C00 : nil }
        if (-14...15).contains(exponent) {
            guard fraction & 0x1FFF == 0 else { return nil }
            return sign | UInt16(exponent + 15) << 10 | UInt16(fraction >> 13)
        }
        guard (-24 ... -15).contains(exponent) else { return nil }
        // Subnormal half: value = m × 2⁻²⁴ with 1 ≤ m < 1024.
        let shift = UInt32(-exponent - 1)
        let full = fraction | 0x80_0000
        guard full & ((1 << shift) - 1) == 0 else { return nil }
        return sign | UInt16(full >> shift)
    }
}

/// Room for a few items, made once and used for one event after another. One thread at a time.
package struct CBORRoom: ~Copyable {
    private let bytes: UnsafeMutableRawBufferPointer
    private let size: Int
    private var count = 0

    /// Room for items of at most `size` bytes together, and one byte that follows them.
    package init(for size: Int) {
        self.size = size
        bytes = .allocate(byteCount: size + 1 + CBORCursor.writtenOver, alignment: 1)
    }

    deinit { bytes.deallocate() }

    /// Replaces the items.
    ///
    /// - Precondition: `write` writes no more bytes than there is room for.
    package mutating func replace(_ write: (inout CBORCursor) -> Void) {
        guard let start = bytes.baseAddress else { preconditionFailure("There is room, so there is an address.") }
        count = CBORCursor.written(at: start, atMost: size, write)
    }

    /// The items. Valid until they are replaced.
    package var items: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[..<count]) }

    /// The items and a byte. Valid until the next call.
    package func items(and byte: UInt8) -> UnsafeRawBufferPointer {
        bytes[count] = byte
        return UnsafeRawBufferPointer(rebasing: bytes[...count])
    }
}
