import COpenSSL

/// An authenticated cipher of libcrypto with one key and one direction: `ciphertext ‖ tag`, nonces of 12 bytes, tags of
/// 16. The key's schedule is wiped at the end.
struct KeyedAEAD: ~Copyable {
    static var nonceByteCount: Int { 12 }
    static var tagByteCount: Int { 16 }

    enum Direction { case seal, open }

    /// The cipher; ChaCha20-Poly1305 takes keys of 32 bytes, AES-128-GCM of 16.
    enum Cipher {
        case chaChaPoly, AES_GCM

        fileprivate var algorithm: OpaquePointer {
            switch self {
            case .chaChaPoly: Algorithms.chaCha20Poly1305
            case .AES_GCM: Algorithms.aes128GCM
            }
        }
    }

    private let context: OpaquePointer
    private let direction: Direction

    /// - Parameter key: As many bytes as the cipher takes; another number is a bug.
    init(_ cipher: Cipher, key: [UInt8], _ direction: Direction) {
        let cipher = cipher.algorithm
        precondition(key.count == Int(EVP_CIPHER_get_key_length(cipher)), "The key does not fit the cipher.")
        guard let context = EVP_CIPHER_CTX_new() else { preconditionFailure("Out of memory.") }
        self.context = context
        self.direction = direction
        switch direction {
        case .seal: require(EVP_EncryptInit_ex2(context, cipher, key, nil, nil))
        case .open: require(EVP_DecryptInit_ex2(context, cipher, key, nil, nil))
        }
    }

    deinit {
        EVP_CIPHER_CTX_free(context)
    }

    /// `ciphertext ‖ tag` of `plaintext`.
    func seal(_ plaintext: [UInt8], nonce: [UInt8], authenticating associated: [UInt8]) -> [UInt8] {
        precondition(direction == .seal && nonce.count == Self.nonceByteCount)
        require(EVP_EncryptInit_ex2(context, nil, nil, nonce, nil))
        var written: Int32 = 0
        if !associated.isEmpty {
            require(EVP_EncryptUpdate(context, nil, &written, associated, Int32(associated.count)))
        }
        let count = plaintext.count + Self.tagByteCount
        return [UInt8](unsafeUninitializedCapacity: count) { output, initialized in
            guard let start = output.baseAddress else { return }
            if !plaintext.isEmpty {
                require(EVP_EncryptUpdate(context, start, &written, plaintext, Int32(plaintext.count)))
            }
            // Both ciphers are streams: the end yields no more bytes, only the tag.
            require(EVP_EncryptFinal_ex(context, start + plaintext.count, &written))
            require(
                EVP_CIPHER_CTX_ctrl(
                    context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagByteCount), start + plaintext.count))
            initialized = count
        }
    }

    /// The plaintext of `sealed`.
    ///
    /// - Throws: ``CryptographyError/authenticationFailed`` if anything does not fit, `sealed` without room for a tag
    ///   included.
    func open(
        _ sealed: [UInt8], nonce: [UInt8], authenticating associated: [UInt8]
    ) throws(CryptographyError) -> [UInt8] {
        precondition(direction == .open && nonce.count == Self.nonceByteCount)
        guard sealed.count >= Self.tagByteCount else { throw .authenticationFailed }
        require(EVP_DecryptInit_ex2(context, nil, nil, nonce, nil))
        var written: Int32 = 0
        if !associated.isEmpty {
            require(EVP_DecryptUpdate(context, nil, &written, associated, Int32(associated.count)))
        }
        let count = sealed.count - Self.tagByteCount
        var tag = Array(sealed[count...])
        var isGenuine = false
        // Room for one byte more, because an empty buffer may have no address.
        let plaintext = [UInt8](unsafeUninitializedCapacity: count + 1) { output, initialized in
            guard let start = output.baseAddress else { return }
            if count > 0 { require(EVP_DecryptUpdate(context, start, &written, sealed, Int32(count))) }
            require(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagByteCount), &tag))
            isGenuine = EVP_DecryptFinal_ex(context, start + count, &written) == 1
            // Plaintext that is not authentic never leaves, not even in the array's spare room.
            if !isGenuine { OPENSSL_cleanse(start, count) }
            initialized = isGenuine ? count : 0
        }
        guard isGenuine else {
            ERR_clear_error()
            throw .authenticationFailed
        }
        return plaintext
    }
}
