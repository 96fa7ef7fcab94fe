import COpenSSL
import CSodium

/// An Ed25519 signing key (RFC 8032).
///
/// libsodium signs, in half of libcrypto's time; the bytes are the same. libcrypto reads and writes PEM, and verifies.
package struct Ed25519PrivateKey: Sendable {
    private let key: KeyPair
    private let secret: SodiumSecret

    /// A new random key.
    package init() {
        self.init(trustedSeed: randomBytes(32))
    }

    /// The key that RFC 8032 5.1.5 derives from a seed of 32 bytes.
    ///
    /// - Throws: ``CryptographyError/malformedKey(_:)`` when there are not 32.
    package init(seed: [UInt8]) throws(CryptographyError) {
        guard seed.count == 32 else { throw .malformedKey("a seed of 32 bytes") }
        self.init(trustedSeed: seed)
    }

    private init(trustedSeed seed: [UInt8]) {
        guard let pointer = EVP_PKEY_new_raw_private_key_ex(nil, "ED25519", nil, seed, seed.count) else {
            preconditionFailure("libcrypto refused a seed of 32 bytes.")
        }
        self.init(KeyPair(pointer))
    }

    private init(_ key: KeyPair) {
        self.key = key
        secret = SodiumSecret(of: key)
    }

    /// The key in a PEM text (`BEGIN PRIVATE KEY`, PKCS #8 of RFC 8410, not encrypted).
    ///
    /// - Throws: ``CryptographyError/malformedKey(_:)`` for anything else.
    package init(pem: String) throws(CryptographyError) {
        let bytes = Array(pem.utf8)
        guard let length = Int32(exactly: bytes.count), let text = BIO_new_mem_buf(bytes, length) else {
            throw .malformedKey("a PEM text")
        }
        defer { BIO_free(text) }
        // Without a callback of ours, libcrypto would ask the terminal for the password of an encrypted key.
        guard let pointer = PEM_read_bio_PrivateKey(text, nil, { _, _, _, _ in -1 }, nil) else {
            ERR_clear_error()
            throw .malformedKey("an unencrypted private key in PEM")
        }
        let key = KeyPair(pointer)
        guard EVP_PKEY_is_a(key.pointer, "ED25519") == 1 else { throw .malformedKey("an Ed25519 key") }
        self.init(key)
    }

    /// The key as PEM text (`BEGIN PRIVATE KEY`, PKCS #8, not encrypted). It is as secret as the key.
    package var pem: String {
        guard let text = BIO_new(BIO_s_mem()) else { preconditionFailure("Out of memory.") }
        defer { BIO_free(text) }
        require(PEM_write_bio_PrivateKey(text, key.pointer, nil, nil, 0, nil, nil))
        // An Ed25519 key is 119 characters.
        let bytes = [UInt8](unsafeUninitializedCapacity: 256) { buffer, initialized in
            initialized = Int(max(0, BIO_read(text, buffer.baseAddress, Int32(buffer.count))))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The public key, 32 bytes.
    package var publicKey: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { buffer, initialized in
            initialized = 32
            require(EVP_PKEY_get_raw_public_key(key.pointer, buffer.baseAddress, &initialized))
        }
    }

    /// The signature of `message`, 64 bytes, always the same for the same message. About 20 µs.
    package func sign(_ message: [UInt8]) -> [UInt8] { secret.sign(message) }
}

/// The signing key in the form of libsodium: the seed and the public key, in memory that is wiped at the end.
private final class SodiumSecret: Sendable {
    // Only read after it was made.
    private nonisolated(unsafe) let bytes: UnsafeMutablePointer<UInt8>

    init(of key: KeyPair) {
        bytes = .allocate(capacity: Int(crypto_sign_SECRETKEYBYTES))
        var (seedCount, publicCount) = (Int(crypto_sign_SEEDBYTES), Int(crypto_sign_PUBLICKEYBYTES))
        require(EVP_PKEY_get_raw_private_key(key.pointer, bytes, &seedCount))
        require(EVP_PKEY_get_raw_public_key(key.pointer, bytes + seedCount, &publicCount))
    }

    func sign(_ message: [UInt8]) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: Int(crypto_sign_BYTES))
        precondition(crypto_sign_detached(&signature, nil, message, UInt64(message.count), bytes) == 0)
        return signature
    }

    deinit {
        sodium_memzero(bytes, Int(crypto_sign_SECRETKEYBYTES))
        bytes.deallocate()
    }
}

/// Whether `signature` (64 bytes) is that of `message` under `publicKey` (32 bytes); `false` as well for other lengths
/// and for bytes that are no public key. About 250 µs.
package func ed25519Verify(publicKey: [UInt8], signature: [UInt8], message: [UInt8]) -> Bool {
    defer { ERR_clear_error() }
    guard publicKey.count == 32, signature.count == 64,
        let pointer = EVP_PKEY_new_raw_public_key_ex(nil, "ED25519", nil, publicKey, publicKey.count)
    else { return false }
    let key = KeyPair(pointer)
    guard let context = EVP_MD_CTX_new() else { preconditionFailure("Out of memory.") }
    defer { EVP_MD_CTX_free(context) }
    guard EVP_DigestVerifyInit_ex(context, nil, nil, nil, nil, key.pointer, nil) == 1 else { return false }
    return EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
}
