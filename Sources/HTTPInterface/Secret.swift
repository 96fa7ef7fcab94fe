import Cryptography
import Log
package import Whereabouts

/// A new token: a prefix that names the kind, then 256 random bits in base64url. It is shown once; the log keeps its
/// SHA-256.
package struct Secret {
    /// The secret itself, for the answer.
    package let text: String
    /// The hash, for the log.
    package let hash: Hash256

    /// - Parameter bytes: 32 random bytes. The text is the prefix and 43 characters.
    package init(prefix: String, _ bytes: [UInt8]) {
        text = prefix + Base64.encode(bytes, urlSafe: true, padded: false)
        hash = Self.hash(of: text)
    }

    /// The hash of a secret that a caller shows.
    package static func hash(of text: String) -> Hash256 { Hash256(SHA256().hash(Array(text.utf8))) }
}
