import COpenSSL

/// SHA-256 (FIPS 180-4) with one reused state.
///
/// One thread at a time: keep one per thread. It calls `SHA256_Init` and its kin, without the look-ups and allocations of
/// `EVP_DigestInit_ex2`: the log hashes short messages, for which they are as much work as the hash.
package final class SHA256 {
    private let state = UnsafeMutablePointer<SHA256_CTX>.allocate(capacity: 1)

    /// A hasher, ready for use.
    package init() { begin() }

    deinit {
        OPENSSL_cleanse(state, MemoryLayout<SHA256_CTX>.size)
        state.deallocate()
    }

    /// Starts a message, dropping one that was not finished.
    package func begin() {
        require(SHA256_Init(state))
    }

    /// Adds `bytes` to the message; ``begin()`` comes first.
    package func update(_ bytes: UnsafeRawBufferPointer) {
        require(SHA256_Update(state, bytes.baseAddress, bytes.count))
    }

    /// The digest of the message, which ends here.
    package func finish() -> Digest {
        Digest { require(SHA256_Final($0, state)) }
    }
}
