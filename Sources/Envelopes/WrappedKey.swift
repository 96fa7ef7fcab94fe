import Cryptography
import Whereabouts

/// A secret key of 32 bytes, sealed by HPKE for one recipient: the entry of a recipient in an envelope.
///
/// `info` is `"whereabouts/1 " ‖ type ‖ key id`, where the type is one byte, and the associated data is the header of the
/// envelope before its list of recipients. So an entry opens in no other envelope, kind or tier.
package struct WrappedKey: Hashable, Sendable {
    /// The recipient's key.
    package let keyID: RecipientKeyID
    /// HPKE's ephemeral public key, 32 bytes.
    package let encapsulatedKey: [UInt8]
    /// The sealed secret, 48 bytes.
    package let sealed: [UInt8]

    private static func info(_ type: EnvelopeType, _ id: RecipientKeyID) -> [UInt8] {
        Array("whereabouts/1 ".utf8) + [UInt8(type.rawValue)] + id.value.bytes
    }

    /// `secret` for each recipient, in the order of their names.
    ///
    /// - Throws: ``EnvelopeError/badRecipients`` and ``EnvelopeError/badRecipientKey``.
    static func wrap(
        _ secret: SymmetricKey, for recipients: [Curve25519.KeyAgreement.PublicKey], in type: EnvelopeType,
        header: [UInt8]
    ) throws(EnvelopeError) -> [WrappedKey] {
        guard (1...Envelope.maximumRecipients).contains(recipients.count),
            Set(recipients).count == recipients.count
        else { throw .badRecipients }
        var wrapped: [WrappedKey] = []
        for recipient in recipients {
            let id = RecipientKeyID(of: recipient)
            do {
                var sender = try HPKE.Sender(
                    recipientKey: recipient, ciphersuite: .Curve25519_SHA256_ChachaPoly, info: info(type, id))
                let sealed = sender.seal(secret.withBytes { [UInt8]($0) }, authenticating: header)
                wrapped.append(WrappedKey(keyID: id, encapsulatedKey: sender.encapsulatedKey, sealed: sealed))
            } catch {
                throw .badRecipientKey
            }
        }
        return wrapped.sorted { $0.keyID < $1.keyID }
    }

    /// The secret that `wrapped` holds for the owner of `key`.
    ///
    /// - Throws: ``EnvelopeError/notARecipient`` without an entry for it, and ``EnvelopeError/undecryptable``.
    static func unwrap(
        _ wrapped: [WrappedKey], with key: Curve25519.KeyAgreement.PrivateKey, in type: EnvelopeType, header: [UInt8]
    ) throws(EnvelopeError) -> SymmetricKey {
        let id = RecipientKeyID(of: key.publicKey)
        guard let entry = wrapped.first(where: { $0.keyID == id }) else { throw .notARecipient }
        do {
            var recipient = try HPKE.Recipient(
                privateKey: key, ciphersuite: .Curve25519_SHA256_ChachaPoly, info: info(type, id),
                encapsulatedKey: entry.encapsulatedKey)
            let secret = try recipient.open(entry.sealed, authenticating: header)
            guard secret.count == SymmetricKey.byteCount else { throw CryptographyError.authenticationFailed }
            return SymmetricKey(bytes: secret)
        } catch {
            throw .undecryptable
        }
    }
}
