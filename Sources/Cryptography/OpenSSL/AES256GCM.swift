import COpenSSL
import CSodium

/// AES-256-GCM (NIST SP 800-38D): seals bytes so that they can be read and changed only with the key.
///
/// One thread at a time: keep one per thread. The last key's schedule is kept in each direction, and made anew only when
/// the key is another object than last time. A sealed message is `ciphertext ‖ tag`, 16 bytes longer than the plaintext.
/// The nonce has 12 bytes and must never come twice under one key: with random ones (``NonceSource``), SP 800-38D 8.3
/// allows 2³² messages a key.
///
/// Two libraries do the work, with equal bytes. libsodium's form needs a processor with AES instructions. OpenSSL's form
/// runs on every processor, and takes 2.4 times as long for a fix whose key was not the last one: 445 ns in place of 182.
package final class AES256GCM {
    /// How many bytes the tag adds.
    package static var tagByteCount: Int { 16 }
    /// How many bytes a nonce has.
    package static var nonceByteCount: Int { 12 }

    private let form: any AES256GCMForm

    /// Whether libsodium can be used on this processor.
    package static let hasAESInstructions = sodium_init() >= 0 && crypto_aead_aes256gcm_is_available() == 1

    /// A cipher, ready for use.
    ///
    /// - Parameter usesAESInstructions: Must be false on a processor without them.
    package init(usesAESInstructions: Bool = AES256GCM.hasAESInstructions) {
        form = usesAESInstructions ? SodiumAES256GCM() : OpenSSLAES256GCM()
    }

    /// Wipes the last keys' schedules, as is due when a key is destroyed; the cipher stays usable.
    package func forgetKeys() { form.forgetKeys() }

    // MARK: Seal

    /// Appends `ciphertext ‖ tag` of `plaintext` to `output`; `associated` is authenticated and not part of it.
    package func seal(
        _ plaintext: UnsafeRawBufferPointer, key: SymmetricKey, nonce: UnsafeRawBufferPointer,
        associated: UnsafeRawBufferPointer, into output: inout [UInt8]
    ) {
        precondition(nonce.count == Self.nonceByteCount, "A nonce has 12 bytes.")
        let start = output.count
        output.append(contentsOf: repeatElement(0, count: plaintext.count + Self.tagByteCount))
        output.withUnsafeMutableBytes { output in
            form.seal(
                plaintext, key, nonce, associated, UnsafeMutableRawBufferPointer(rebasing: output[start...]))
        }
    }

    /// Fills `output` with `ciphertext ‖ tag` of `plaintext`; `associated` is authenticated and not part of it.
    ///
    /// - Parameter output: 16 bytes longer than the plaintext.
    package func seal(
        _ plaintext: UnsafeRawBufferPointer, key: SymmetricKey, nonce: UnsafeRawBufferPointer,
        associated: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) {
        precondition(nonce.count == Self.nonceByteCount, "A nonce has 12 bytes.")
        precondition(output.count == plaintext.count + Self.tagByteCount, "A tag has 16 bytes.")
        form.seal(plaintext, key, nonce, associated, output)
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
        output.removeAll(keepingCapacity: true)
        output.append(contentsOf: repeatElement(0, count: max(0, sealed.count - Self.tagByteCount)))
        let isOpen = output.withUnsafeMutableBytes { opens(sealed, key, nonce, associated, $0) }
        if !isOpen {
            output.removeAll(keepingCapacity: true)
            throw .authenticationFailed
        }
    }

    /// Opens into `buffer` the plaintext of `sealed`.
    ///
    /// - Returns: The plaintext, valid until the next message is opened into the buffer.
    /// - Throws: ``CryptographyError/authenticationFailed`` when anything does not fit, a nonce or tag of the wrong
    ///   length included.
    package func open(
        _ sealed: UnsafeRawBufferPointer, key: SymmetricKey, nonce: UnsafeRawBufferPointer,
        associated: UnsafeRawBufferPointer, into buffer: PlaintextBuffer
    ) throws(CryptographyError) -> UnsafeRawBufferPointer {
        let plaintext = buffer.room(for: max(0, sealed.count - Self.tagByteCount))
        guard opens(sealed, key, nonce, associated, plaintext) else { throw .authenticationFailed }
        return UnsafeRawBufferPointer(plaintext)
    }

    /// Whether the message is genuine; `output`, of its length without the tag, then has the plaintext, and else zeros.
    private func opens(
        _ sealed: UnsafeRawBufferPointer, _ key: SymmetricKey, _ nonce: UnsafeRawBufferPointer,
        _ associated: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard nonce.count == Self.nonceByteCount, sealed.count >= Self.tagByteCount else { return false }
        return form.opens(sealed, key, nonce, associated, output)
    }
}

/// What a library does for ``AES256GCM``, which has checked the lengths.
private protocol AES256GCMForm {
    /// Fills `output`, which has room for plaintext and tag.
    func seal(
        _ plaintext: UnsafeRawBufferPointer, _ key: SymmetricKey, _ nonce: UnsafeRawBufferPointer,
        _ associated: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer)

    /// Whether the message is genuine; `output`, of its length without the tag, then has the plaintext, and else zeros.
    func opens(
        _ sealed: UnsafeRawBufferPointer, _ key: SymmetricKey, _ nonce: UnsafeRawBufferPointer,
        _ associated: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer
    ) -> Bool

    func forgetKeys()
}

/// By libsodium, with the processor's instructions for AES and carry-less multiplication.
private final class SodiumAES256GCM: AES256GCMForm {
    private let sealing = Schedule()
    private let opening = Schedule()

    /// The expanded key.
    private final class Schedule {
        /// The library's type asks for an alignment of 16, which the allocation keeps.
        let state = UnsafeMutablePointer<crypto_aead_aes256gcm_state>.allocate(capacity: 1)
        var identity: UInt64?

        deinit {
            forget()
            state.deallocate()
        }

        func take(_ key: SymmetricKey) -> UnsafePointer<crypto_aead_aes256gcm_state> {
            if identity != key.identity {
                _ = key.withBytes { crypto_aead_aes256gcm_beforenm(state, $0.start) }
                identity = key.identity
            }
            return UnsafePointer(state)
        }

        func forget() {
            identity = nil
            sodium_memzero(state, MemoryLayout<crypto_aead_aes256gcm_state>.size)
        }
    }

    func forgetKeys() {
        sealing.forget()
        opening.forget()
    }

    func seal(
        _ plaintext: UnsafeRawBufferPointer, _ key: SymmetricKey, _ nonce: UnsafeRawBufferPointer,
        _ associated: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer
    ) {
        let code = crypto_aead_aes256gcm_encrypt_detached_afternm(
            output.start, output.start + plaintext.count, nil, plaintext.start, UInt64(plaintext.count),
            associated.start, UInt64(associated.count), nil, nonce.start, sealing.take(key))
        precondition(code == 0, "A message is too long to be sealed.")
    }

    func opens(
        _ sealed: UnsafeRawBufferPointer, _ key: SymmetricKey, _ nonce: UnsafeRawBufferPointer,
        _ associated: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        // Unauthenticated plaintext never leaves: libsodium compares the tag first, or zeroes what it wrote.
        return crypto_aead_aes256gcm_decrypt_detached_afternm(
            output.start, nil, sealed.start, UInt64(output.count), sealed.start + output.count,
            associated.start, UInt64(associated.count), nonce.start, opening.take(key)) == 0
    }
}

/// By libcrypto.
private final class OpenSSLAES256GCM: AES256GCMForm {
    private let sealing: OpaquePointer
    private let opening: OpaquePointer
    private var sealingKey: UInt64?
    private var openingKey: UInt64?

    init() {
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

    func forgetKeys() {
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

    func seal(
        _ plaintext: UnsafeRawBufferPointer, _ key: SymmetricKey, _ nonce: UnsafeRawBufferPointer,
        _ associated: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer
    ) {
        let known = sealingKey == key.identity
        key.withBytes { bytes in
            require(EVP_EncryptInit_ex2(sealing, nil, known ? nil : bytes.address, nonce.address, nil))
        }
        sealingKey = key.identity
        var written: Int32 = 0
        if !associated.isEmpty {
            require(EVP_EncryptUpdate(sealing, nil, &written, associated.address, Int32(associated.count)))
        }
        if !plaintext.isEmpty {
            require(EVP_EncryptUpdate(sealing, output.address, &written, plaintext.address, Int32(plaintext.count)))
        }
        // GCM is a stream: the end yields no more bytes, only the tag.
        require(EVP_EncryptFinal_ex(sealing, output.address, &written))
        let tag = UnsafeMutableRawBufferPointer(rebasing: output[plaintext.count...])
        require(EVP_CIPHER_CTX_ctrl(sealing, EVP_CTRL_AEAD_GET_TAG, Int32(tag.count), tag.baseAddress))
    }

    func opens(
        _ sealed: UnsafeRawBufferPointer, _ key: SymmetricKey, _ nonce: UnsafeRawBufferPointer,
        _ associated: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        let known = openingKey == key.identity
        key.withBytes { bytes in
            require(EVP_DecryptInit_ex2(opening, nil, known ? nil : bytes.address, nonce.address, nil))
        }
        openingKey = key.identity
        var written: Int32 = 0
        if !associated.isEmpty {
            require(EVP_DecryptUpdate(opening, nil, &written, associated.address, Int32(associated.count)))
        }
        let count = output.count
        if count > 0 {
            require(EVP_DecryptUpdate(opening, output.address, &written, sealed.address, Int32(count)))
        }
        // The call takes a mutable address for all its uses and only reads this one.
        let tag = UnsafeMutableRawPointer(mutating: UnsafeRawBufferPointer(rebasing: sealed[count...]).baseAddress)
        require(EVP_CIPHER_CTX_ctrl(opening, EVP_CTRL_AEAD_SET_TAG, Int32(sealed.count - count), tag))
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
    /// The first byte's address as the libraries want it.
    @inline(__always)
    var address: UnsafePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}

extension UnsafeMutableRawBufferPointer {
    /// The first byte's address as the libraries want it.
    @inline(__always)
    var address: UnsafeMutablePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}

/// Where an empty buffer begins for libsodium, which takes no null.
private nonisolated(unsafe) let nothing = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)

extension UnsafeRawBufferPointer {
    @inline(__always)
    fileprivate var start: UnsafePointer<UInt8> { address ?? UnsafePointer(nothing) }
}

extension UnsafeMutableRawBufferPointer {
    @inline(__always)
    fileprivate var start: UnsafeMutablePointer<UInt8> { address ?? nothing }
}
