/// ChaCha20-Poly1305 (RFC 8439) with keys of 32 bytes: one message at a time, under CryptoKit's name.
///
/// A sealed message is `ciphertext ‖ tag`, 16 bytes longer than the plaintext. A nonce must never come twice under one
/// key. With random nonces, a key may seal 2³² messages.
package enum ChaChaPoly {
    /// How many bytes a nonce has.
    package static var nonceByteCount: Int { KeyedAEAD.nonceByteCount }
    /// How many bytes the tag adds.
    package static var tagByteCount: Int { KeyedAEAD.tagByteCount }

    /// `ciphertext ‖ tag` of `plaintext`. A nonce of another length than 12 is a bug.
    package static func seal(
        _ plaintext: [UInt8], using key: SymmetricKey, nonce: [UInt8], authenticating associated: [UInt8]
    ) -> [UInt8] {
        KeyedAEAD(.chaChaPoly, key: key.withBytes { [UInt8]($0) }, .seal)
            .seal(plaintext, nonce: nonce, authenticating: associated)
    }

    /// The plaintext of `sealed`.
    ///
    /// - Throws: ``CryptographyError/authenticationFailed`` if anything does not fit, a nonce or a tag of another length
    ///   included.
    package static func open(
        _ sealed: [UInt8], using key: SymmetricKey, nonce: [UInt8], authenticating associated: [UInt8]
    ) throws(CryptographyError) -> [UInt8] {
        guard nonce.count == nonceByteCount else { throw .authenticationFailed }
        return try KeyedAEAD(.chaChaPoly, key: key.withBytes { [UInt8]($0) }, .open)
            .open(sealed, nonce: nonce, authenticating: associated)
    }
}
