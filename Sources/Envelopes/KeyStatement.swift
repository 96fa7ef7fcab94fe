package import Cryptography
package import Whereabouts

/// What a person signs about keys, besides envelopes. A client signs the statement and publishes it; the service and the
/// clients of other people check it.
///
/// The signed message is `"whereabouts/1 key "` and a deterministic CBOR array. `handle` is the person's handle as text, `madeAt`
/// milliseconds since 1970:
///
///     identity  = [1, handle, identity key, previous identity key, or h'' without one]
///     recipient = [2, handle, recipient key, madeAt]
///     pin       = [3, owner's handle, owner's identity key, name of the recipient key]
package enum KeyStatement: Hashable, Sendable {
    /// This is the person's identity key. It is signed by itself and, if there is a previous one, by that key too.
    case identity(of: Handle, key: [UInt8], previous: [UInt8]?)
    /// The person has the private half of this key.
    case recipient(of: Handle, key: [UInt8], madeAt: Timestamp)
    /// The signer's phones may seal for the key of this name, of the owner with this identity key.
    case pin(owner: Handle, identity: [UInt8], key: RecipientKeyID)

    /// The signed bytes.
    package var message: [UInt8] {
        var writer = CBORWriter(capacity: 128)
        writer.array(4)
        switch self {
        case .identity(let handle, let key, let previous):
            writer.integer(1)
            writer.text(handle.text)
            writer.byteString(key)
            writer.byteString(previous ?? [])
        case .recipient(let handle, let key, let madeAt):
            writer.integer(2)
            writer.text(handle.text)
            writer.byteString(key)
            writer.integer(madeAt.milliseconds)
        case .pin(let owner, let identity, let key):
            writer.integer(3)
            writer.text(owner.text)
            writer.byteString(identity)
            writer.byteString(key.value.bytes)
        }
        return Array("whereabouts/1 key ".utf8) + writer.bytes
    }

    /// The signature by an identity key.
    package func signature(by identity: Ed25519PrivateKey) -> [UInt8] { identity.sign(message) }

    /// Whether the owner of this identity key (Ed25519, 32 bytes) signed it.
    package func isSigned(_ signature: [UInt8], by identity: [UInt8]) -> Bool {
        identity.count == Limits.publicKeyBytes && signature.count == Limits.signatureBytes
            && ed25519Verify(publicKey: identity, signature: signature, message: message)
    }
}
