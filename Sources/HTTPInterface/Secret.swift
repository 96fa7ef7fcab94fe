package import Answers
import Cryptography
package import JSON
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

/// The secrets of share links.
extension Secret {
    /// The hash of a link's secret with its passphrase: a wrong passphrase is a wrong secret.
    ///
    /// - Parameter link: The secret, or the whole address of the link.
    package static func hash(ofLink link: String, passphrase: String?) -> Hash256 {
        let secret = String(link.drop { $0.isWhitespace }.prefix { !$0.isWhitespace }.split(separator: "#").last ?? "")
        return hash(of: passphrase.map { "\(secret)\n\($0)" } ?? secret)
    }

    /// The passphrase of a body, at most ``Limits/linkPassphraseCharacters`` characters; `nil` if it has none, or an
    /// empty one.
    package static func passphrase(_ body: JSONValue) throws(Problem) -> String? {
        guard let text = try body.optionalText("passphrase"), !text.isEmpty else { return nil }
        guard text.unicodeScalars.count <= Limits.linkPassphraseCharacters else {
            throw .invalid("\"passphrase\" must have at most \(Limits.linkPassphraseCharacters) characters.")
        }
        return text
    }
}
