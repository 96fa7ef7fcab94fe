import COpenSSL

/// The SHA-512 digest of `bytes` (FIPS 180-4), 64 bytes.
package func sha512(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 64) { buffer, initialized in
        require(EVP_Digest(bytes, bytes.count, buffer.baseAddress, nil, Algorithms.sha512, nil))
        initialized = 64
    }
}
