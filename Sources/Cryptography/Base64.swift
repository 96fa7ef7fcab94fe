/// Base 64 (RFC 4648, sections 4 and 5).
package enum Base64 {
    /// The text for `bytes`.
    ///
    /// - Parameters:
    ///   - urlSafe: write `-` and `_` in place of `+` and `/`.
    ///   - padded: fill the last group with `=`.
    package static func encode(_ bytes: some Sequence<UInt8>, urlSafe: Bool = false, padded: Bool = true) -> String {
        withContiguousBytes(bytes) { encode($0, urlSafe: urlSafe, padded: padded) }
    }

    private static func encode(_ bytes: UnsafeBufferPointer<UInt8>, urlSafe: Bool, padded: Bool) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var bits: UInt32 = 0
        var bitCount: UInt32 = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            bitCount += 8
            while bitCount >= 6 {
                bitCount -= 6
                text.append(digit(UInt8(bits >> bitCount & 0x3F), urlSafe: urlSafe))
            }
        }
        if bitCount > 0 {
            text.append(digit(UInt8(bits << (6 - bitCount) & 0x3F), urlSafe: urlSafe))
        }
        while padded && !text.count.isMultiple(of: 4) { text.append(padding) }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes that `text` stands for, in either alphabet, with or without padding.
    ///
    /// Strict otherwise: white space, wrong padding and left-over bits that are not zero (RFC 4648 3.5) give `nil`.
    package static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        withContiguousBytes(text) { decode(contiguous: $0) }
    }

    /// The bytes that `text` stands for, in either alphabet, with or without padding; `nil` for anything else.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        decode(text.utf8)
    }

    private static func decode(contiguous text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3 + 2)
        var bits: UInt32 = 0
        var digitCount = 0
        var paddingCount = 0
        for character in text {
            if character == padding {
                paddingCount += 1
                continue
            }
            guard paddingCount == 0, let value = value(character) else { return nil }
            bits = bits << 6 | UInt32(value)
            digitCount += 1
            if digitCount.isMultiple(of: 4) {
                bytes.append(UInt8(truncatingIfNeeded: bits >> 16))
                bytes.append(UInt8(truncatingIfNeeded: bits >> 8))
                bytes.append(UInt8(truncatingIfNeeded: bits))
            }
        }
        guard paddingCount == 0 || paddingCount == (4 - digitCount % 4) % 4 else { return nil }
        switch digitCount % 4 {
        case 0:
            return bytes
        case 2 where bits & 0xF == 0:
            bytes.append(UInt8(truncatingIfNeeded: bits >> 4))
            return bytes
        case 3 where bits & 0x3 == 0:
            bytes.append(UInt8(truncatingIfNeeded: bits >> 10))
            bytes.append(UInt8(truncatingIfNeeded: bits >> 2))
            return bytes
        default:
            return nil
        }
    }

    private static let padding = UInt8(ascii: "=")

    private static func digit(_ value: UInt8, urlSafe: Bool) -> UInt8 {
        switch value {
        case 0..<26: UInt8(ascii: "A") + value
        case 26..<52: UInt8(ascii: "a") + value - 26
        case 52..<62: UInt8(ascii: "0") + value - 52
        case 62: UInt8(ascii: urlSafe ? "-" : "+")
        default: UInt8(ascii: urlSafe ? "_" : "/")
        }
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
