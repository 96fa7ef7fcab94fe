import COpenSSL

/// libcrypto's algorithms, each fetched once per process: a fetch walks the providers under a lock and costs more than
/// hashing an event. A fetched algorithm is constant and shared by all threads (crypto(7), "Algorithm fetching"); it
/// lives as long as the process.
enum Algorithms {
    nonisolated(unsafe) static let sha256 = fetched(EVP_MD_fetch(nil, "SHA2-256", nil))
    nonisolated(unsafe) static let sha512 = fetched(EVP_MD_fetch(nil, "SHA2-512", nil))
    nonisolated(unsafe) static let aes128GCM = fetched(EVP_CIPHER_fetch(nil, "AES-128-GCM", nil))
    nonisolated(unsafe) static let chaCha20Poly1305 = fetched(EVP_CIPHER_fetch(nil, "ChaCha20-Poly1305", nil))
    nonisolated(unsafe) static let aes256GCM = fetched(EVP_CIPHER_fetch(nil, "AES-256-GCM", nil))
    nonisolated(unsafe) static let aes256ECB = fetched(EVP_CIPHER_fetch(nil, "AES-256-ECB", nil))

    /// HMAC with SHA-256 and no key yet, to be duplicated; setting the digest would fetch it each time.
    nonisolated(unsafe) static let hmacSHA256: OpaquePointer = {
        let mac = fetched(EVP_MAC_fetch(nil, "HMAC", nil))
        let context = fetched(EVP_MAC_CTX_new(mac))
        var name = Array("SHA2-256".utf8CString)
        let code = name.withUnsafeMutableBufferPointer { name in
            // The macro is a String in Swift: as an argument, it would be gone when libcrypto reads the parameters.
            OSSL_MAC_PARAM_DIGEST.withCString { key in
                EVP_MAC_CTX_set_params(
                    context, [OSSL_PARAM_construct_utf8_string(key, name.baseAddress, 0), OSSL_PARAM_construct_end()])
            }
        }
        require(code)
        return context
    }()

    private static func fetched(_ pointer: OpaquePointer?) -> OpaquePointer {
        guard let pointer else { preconditionFailure("libcrypto lacks an algorithm that every OpenSSL 3 has.") }
        return pointer
    }
}

/// Stops at a libcrypto call that input from outside cannot make fail.
@inline(__always)
func require(_ code: Int32, _ file: StaticString = #fileID, _ line: UInt = #line) {
    precondition(code == 1, "A libcrypto call failed that no input can make fail.", file: file, line: line)
}
