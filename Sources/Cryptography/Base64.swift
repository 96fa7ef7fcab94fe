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
        let digits = (urlSafe ? urlSafeAlphabet : alphabet).utf8Start
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            bitCount += 8
            while bitCount >= 6 {
                bitCount -= 6
                text.append(digits[Int(bits >> bitCount & 0x3F)])
            }
        }
        if bitCount > 0 { text.append(digits[Int(bits << (6 - bitCount) & 0x3F)]) }
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
        let values = values
        for character in text {
            if character == padding {
                paddingCount += 1
                continue
            }
            let value = values[Int(character)]
            guard paddingCount == 0, value < 64 else { return nil }
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

    private static let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    private static let urlSafeAlphabet: StaticString =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    /// The value of each character; 64 for one that is not a digit. The characters of a text look random, so comparisons
    /// instead of a table would be mispredicted.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 64, count: 256)
        for alphabet in [alphabet, urlSafeAlphabet] {
            for value in 0..<64 { values[Int(alphabet.utf8Start[value])] = UInt8(value) }
        }
        return values
    }()
}
