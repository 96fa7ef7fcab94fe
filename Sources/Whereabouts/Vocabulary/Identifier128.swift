/// 128 bits that identify a location query, an import or a request; written as a lower-case UUID (RFC 9562).
package struct Identifier128: Hashable, Sendable, CustomStringConvertible {
    /// The first and the last 64 bits, big-endian.
    package let high, low: UInt64

    package init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    /// A version 4 UUID from random bits, which the caller provides, because the pure half has none.
    package init(random high: UInt64, _ low: UInt64) {
        self.high = high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        self.low = low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    }

    /// A version 8 UUID for a request with an `Idempotency-Key`: `high` is derived from the caller, key and address,
    /// `low` for the content. The bits that a UUID prescribes are lost.
    package init(ofKeyedRequest high: UInt64, _ low: UInt64) {
        self.high = high & 0xFFFF_FFFF_FFFF_0FFF | 0x8000
        self.low = low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    }

    /// Whether ``init(ofKeyedRequest:_:)`` made it.
    package var isOfKeyedRequest: Bool { high & 0xF000 == 0x8000 }

    /// Reads the canonical form 8-4-4-4-12 in lower case; `nil` for any other text.
    package init?(_ text: some StringProtocol) {
        var words: (UInt64, UInt64) = (0, 0)
        var digits = 0
        var index = 0
        for byte in text.utf8 {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
            } else {
                let digit: UInt64
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = UInt64(byte) - 48
                case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = UInt64(byte) - 87
                default: return nil
                }
                if digits < 16 { words.0 = words.0 << 4 | digit } else { words.1 = words.1 << 4 | digit }
                digits += 1
            }
            index += 1
        }
        guard index == 36 else { return nil }
        (high, low) = words
    }

    /// 16 bytes, most significant first; `nil` for another number of bytes.
    package init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 16 else { return nil }
        high = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    /// 16 bytes, most significant first.
    package var bytes: [UInt8] {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
    }

    /// The canonical form of a UUID in lower case.
    package var description: String {
        // Every answer has one; written in one piece, it takes a fiftieth of the time.
        String(unsafeUninitializedCapacity: 36) { text in
            var place = 0
            for nibble in 0..<32 {
                if nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20 {
                    text[place] = UInt8(ascii: "-")
                    place += 1
                }
                let word = nibble < 16 ? high : low
                let digit = UInt8(truncatingIfNeeded: word >> (60 - 4 * UInt64(nibble % 16))) & 15
                text[place] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
                place += 1
            }
            return place
        }
    }
}

/// Identifies a location query, or a push test.
package typealias QueryID = Identifier128
/// Identifies a request.
package typealias RequestID = Identifier128
