package import Cryptography
package import Whereabouts

/// The name of a recipient's public key: the first 16 bytes of its SHA-256.
package typealias RecipientKeyID = KeyID

extension KeyID {
    /// The name of a recipient's key.
    package init(of key: Curve25519.KeyAgreement.PublicKey) { self.init(ofPublicKey: key.rawRepresentation) }

    /// The name of any public key.
    package init(ofPublicKey key: [UInt8]) { self.init(firstHalf(ofHash: key)) }
}

/// The first 16 bytes of the SHA-256 of some bytes.
func firstHalf(ofHash bytes: [UInt8]) -> Identifier128 {
    let words = SHA256().hash(bytes).words
    return Identifier128(high: words.0, low: words.1)
}
