import CryptoKit

extension Curve25519.KeyAgreement {
    package struct PrivateKey: Sendable {
        let key: CryptoKit.Curve25519.KeyAgreement.PrivateKey
        package let publicKey: PublicKey

        package init() { self.init(trusted: CryptoKit.Curve25519.KeyAgreement.PrivateKey()) }

        package init(rawRepresentation: [UInt8]) throws(CryptographyError) {
            guard rawRepresentation.count == byteCount,
                let key = try? CryptoKit.Curve25519.KeyAgreement.PrivateKey(rawRepresentation: rawRepresentation)
            else { throw .malformedKey("a private key of 32 bytes") }
            self.init(trusted: key)
        }

        private init(trusted key: CryptoKit.Curve25519.KeyAgreement.PrivateKey) {
            (self.key, publicKey) = (key, PublicKey(trusted: [UInt8](key.publicKey.rawRepresentation)))
        }

        package var rawRepresentation: [UInt8] { [UInt8](key.rawRepresentation) }

        package func sharedSecretFromKeyAgreement(
            with other: PublicKey
        ) throws(CryptographyError) -> [UInt8] {
            let peer = try other.key()
            guard let agreed = try? key.sharedSecretFromKeyAgreement(with: peer) else {
                throw .malformedKey("a public key that is not of small order")
            }
            let secret = agreed.withUnsafeBytes { [UInt8]($0) }
            guard secret.contains(where: { $0 != 0 }) else {
                throw .malformedKey("a public key that is not of small order")
            }
            return secret
        }
    }
}

extension Curve25519.KeyAgreement.PublicKey {
    /// CryptoKit's key of these bytes.
    ///
    /// - Throws: ``CryptographyError/malformedKey(_:)`` if CryptoKit refuses them.
    fileprivate func key() throws(CryptographyError) -> CryptoKit.Curve25519.KeyAgreement.PublicKey {
        guard let key = try? CryptoKit.Curve25519.KeyAgreement.PublicKey(rawRepresentation: rawRepresentation) else {
            throw .malformedKey("a public key that is not of small order")
        }
        return key
    }
}
