import COpenSSL

/// AES-256-GCM (NIST SP 800-38D): seals bytes so that they can be read and changed only with the key.
///
/// One thread at a time: keep one per thread. The two contexts are reused, and keyed anew only when the key is another
/// object than last time. A sealed message is `ciphertext ‖ tag`, 16 bytes longer than the plaintext. The nonce has 12
/// bytes and must never come twice under one key: with random ones (``NonceSource``), SP 800-38D 8.3 allows 2³² messages
/// a key.
package final class AES256GCM {
    /// How many bytes the tag adds.
    package static var tagByteCount: Int { 16 }
    /// How many bytes a nonce has.
    package static var nonceByteCount: Int { 12 }

    private let sealing: OpaquePointer
    private let opening: OpaquePointer
    private var sealingKey: UInt64?
    private var openingKey: UInt64?

    /// A cipher, ready for use.
    package init() {
        guard let sealing = EVP_CIPHER_CTX_new(), let opening = EVP_CIPHER_CTX_new() else {
            preconditionFailure("Out of memory.")
        }
        self.sealing = sealing
        self.opening = opening
        setUp()
    }

    deinit {
        EVP_CIPHER_CTX_free(sealing)
        EVP_CIPHER_CTX_free(opening)
    }

    /// Wipes the last keys' schedules, as is due when a key is destroyed; the cipher stays usable.
    package func forgetKeys() {
        EVP_CIPHER_CTX_reset(sealing)
        EVP_CIPHER_CTX_reset(opening)
        setUp()
    }

    private func setUp() {
        sealingKey = nil
        openingKey = nil
        require(EVP_EncryptInit_ex2(sealing, Algorithms.aes256GCM, nil, nil, nil))
        require(EVP_DecryptInit_ex2(opening, Algorithms.aes256GCM, nil, nil, nil))
    }

    // MARK: Seal

    /// Appends `ciphertext ‖ tag` of `plaintext` to `output`; `associated` is authenticated and not part of it.
    package func seal(
        _ plaintext: UnsafeRawBufferPointer, key: SymmetricKey, nonce: UnsafeRawBufferPointer,
        associated: UnsafeRawBufferPointer, into output: inout [UInt8]
    ) {
        seal(plaintext, key: key, nonce: nonce, associated, suffix: nil, into: &output)
    }

    /// Appends `ciphertext ‖ tag` of `plaintext` to `output`; `associated ‖ suffix` is authenticated and not part of it.
    package func seal(
        _ plaintext: UnsafeRawBufferPointer, key: SymmetricKey, nonce: UnsafeRawBufferPointer,
        associated: UnsafeRawBufferPointer, _ suffix: UInt8, into output: inout [UInt8]
    ) {
        seal(plaintext, key: key, nonce: nonce, associated, suffix: suffix, into: &output)
    }

    private func seal(
        _ plaintext: UnsafeRawBufferPointer, key: SymmetricKey, nonce: UnsafeRawBufferPointer,
        _ associated: UnsafeRawBufferPointer, suffix: UInt8?, into output: inout [UInt8]
    ) {
        precondition(nonce.count == Self.nonceByteCount, "A nonce has 12 bytes.")
        let known = sealingKey == key.identity
        key.withBytes { bytes in
            require(EVP_EncryptInit_ex2(sealing, nil, known ? nil : bytes.address, nonce.address, nil))
        }
        sealingKey = key.identity
        var written: Int32 = 0
        if !associated.isEmpty {
            require(EVP_EncryptUpdate(sealing, nil, &written, associated.address, Int32(associated.count)))
        }
        if let suffix {
            withUnsafeBytes(of: suffix) { require(EVP_EncryptUpdate(sealing, nil, &written, $0.address, 1)) }
        }
        let start = output.count
        output.append(contentsOf: repeatElement(0, count: plaintext.count + Self.tagByteCount))
        output.withUnsafeMutableBytes { output in
            let room = UnsafeMutableRawBufferPointer(rebasing: output[start...])
            if !plaintext.isEmpty {
                require(
                    EVP_EncryptUpdate(sealing, room.address, &written, plaintext.address, Int32(plaintext.count)))
            }
            // GCM is a stream: the end yields no more bytes, only the tag.
            require(EVP_EncryptFinal_ex(sealing, room.address, &written))
            let tag = UnsafeMutableRawBufferPointer(rebasing: room[plaintext.count...])
            require(EVP_CIPHER_CTX_ctrl(sealing, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagByteCount), tag.baseAddress))
        }
    }

    // MARK: Open

    /// Replaces `output` with the plaintext of `sealed`.
    ///
    /// - Throws: ``CryptographyError/authenticationFailed`` when anything does not fit, a nonce or tag of the wrong
    ///   length included; `output` is then empty.
    package func open(
        _ sealed: UnsafeRawBufferPointer, key: SymmetricKey, nonce: UnsafeRawBufferPointer,
        associated: UnsafeRawBufferPointer, into output: inout [UInt8]
    ) throws(CryptographyError) {
        try open(sealed, key: key, nonce: nonce, associated, suffix: nil, into: &output)
    }

    /// Replaces `output` with the plaintext of `sealed`, whose associated data is `associated ‖ suffix`.
    ///
    /// - Throws: ``CryptographyError/authenticationFailed`` when anything does not fit, a nonce or tag of the wrong
    ///   length included; `output` is then empty.
    package func open(
        _ sealed: UnsafeRawBufferPointer, key: SymmetricKey, nonce: UnsafeRawBufferPointer,
        associated: UnsafeRawBufferPointer, _ suffix: UInt8, into output: inout [UInt8]
    ) throws(CryptographyError) {
        try open(sealed, key: key, nonce: nonce, associated, suffix: suffix, into: &output)
    }

    /// Opens into `buffer` the plaintext of `sealed`, whose associated data is `associated ‖ suffix`.
    ///
    /// - Returns: The plaintext, valid until the next message is opened into the buffer.
    /// - Throws: ``CryptographyError/authenticationFailed`` when anything does not fit, a nonce or tag of the wrong
    ///   length included.
    package func open(
        _ sealed: UnsafeRawBufferPointer, key: SymmetricKey, nonce: UnsafeRawBufferPointer,
        associated: UnsafeRawBufferPointer, _ suffix: UInt8, into buffer: PlaintextBuffer
    ) throws(CryptographyError) -> UnsafeRawBufferPointer {
        let plaintext = buffer.room(for: max(0, sealed.count - Self.tagByteCount))
        guard opens(sealed, key, nonce, associated, suffix, plaintext) else { throw .authenticationFailed }
        return UnsafeRawBufferPointer(plaintext)
    }

    private func open(
        _ sealed: UnsafeRawBufferPointer, key: SymmetricKey, nonce: UnsafeRawBufferPointer,
        _ associated: UnsafeRawBufferPointer, suffix: UInt8?, into output: inout [UInt8]
    ) throws(CryptographyError) {
        output.removeAll(keepingCapacity: true)
        output.append(contentsOf: repeatElement(0, count: max(0, sealed.count - Self.tagByteCount)))
        let isOpen = output.withUnsafeMutableBytes { opens(sealed, key, nonce, associated, suffix, $0) }
        if !isOpen {
            output.removeAll(keepingCapacity: true)
            throw .authenticationFailed
        }
    }

    /// Whether the message is genuine; `output`, of its length without the tag, then has the plaintext, and else zeros.
    private func opens(
        _ sealed: UnsafeRawBufferPointer, _ key: SymmetricKey, _ nonce: UnsafeRawBufferPointer,
        _ associated: UnsafeRawBufferPointer, _ suffix: UInt8?, _ output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard nonce.count == Self.nonceByteCount, sealed.count >= Self.tagByteCount else { return false }
        let known = openingKey == key.identity
        key.withBytes { bytes in
            require(EVP_DecryptInit_ex2(opening, nil, known ? nil : bytes.address, nonce.address, nil))
        }
        openingKey = key.identity
        var written: Int32 = 0
        if !associated.isEmpty {
            require(EVP_DecryptUpdate(opening, nil, &written, associated.address, Int32(associated.count)))
        }
        if let suffix {
            withUnsafeBytes(of: suffix) { require(EVP_DecryptUpdate(opening, nil, &written, $0.address, 1)) }
        }
        let count = output.count
        if count > 0 {
            require(EVP_DecryptUpdate(opening, output.address, &written, sealed.address, Int32(count)))
        }
        // The call takes a mutable address for all its uses and only reads this one.
        let tag = UnsafeMutableRawPointer(mutating: UnsafeRawBufferPointer(rebasing: sealed[count...]).baseAddress)
        require(EVP_CIPHER_CTX_ctrl(opening, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagByteCount), tag))
        var nothing: UInt8 = 0
        if EVP_DecryptFinal_ex(opening, &nothing, &written) == 1 { return true }
        // Unauthenticated plaintext never leaves, not even in spare room.
        if count > 0 { OPENSSL_cleanse(output.baseAddress, count) }
        ERR_clear_error()
        return false
    }
}

/// Room for one opened message, which is used again for the next one. One thread at a time.
package final class PlaintextBuffer {
    private var storage = UnsafeMutableRawBufferPointer.allocate(byteCount: 256, alignment: 16)

    /// Room for a short message; it grows with longer ones.
    package init() {}

    deinit { storage.deallocate() }

    fileprivate func room(for count: Int) -> UnsafeMutableRawBufferPointer {
        if count > storage.count {
            storage.deallocate()
            storage = .allocate(byteCount: max(count, 2 * storage.count), alignment: 16)
        }
        return UnsafeMutableRawBufferPointer(rebasing: storage[..<count])
    }
}

extension UnsafeRawBufferPointer {
    /// The first byte's address as libcrypto wants it.
    @inline(__always)
    var address: UnsafePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}

extension UnsafeMutableRawBufferPointer {
    /// The first byte's address as libcrypto wants it.
    @inline(__always)
    var address: UnsafeMutablePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}
