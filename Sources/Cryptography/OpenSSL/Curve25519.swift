import COpenSSL

extension Curve25519.KeyAgreement {
    /// A private key. Its memory is wiped with the last reference.
    package struct PrivateKey: Sendable {
        private let key: KeyPair
        /// The public key that belongs to it.
        package let publicKey: PublicKey

        /// A new random key.
        package init() {
            self.init(trusted: randomBytes(byteCount))
        }

        /// The key with these 32 bytes. RFC 7748 sets and clears five bits of them when the key is used, so every
        /// value is a key.
        ///
        /// - Throws: ``CryptographyError/malformedKey(_:)`` unless there are 32 bytes.
        package init(rawRepresentation: [UInt8]) throws(CryptographyError) {
            guard rawRepresentation.count == byteCount else { throw .malformedKey("a private key of 32 bytes") }
            self.init(trusted: rawRepresentation)
        }

        private init(trusted bytes: [UInt8]) {
            guard let pointer = EVP_PKEY_new_raw_private_key_ex(nil, "X25519", nil, bytes, bytes.count) else {
                preconditionFailure("libcrypto refused a private key of 32 bytes.")
            }
            key = KeyPair(pointer)
            publicKey = PublicKey(of: key)
        }

        /// The 32 bytes of the key, as given or drawn. They are as secret as the key.
        package var rawRepresentation: [UInt8] {
            [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, initialized in
                initialized = byteCount
                require(EVP_PKEY_get_raw_private_key(key.pointer, buffer.baseAddress, &initialized))
            }
        }

        /// The secret that this key shares with the owner of `other`, 32 bytes. About 45 µs.
        ///
        /// - Throws: ``CryptographyError/malformedKey(_:)`` if `other` is of small order: the secret would always
        ///   be zero (RFC 7748, section 6.1).
        package func sharedSecretFromKeyAgreement(
            with other: PublicKey
        ) throws(CryptographyError) -> [UInt8] {
            guard
                let pointer = EVP_PKEY_new_raw_public_key_ex(
                    nil, "X25519", nil, other.rawRepresentation, other.rawRepresentation.count),
                let context = EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil)
            else { preconditionFailure("Out of memory.") }
            let peer = KeyPair(pointer)
            defer { EVP_PKEY_CTX_free(context) }
            require(EVP_PKEY_derive_init(context))
            var isGood = withExtendedLifetime(peer) { EVP_PKEY_derive_set_peer(context, peer.pointer) == 1 }
            let secret = [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, initialized in
                initialized = byteCount
                isGood = isGood && EVP_PKEY_derive(context, buffer.baseAddress, &initialized) == 1
                if !isGood { initialized = 0 }
            }
            // libcrypto refuses a secret of zeros; the second test does not depend on its version.
            guard isGood, !constantTimeEqual(secret, Array(repeating: 0, count: byteCount)) else {
                ERR_clear_error()
                throw .malformedKey("a public key that is not of small order")
            }
            return secret
        }
    }
}

extension Curve25519.KeyAgreement.PublicKey {
    fileprivate init(of key: KeyPair) {
        let count = Curve25519.KeyAgreement.byteCount
        self.init(
            trusted: [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                initialized = count
                require(EVP_PKEY_get_raw_public_key(key.pointer, buffer.baseAddress, &initialized))
            })
    }
}
