import COpenSSL

/// HMAC-SHA-256 of `message` under `key` (RFC 2104, `EVP_MAC`). A key may have any length; 32 random bytes are right.
package func hmacSHA256(key: [UInt8], message: [UInt8]) -> Digest {
    guard let context = EVP_MAC_CTX_dup(Algorithms.hmacSHA256) else { preconditionFailure("Out of memory.") }
    defer { EVP_MAC_CTX_free(context) }
    // libcrypto takes a missing address for "the key as before"; a key of no bytes is the same as one zero byte.
    let key = key.isEmpty ? [0] : key
    require(EVP_MAC_init(context, key, key.count, nil))
    require(EVP_MAC_update(context, message, message.count))
    return Digest { require(EVP_MAC_final(context, $0, nil, Digest.byteCount)) }
}
