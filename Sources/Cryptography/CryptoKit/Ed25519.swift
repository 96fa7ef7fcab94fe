import CryptoKit

package struct Ed25519PrivateKey: Sendable {
    private let key: CryptoKit.Curve25519.Signing.PrivateKey

    package init() { key = CryptoKit.Curve25519.Signing.PrivateKey() }

    package init(seed: [UInt8]) throws(CryptographyError) {
        guard seed.count == 32, let key = try? CryptoKit.Curve25519.Signing.PrivateKey(rawRepresentation: seed) else {
            throw .malformedKey("a seed of 32 bytes")
        }
        self.key = key
    }

    package var publicKey: [UInt8] { [UInt8](key.publicKey.rawRepresentation) }

    /// The signature of `message`, 64 bytes. CryptoKit adds randomness: two signatures of one message differ, and both
    /// are good.
    package func sign(_ message: [UInt8]) -> [UInt8] {
        guard let signature = try? key.signature(for: message) else {
            preconditionFailure("CryptoKit refused to sign.")
        }
        return [UInt8](signature)
    }
}

package func ed25519Verify(publicKey: [UInt8], signature: [UInt8], message: [UInt8]) -> Bool {
    guard publicKey.count == 32, signature.count == 64,
        let key = try? CryptoKit.Curve25519.Signing.PublicKey(rawRepresentation: publicKey)
    else { return false }
    return key.isValidSignature(signature, for: message)
}
