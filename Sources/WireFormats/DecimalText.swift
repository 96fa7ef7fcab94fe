/// Numbers as text: the decimals of XML Schema and of JSON, and no other form that `strtod` accepts.
package enum DecimalText {
    /// The longest text that is read; a `Double` needs 17 digits.
    static let bytesMax = 64

    /// The number, with optional white space around it; `nil` if the text is not a number, not finite or too long.
    package static func parse(_ text: some Collection<UInt8>) -> Double? {
        // Without copies for arrays, slices of them and texts: files have ten numbers a fix.
        text.withContiguousStorageIfAvailable { parse(contiguous: $0[...]) }
            ?? Array(text).withUnsafeBufferPointer { parse(contiguous: $0[...]) }
    }

    private static func parse(contiguous text: Slice<UnsafeBufferPointer<UInt8>>) -> Double? {
        var digits = text.drop(while: isWhiteSpace)
        guard digits.count <= bytesMax else { return nil }
        while let last = digits.last, isWhiteSpace(last) { digits = digits.dropLast() }
        guard digits.allSatisfy(isNumeric),
            let number = Double(String(decoding: UnsafeBufferPointer(rebasing: digits), as: UTF8.self))
        else { return nil }
        return number.isFinite ? number : nil
    }

    /// Whether a byte is white space in XML and JSON.
    package static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }

    /// `strtod` would also accept `nan`, `inf` and hexadecimal numbers.
    private static func isNumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "+"),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }
}
