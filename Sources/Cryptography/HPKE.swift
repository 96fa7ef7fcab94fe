/// Hybrid public key encryption (RFC 9180) in base mode. Anyone with a public key can seal messages, and only the owner of
/// the private key can open them. The names are CryptoKit's.
///
/// | | bytes |
/// |---|---|
/// | private key, public key, encapsulated key | 32 |
/// | a sealed message beyond its plaintext (the tag) | 16 |
/// | the key of a message: ChaCha20-Poly1305, AES-128-GCM | 32, 16 |
///
/// A sealed message does not show who sealed it; add a signature if the recipient must know. For example, this seals a key for Ben:
///
///     var sender = try HPKE.Sender(
///         recipientKey: ben, ciphersuite: .Curve25519_SHA256_ChachaPoly, info: Array("whereabouts/1".utf8))
///     let sealed = sender.seal(key, authenticating: header)      // 48 bytes for a key of 32
///     send(sender.encapsulatedKey + sealed)
package enum HPKE {
    /// How a key is agreed, secrets are derived and messages are sealed. The first two are the same in all suites here:
    /// DHKEM(X25519, HKDF-SHA256), which is 0x0020, and HKDF-SHA256, which is 0x0001.
    package struct Ciphersuite: Hashable, Sendable {
        /// The cipher of the messages, with its number in RFC 9180, section 7.3.
        package enum AEAD: UInt16, Sendable, CaseIterable {
            case AES_GCM_128 = 1
            case chaChaPoly = 3
        }

        /// The cipher of the messages.
        package let aead: AEAD

        /// ChaCha20-Poly1305: what Whereabouts uses, and CryptoKit since iOS 17.
        package static let Curve25519_SHA256_ChachaPoly = Ciphersuite(aead: .chaChaPoly)
        /// AES-128-GCM, for which the RFC has its first test vectors.
        package static let Curve25519_SHA256_AES_GCM_128 = Ciphersuite(aead: .AES_GCM_128)
    }

    /// Seals messages for one recipient.
    ///
    /// It cannot be copied, because two copies would use the same nonces.
    package struct Sender: ~Copyable {
        /// The 32 bytes that the recipient needs beside the messages. They are not secret.
        package let encapsulatedKey: [UInt8]
        private var messages: MessageSequence

        /// A sender with a new ephemeral key. About 110 µs.
        ///
        /// - Parameter info: The purpose, which the recipient must know; any length.
        /// - Throws: ``CryptographyError/malformedKey(_:)`` if the recipient's key is of small order.
        package init(
            recipientKey: Curve25519.KeyAgreement.PublicKey, ciphersuite: Ciphersuite, info: [UInt8]
        ) throws(CryptographyError) {
            try self.init(
                recipientKey: recipientKey, ciphersuite: ciphersuite, info: info,
                ephemeral: Curve25519.KeyAgreement.PrivateKey())
        }

        /// A sender with a known ephemeral key, for published vectors. The key of two senders must never be the same.
        init(
            recipientKey: Curve25519.KeyAgreement.PublicKey, ciphersuite: Ciphersuite, info: [UInt8],
            ephemeral: Curve25519.KeyAgreement.PrivateKey
        ) throws(CryptographyError) {
            let secret = try ephemeral.sharedSecretFromKeyAgreement(with: recipientKey)
            encapsulatedKey = ephemeral.publicKey.rawRepresentation
            let shared = KeySchedule.sharedSecret(
                secret, context: encapsulatedKey + recipientKey.rawRepresentation)
            messages = MessageSequence(ciphersuite, sharedSecret: shared, info: info, .seal)
        }

        /// `ciphertext ‖ tag` of the next message. `associated` is authenticated and not part of it.
        package mutating func seal(_ plaintext: [UInt8], authenticating associated: [UInt8] = []) -> [UInt8] {
            messages.seal(plaintext, authenticating: associated)
        }
    }

    /// Opens the messages of one sender, in their order.
    package struct Recipient: ~Copyable {
        private var messages: MessageSequence

        /// A recipient of the messages that belong to `encapsulatedKey`. About 45 µs. A wrong `info`
        /// or key is not noticed here, but no message opens then.
        ///
        /// - Throws: ``CryptographyError/malformedKey(_:)`` if `encapsulatedKey` has not 32 bytes or is of small order.
        package init(
            privateKey: Curve25519.KeyAgreement.PrivateKey, ciphersuite: Ciphersuite, info: [UInt8],
            encapsulatedKey: [UInt8]
        ) throws(CryptographyError) {
            let ephemeral = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: encapsulatedKey)
            let secret = try privateKey.sharedSecretFromKeyAgreement(with: ephemeral)
            let shared = KeySchedule.sharedSecret(
                secret, context: encapsulatedKey + privateKey.publicKey.rawRepresentation)
            messages = MessageSequence(ciphersuite, sharedSecret: shared, info: info, .open)
        }

        /// The plaintext of the next message. A message that does not open is not counted, so the right one may follow.
        ///
        /// - Throws: ``CryptographyError/authenticationFailed`` if the key, the info, the associated data, the place in
        ///   the sequence or any byte is another, or the message is shorter than a tag.
        package mutating func open(
            _ ciphertext: [UInt8], authenticating associated: [UInt8] = []
        ) throws(CryptographyError) -> [UInt8] {
            try messages.open(ciphertext, authenticating: associated)
        }
    }
}

/// The key of a sequence of messages, and the number of the next one (RFC 9180, section 5.2).
private struct MessageSequence: ~Copyable {
    private let cipher: KeyedAEAD
    private let baseNonce: [UInt8]
    // The RFC allows 2⁹⁶ messages; 64 bits are enough in practice. An overflow stops the process.
    private var number: UInt64 = 0

    init(_ suite: HPKE.Ciphersuite, sharedSecret: [UInt8], info: [UInt8], _ direction: KeyedAEAD.Direction) {
        let schedule = KeySchedule(suite, sharedSecret: sharedSecret, info: info)
        cipher =
            switch suite.aead {
            case .chaChaPoly: KeyedAEAD(.chaChaPoly, key: schedule.expanded("key", count: 32), direction)
            case .AES_GCM_128: KeyedAEAD(.AES_GCM, key: schedule.expanded("key", count: 16), direction)
            }
        baseNonce = schedule.expanded("base_nonce", count: KeyedAEAD.nonceByteCount)
    }

    private var nonce: [UInt8] {
        var nonce = baseNonce
        for place in 0..<8 { nonce[4 + place] ^= UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64(place))) }
        return nonce
    }

    mutating func seal(_ plaintext: [UInt8], authenticating associated: [UInt8]) -> [UInt8] {
        defer { number += 1 }
        return cipher.seal(plaintext, nonce: nonce, authenticating: associated)
    }

    mutating func open(
        _ sealed: [UInt8], authenticating associated: [UInt8]
    ) throws(CryptographyError) -> [UInt8] {
        let plaintext = try cipher.open(sealed, nonce: nonce, authenticating: associated)
        number += 1
        return plaintext
    }
}

/// HKDF-SHA256 (RFC 5869) with the labels of RFC 9180, section 4, and the key schedule of base mode, section 5.1.
private struct KeySchedule {
    private let suiteID: [UInt8]
    private let secret: [UInt8]
    private let context: [UInt8]

    init(_ suite: HPKE.Ciphersuite, sharedSecret: [UInt8], info: [UInt8]) {
        suiteID = Array("HPKE".utf8) + Self.number(0x0020) + Self.number(0x0001) + Self.number(suite.aead.rawValue)
        // Base mode is 0, and has neither a shared key of both sides nor a name of one.
        context =
            [0] + Self.extract(salt: [], suiteID, "psk_id_hash", [])
            + Self.extract(salt: [], suiteID, "info_hash", info)
        secret = Self.extract(salt: sharedSecret, suiteID, "secret", [])
    }

    /// A secret of `count` bytes, at most 32.
    func expanded(_ label: String, count: Int) -> [UInt8] {
        Self.expand(secret, suiteID, label, context, count: count)
    }

    /// The secret of the two sides, from that of X25519 (RFC 9180, section 4.1).
    static func sharedSecret(_ agreed: [UInt8], context: [UInt8]) -> [UInt8] {
        let suiteID = Array("KEM".utf8) + number(0x0020)
        return expand(extract(salt: [], suiteID, "eae_prk", agreed), suiteID, "shared_secret", context, count: 32)
    }

    private static func extract(salt: [UInt8], _ suiteID: [UInt8], _ label: String, _ material: [UInt8]) -> [UInt8] {
        hmacSHA256(key: salt, message: Array("HPKE-v1".utf8) + suiteID + Array(label.utf8) + material).bytes
    }

    private static func expand(
        _ key: [UInt8], _ suiteID: [UInt8], _ label: String, _ info: [UInt8], count: Int
    ) -> [UInt8] {
        precondition(count <= Digest.byteCount, "One block of HKDF is enough for every secret here.")
        let labelled = number(UInt16(count)) + Array("HPKE-v1".utf8) + suiteID + Array(label.utf8) + info
        return Array(hmacSHA256(key: key, message: labelled + [1]).bytes[..<count])
    }

    private static func number(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }
}
