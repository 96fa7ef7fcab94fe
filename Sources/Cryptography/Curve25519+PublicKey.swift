/// Keys over Curve25519, with the names that Apple's CryptoKit gives them.
package enum Curve25519 {
    /// X25519 (RFC 7748): two sides compute the same secret, each from its private and the other's public key.
    package enum KeyAgreement {
        /// How many bytes a private key, a public key and a shared secret have.
        package static var byteCount: Int { 32 }

        /// A public key: 32 bytes, of which every value is one (RFC 7748, section 5).
        ///
        /// Seven of them, each in two forms, are points of small order, whose shared secret is zero with every private
        /// key. They are refused where the key is used.
        package struct PublicKey: Hashable, Sendable {
            /// The 32 bytes of RFC 7748.
            package let rawRepresentation: [UInt8]

            /// - Throws: ``CryptographyError/malformedKey(_:)`` unless there are 32 bytes.
            package init(rawRepresentation: [UInt8]) throws(CryptographyError) {
                guard rawRepresentation.count == byteCount else { throw .malformedKey("a public key of 32 bytes") }
                self.init(trusted: rawRepresentation)
            }

            /// The public key that a library computed.
            init(trusted bytes: [UInt8]) { rawRepresentation = bytes }
        }
    }
}
