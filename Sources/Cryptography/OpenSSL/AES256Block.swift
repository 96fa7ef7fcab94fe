import COpenSSL
import Synchronization

/// AES-256 on single blocks of 128 bits (FIPS 197): a permutation that looks random without the key.
///
/// Equal blocks give equal results, so this is only for values whose repetition may show, or that never repeat. Safe to
/// use from any thread.
package final class AES256Block: Sendable {
    /// How many bytes a block has.
    package static var byteCount: Int { 16 }

    // Only touched under the lock, and freed by the last owner.
    private nonisolated(unsafe) let encrypting: OpaquePointer
    private nonisolated(unsafe) let decrypting: OpaquePointer
    private let lock = Mutex(())

    /// The permutation that `key` selects.
    package init(key: SymmetricKey) {
        guard let encrypting = EVP_CIPHER_CTX_new(), let decrypting = EVP_CIPHER_CTX_new() else {
            preconditionFailure("Out of memory.")
        }
        key.withBytes { bytes in
            require(EVP_EncryptInit_ex2(encrypting, Algorithms.aes256ECB, bytes.address, nil, nil))
            require(EVP_DecryptInit_ex2(decrypting, Algorithms.aes256ECB, bytes.address, nil, nil))
        }
        require(EVP_CIPHER_CTX_set_padding(encrypting, 0))
        require(EVP_CIPHER_CTX_set_padding(decrypting, 0))
        (self.encrypting, self.decrypting) = (encrypting, decrypting)
    }

    deinit {
        EVP_CIPHER_CTX_free(encrypting)
        EVP_CIPHER_CTX_free(decrypting)
    }

    /// The encrypted block.
    ///
    /// - Parameter block: 16 bytes.
    package func encrypt(_ block: [UInt8]) -> [UInt8] {
        run(block) { output, count, input in EVP_EncryptUpdate(encrypting, output, count, input, Int32(Self.byteCount))
        }
    }

    /// The block that ``encrypt(_:)`` makes into this one.
    ///
    /// - Parameter block: 16 bytes.
    package func decrypt(_ block: [UInt8]) -> [UInt8] {
        run(block) { output, count, input in EVP_DecryptUpdate(decrypting, output, count, input, Int32(Self.byteCount))
        }
    }

    private func run(
        _ block: [UInt8],
        _ update: (UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Int32>, UnsafePointer<UInt8>?) -> Int32
    ) -> [UInt8] {
        precondition(block.count == Self.byteCount, "A block has 16 bytes.")
        return [UInt8](unsafeUninitializedCapacity: Self.byteCount) { output, initialized in
            var written: Int32 = 0
            lock.withLock { _ in
                block.withUnsafeBufferPointer { require(update(output.baseAddress, &written, $0.baseAddress)) }
            }
            initialized = Int(written)
        }
    }
}
