import Cryptography
import Whereabouts

/// A fix in ChaCha20-Poly1305: always 256 bytes, whatever the fix has.
///
/// The plaintext is the fix as events store it, one byte 0x80, and zeros up to 240 bytes. A fix has at most 135 bytes: a head, and
/// fifteen fields whose longest values are doubles.
enum SealedBox {
    /// How many bytes a box has.
    static let byteCount = 256
    private static let plaintextByteCount = byteCount - ChaChaPoly.tagByteCount

    static func seal(_ fix: TieredFix, using key: SymmetricKey, nonce: [UInt8], header: [UInt8]) -> [UInt8] {
        var plaintext = fix.fix.packed
        precondition(plaintext.count < plaintextByteCount, "A fix without texts fits.")
        plaintext.append(0x80)
        plaintext.append(contentsOf: repeatElement(0, count: plaintextByteCount - plaintext.count))
        return ChaChaPoly.seal(plaintext, using: key, nonce: nonce, authenticating: header)
    }

    /// - Throws: ``EnvelopeError/undecryptable``, and ``EnvelopeError/inconsistent`` for a content that no device should
    ///   seal: other padding, a fix outside its bucket, values beyond the tier.
    static func open(
        _ box: [UInt8], using key: SymmetricKey, nonce: [UInt8], header: [UInt8], bucket: TimeBucket, tier: EnvelopeTier
    ) throws(EnvelopeError) -> Fix {
        guard let plaintext = try? ChaChaPoly.open(box, using: key, nonce: nonce, authenticating: header) else {
            throw .undecryptable
        }
        guard let end = plaintext.lastIndex(where: { $0 != 0 }), plaintext[end] == 0x80,
            let fix = plaintext[..<end].withUnsafeBytes({ try? Fix(packed: $0) }),
            let opened = TieredFix(opened: fix, tier: tier), TimeBucket(containing: fix.timestamp) == bucket
        else { throw .inconsistent }
        return opened.fix
    }
}
