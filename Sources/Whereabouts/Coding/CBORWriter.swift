/// Writes CBOR in the core deterministic encoding of RFC 8949, section 4.2.1: shortest heads, shortest floats that keep
/// the value, definite lengths. The caller writes map keys in ascending order (integers, here always below 24).
///
/// Nothing here is generic: a loop over a generic collection of bytes is ten times slower across a module border. Cost:
/// a few nanoseconds per item. The bytes are in one array, which ``reset()`` makes reusable.
package struct CBORWriter: Sendable {
    /// The bytes written so far.
    package private(set) var bytes: [UInt8] = []

    /// An empty writer.
    package init() {}

    /// A writer with capacity for this many bytes.
    package init(capacity: Int) { bytes.reserveCapacity(capacity) }

    /// Removes all bytes and keeps the capacity.
    package mutating func reset() { bytes.removeAll(keepingCapacity: true) }

    /// An integer of major type 0 or 1.
    package mutating func integer(_ value: Int64) {
        value >= 0 ? head(0, UInt64(value)) : head(1, UInt64(bitPattern: ~value))
    }

    /// An integer of major type 0, up to 2⁶⁴ − 1.
    package mutating func unsigned(_ value: UInt64) { head(0, value) }

    /// The integer −1 − `value`, down to −2⁶⁴.
    package mutating func negative(_ value: UInt64) { head(1, value) }

    /// A byte string.
    package mutating func byteString(_ value: [UInt8]) {
        head(2, UInt64(value.count))
        bytes.append(contentsOf: value)
    }

    /// A byte string, copied from the buffer.
    package mutating func byteString(_ value: UnsafeRawBufferPointer) {
        head(2, UInt64(value.count))
        raw(value)
    }

    /// The head of a byte string of `count` bytes; `raw(_:)` with that many bytes must follow.
    package mutating func byteStringHead(_ count: Int) { head(2, UInt64(count)) }

    /// A text string.
    package mutating func text(_ value: String) {
        var value = value
        value.withUTF8 { utf8 in
            head(3, UInt64(utf8.count))
            bytes.append(contentsOf: utf8)
        }
    }

    /// The head of an array; `count` items must follow.
    package mutating func array(_ count: Int) { head(4, UInt64(count)) }

    /// The head of a map; `count` pairs must follow, keys ascending.
    package mutating func map(_ count: Int) { head(5, UInt64(count)) }

    /// A tag; the tagged item must follow.
    package mutating func tag(_ value: UInt64) { head(6, value) }

    /// A Boolean.
    package mutating func bool(_ value: Bool) { bytes.append(value ? 0xF5 : 0xF4) }

    /// Null.
    package mutating func null() { bytes.append(0xF6) }

    /// A simple value (RFC 8949, section 3.3) other than false, true, null and undefined.
    package mutating func simple(_ value: UInt8) {
        if value >= 24 { bytes.append(0xF8) }
        bytes.append(value >= 24 ? value : 0xE0 | value)
    }

    /// A float in the shortest of 16, 32 and 64 bits that keeps the value; every NaN becomes the one of 0xF97E00.
    package mutating func float(_ value: Double) {
        if value.isNaN {
            bytes.append(contentsOf: [0xF9, 0x7E, 0x00])
            return
        }
        let single = Float(value)
        guard Double(single) == value else {
            bytes.append(0xFB)
            return append(value.bitPattern)
        }
        if let half = Self.halfBits(single) {
            bytes.append(0xF9)
            append(half)
        } else {
            bytes.append(0xFA)
            append(single.bitPattern)
        }
    }

    /// Bytes that are CBOR already, or the content of a byte string whose head was written.
    package mutating func raw(_ value: [UInt8]) { bytes.append(contentsOf: value) }

    /// Bytes that are CBOR already, or the content of a byte string whose head was written.
    package mutating func raw(_ value: UnsafeRawBufferPointer) {
        // An array appends raw bytes one by one.
        bytes.append(contentsOf: value.assumingMemoryBound(to: UInt8.self))
    }

    private mutating func head(_ major: UInt8, _ value: UInt64) {
        let type = major << 5
        switch value {
        case 0..<24: bytes.append(type | UInt8(truncatingIfNeeded: value))
        case 24...0xFF:
            bytes.append(type | 24)
            bytes.append(UInt8(truncatingIfNeeded: value))
        case 0x100...0xFFFF:
            bytes.append(type | 25)
            append(UInt16(truncatingIfNeeded: value))
        case 0x1_0000...0xFFFF_FFFF:
            bytes.append(type | 26)
            append(UInt32(truncatingIfNeeded: value))
        default:
            bytes.append(type | 27)
            append(value)
        }
    }

    private mutating func append(_ value: UInt16) {
        bytes.append(UInt8(truncatingIfNeeded: value >> 8))
        bytes.append(UInt8(truncatingIfNeeded: value))
    }

    private mutating func append(_ value: UInt32) {
        append(UInt16(truncatingIfNeeded: value >> 16))
        append(UInt16(truncatingIfNeeded: value))
    }

    private mutating func append(_ value: UInt64) {
        append(UInt32(truncatingIfNeeded: value >> 32))
        append(UInt32(truncatingIfNeeded: value))
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
