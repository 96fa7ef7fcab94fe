import COpenSSL

/// Whether two byte strings are equal, in a time that depends on their lengths only (`CRYPTO_memcmp`): for secrets and
/// values derived from them.
package func constantTimeEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    a.count == b.count && (a.isEmpty || CRYPTO_memcmp(a, b, a.count) == 0)
}
