import COpenSSL

/// Fills `buffer` with random bytes fit for keys (`RAND_bytes_ex`). Stops the process when the system has none to give:
/// there is no safe way on.
package func fillRandom(_ buffer: UnsafeMutableRawBufferPointer) {
    guard let start = buffer.address else { return }
    precondition(RAND_bytes_ex(nil, start, buffer.count, 0) == 1, "The system gives no random bytes.")
}

/// Random nonces of 96 bits, drawn 128 at a time: one call for random bytes costs as much as sealing a fix.
///
/// It cannot be copied, since two copies would hand out the same nonces. Never use one on both sides of a `fork`.
package struct NonceSource: ~Copyable {
    private let buffer: UnsafeMutableRawBufferPointer
    private var used: Int

    /// A source, empty until it is first asked.
    package init() {
        buffer = .allocate(byteCount: 128 * AES256GCM.nonceByteCount, alignment: 16)
        used = buffer.count
    }

    deinit {
        buffer.deallocate()
    }

    /// Lends the next nonce, 12 bytes that are dead after `body`.
    package mutating func withNext<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try body(take())
    }

    /// The next nonce as two integers.
    package mutating func next() -> (UInt64, UInt32) {
        let nonce = take()
        return (nonce.loadUnaligned(as: UInt64.self), nonce.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
    }

    private mutating func take() -> UnsafeRawBufferPointer {
        if used == buffer.count {
            fillRandom(buffer)
            used = 0
        }
        defer { used += AES256GCM.nonceByteCount }
        return UnsafeRawBufferPointer(rebasing: buffer[used..<used + AES256GCM.nonceByteCount])
    }
}
