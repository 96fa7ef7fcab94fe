import Cryptography

/// The rules that the line formats of this module share.
enum NoteText {
    /// The bytes of standard base 64 (RFC 4648, section 4) with padding; `nil` for each other spelling, so that decoding
    /// and encoding gives the same text.
    static func base64(_ text: some StringProtocol) -> [UInt8]? {
        guard let bytes = Base64.decode(text), Base64.encode(bytes).utf8.elementsEqual(text.utf8) else { return nil }
        return bytes
    }

    /// The bytes of standard base 64 with padding, whatever the bits behind the last byte are. Signatures are read so:
    /// other implementations accept such a line, and a wrong signature should be called wrong.
    static func looseBase64(_ text: some StringProtocol) -> [UInt8]? {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var digits = Array(text.utf8)
        let padding = digits.suffix(2).count { $0 == UInt8(ascii: "=") }
        let last = digits.count - 1 - padding
        guard padding > 0, last >= 0, let value = alphabet.firstIndex(of: digits[last]) else { return base64(text) }
        digits[last] = alphabet[value & (padding == 1 ? ~0b11 : ~0b1111)]
        return base64(String(decoding: digits, as: UTF8.self))
    }

    /// A hash in base 64.
    static func digest(_ text: some StringProtocol) -> Digest? { base64(text).flatMap { Digest(bytes: $0) } }

    /// A hash as base 64.
    static func text(_ digest: Digest) -> String { digest.withBytes { Base64.encode($0) } }

    /// A whole number from 0 to 2⁶³ − 1 in ASCII digits, without leading zeros.
    static func number(_ text: some StringProtocol) -> Int64? {
        let digits = text.utf8
        guard let first = digits.first, digits.count <= 19, first != UInt8(ascii: "0") || digits.count == 1,
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int64(text)
    }

    /// The text of bytes, which are UTF-8 without control characters other than line feeds.
    static func string(_ bytes: some Collection<UInt8>, _ what: String) throws(TransparencyError) -> String {
        guard !bytes.contains(where: { $0 < 0x20 && $0 != lineFeed || $0 == 0x7F }),
            let text = String(validating: bytes, as: UTF8.self)
        else { throw .malformed("\(what) is UTF-8 without control characters other than line feeds") }
        return text
    }

    /// The lines of a text that ends with a line feed, without their line feeds; `nil` for another text.
    static func lines(_ text: some StringProtocol) -> [Substring]? {
        let text = Substring(text)
        guard text.utf8.last == lineFeed else { return nil }
        // The view of UTF-8 is split: a character may consist of a line feed and what follows it.
        return text.utf8.dropLast().split(separator: lineFeed, omittingEmptySubsequences: false).map { Substring($0) }
    }

    /// The fields of a line, with one space between them.
    static func fields(_ line: some StringProtocol) -> [Substring] {
        Substring(line).utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false).map { Substring($0) }
    }

    /// Whether a byte may be in a word that is no text: letters, digits, `-` and `_`.
    static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    static let lineFeed = UInt8(ascii: "\n")
}
