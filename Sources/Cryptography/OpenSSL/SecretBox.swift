import CSodium

/// Messages sealed with a shared pass phrase as OwnTracks seals them: base 64 of `nonce (24) ‖ tag (16) ‖ ciphertext`, by
/// XSalsa20 and Poly1305 (NaCl's secretbox, `crypto_secretbox_open_easy`).
package struct SecretBox: Sendable {
    private let key: SymmetricKey

    /// The key is the pass phrase itself, cut or filled up with zeros to 32 bytes: the apps derive none.
    package init(passPhrase: some Sequence<UInt8>) {
        let bytes = Array(passPhrase).prefix(SymmetricKey.byteCount)
        key = SymmetricKey(bytes: bytes + [UInt8](repeating: 0, count: SymmetricKey.byteCount - bytes.count))
    }

    /// The plaintext; `nil` when the message was changed, sealed with another key, or is none.
    package func open(base64 text: String) -> [UInt8]? {
        let nonceByteCount = Int(crypto_secretbox_NONCEBYTES)
        let overhead = nonceByteCount + Int(crypto_secretbox_MACBYTES)
        guard let sealed = Base64.decode(text), sealed.count >= overhead else { return nil }
        var isOpen = false
        let plain = [UInt8](unsafeUninitializedCapacity: sealed.count - overhead) { plain, count in
            sealed.withUnsafeBufferPointer { sealed in
                key.withBytes { key in
                    guard let start = sealed.baseAddress, let key = key.bindMemory(to: UInt8.self).baseAddress else {
                        return
                    }
                    isOpen =
                        crypto_secretbox_open_easy(
                            plain.baseAddress, start + nonceByteCount, UInt64(sealed.count - nonceByteCount), start,
                            key) == 0
                }
            }
            count = isOpen ? sealed.count - overhead : 0
        }
        return isOpen ? plain : nil
    }
}
