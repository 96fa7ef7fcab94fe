import COpenSSL

/// An `EVP_PKEY`, freed with the last reference (which also wipes the secret).
final class KeyPair: Sendable {
    // Only read after it was made, which libcrypto allows from any thread.
    nonisolated(unsafe) let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        EVP_PKEY_free(pointer)
    }
}
