package import Cryptography
package import Whereabouts

/// The name of a recipient's public key: the first 16 bytes of its SHA-256.
package struct RecipientKeyID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The 16 bytes as a number.
    package let value: Identifier128

    package init(_ value: Identifier128) { self.value = value }

    /// The name of `key`.
    package init(of key: Curve25519.KeyAgreement.PublicKey) {
        let words = SHA256().hash(key.rawRepresentation).words
        value = Identifier128(high: words.0, low: words.1)
    }

    /// 32 lower-case hexadecimal digits.
    package var description: String { Hex.encode(value.bytes) }

    package static func < (a: RecipientKeyID, b: RecipientKeyID) -> Bool {
        (a.value.high, a.value.low) < (b.value.high, b.value.low)
    }
}
