import Cryptography
import Log
package import Whereabouts

/// 100 random bits in a form that can be read aloud: five groups of four characters of Crockford's base 32, for example
/// `K7Q2-9FXM-…`. A code is shown once; the log keeps its SHA-256.
package struct InvitationCode {
    /// Crockford's base 32: digits and letters without I, L, O and U.
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
    /// 20 symbols are 100 bits.
    private static let count = 20

    private let symbols: [UInt8]

    /// - Parameter bytes: At least 20 random bytes; five bits of each are used.
    package init(_ bytes: [UInt8]) { symbols = bytes.prefix(Self.count).map { Self.alphabet[Int($0 & 31)] } }

    /// Reads a typed code: lower case counts as upper case, O as 0, I and L as 1; spaces and hyphens are ignored. `nil`
    /// for any other text.
    package init?(_ text: String) {
        guard text.utf8.count <= 64 else { return nil }
        var symbols: [UInt8] = []
        for byte in text.uppercased().utf8 where byte != UInt8(ascii: "-") && byte != UInt8(ascii: " ") {
            let symbol: UInt8 =
                switch byte {
                case UInt8(ascii: "O"): UInt8(ascii: "0")
                case UInt8(ascii: "I"), UInt8(ascii: "L"): UInt8(ascii: "1")
                default: byte
                }
            guard Self.alphabet.contains(symbol) else { return nil }
            symbols.append(symbol)
        }
        guard symbols.count == Self.count else { return nil }
        self.symbols = symbols
    }

    /// The code in five groups, as it is shown.
    package var text: String {
        stride(from: 0, to: Self.count, by: 4).map { String(decoding: symbols[$0..<$0 + 4], as: UTF8.self) }
            .joined(separator: "-")
    }

    /// The SHA-256 of the 20 symbols without hyphens.
    package var hash: Hash256 { Hash256(SHA256().hash(symbols)) }

    /// The hash of a given code. A text that cannot be a code gets the hash of a wrong one, so that it is refused in
    /// the same way, at the same cost.
    package static func hash(ofGiven text: String) -> Hash256 {
        InvitationCode(text)?.hash ?? Hash256(words: (0, 0, 0, 0))
    }
}
