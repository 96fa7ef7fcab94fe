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

    // MARK: At once

    /// The digest of `bytes`.
    package func hash(_ bytes: UnsafeRawBufferPointer) -> Digest {
        begin()
        update(bytes)
        return finish()
    }

    /// The digest of `bytes`.
    package func hash(_ bytes: [UInt8]) -> Digest {
        bytes.withUnsafeBytes { hash($0) }
    }

    /// The digest of `prefix ‖ first ‖ second`, as RFC 9162 2.1.1 forms the leaves (0x00) and nodes (0x01) of a tree.
    package func hash(prefix: UInt8, _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Digest {
        begin()
        update(prefix)
        update(first)
        update(second)
        return finish()
    }

    /// The digest of `prefix ‖ left ‖ right`: a node of a Merkle tree over two digests.
    package func hash(prefix: UInt8, _ left: Digest, _ right: Digest) -> Digest {
        left.withBytes { left in right.withBytes { right in hash(prefix: prefix, left, right) } }
    }

    // MARK: In pieces

    /// Starts a message, dropping one that was not finished.
    package func begin() {
        require(SHA256_Init(state))
    }

    /// Adds `bytes` to the message; ``begin()`` comes first.
    package func update(_ bytes: UnsafeRawBufferPointer) {
        require(SHA256_Update(state, bytes.baseAddress, bytes.count))
    }

    /// Adds `bytes` to the message; ``begin()`` comes first.
    package func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { update($0) }
    }

    /// Adds one byte to the message; ``begin()`` comes first.
    package func update(_ byte: UInt8) {
        withUnsafeBytes(of: byte) { update($0) }
    }

    /// The digest of the message, which ends here.
    package func finish() -> Digest {
        Digest { require(SHA256_Final($0, state)) }
    }
}
