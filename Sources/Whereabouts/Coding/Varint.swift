/// LEB128: seven bits of a number in each byte, the lowest first; the highest bit is set in all bytes but the last.
extension [UInt8] {
    /// Appends a number: one byte below 128, at most ten.
    @inlinable
    package mutating func append(varint number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }

    /// Appends a signed number in zigzag order: 0, −1, 1, −2 … are written as 0, 1, 2, 3 …
    @inlinable
    package mutating func append(zigzag number: Int64) {
        append(varint: UInt64(bitPattern: number << 1 ^ number >> 63))
    }
}
