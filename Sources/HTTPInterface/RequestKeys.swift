package import Answers
package import Cryptography
package import HTTPServer
import Log
import Synchronization
package import Whereabouts

/// Requests with an `Idempotency-Key`.
///
/// Nothing is stored for them but their events, which the correlation identifies (`Standing.KeyedRequest`): 60 bits
/// for the caller, key and address, 38 for the content, 24 at random, all under a secret derived from the
/// key-encryption key. So keys survive a restart, and are forgotten if that key is replaced. Secrets and query ids that
/// such a request makes are derived from its id instead of random, so that the same answer can be made again.
package final class RequestKeys: Sendable {
    private let secret: SymmetricKey
    /// The requests under way, by the first word of their ids.
    private let underWay = Mutex<Set<UInt64>>([])

    package init(under keyEncryptionKey: SymmetricKey) {
        secret = SymmetricKey(bytes: hmac(keyEncryptionKey, Array("whereabouts keyed requests".utf8)).bytes)
    }

    /// Begins a request with a key, until ``end(_:)``.
    ///
    /// - Throws: 400 if the key's form is wrong, 409 while a request with the same key is under way, 422 if the key
    ///   came with another request before.
    package func begin(
        _ text: String, with request: HTTPRequest, by caller: Caller, _ decisions: Decisions
    ) throws(Problem) -> RequestKey {
        guard let key = Self.key(of: text) else {
            throw .invalid(
                "The header Idempotency-Key must be 1 to \(Limits.requestKeyCharacters) visible characters in quotes.")
        }
        let scope = hmac(
            secret, Array("\(caller.principal.rawValue) \(request.method) \(request.path) \(key)".utf8))
        let content = hmac(secret, scope.bytes + request.body)
        let fresh = RequestID(
            ofKeyedRequest: scope.words.0, content.words.0 & Self.contentBits | .random(in: 0...Self.randomBits))
        guard underWay.withLock({ $0.insert(fresh.high).inserted }) else {
            throw Problem(
                409, "Under way", "The same request is under way; send it again later for its answer.",
                retryAfterSeconds: 1)
        }
        let kept = decisions.log.withStanding {
            $0.keyedRequest(fresh.high, by: caller.principal, at: decisions.clock())
        }
        guard let kept else { return RequestKey(id: fresh, secret: secret) }
        // The key of another request: the writer refuses it.
        let isSame = kept.id.low & Self.contentBits == fresh.low & Self.contentBits
        return RequestKey(id: isSame ? kept.id : fresh, secret: secret)
    }

    /// Ends a request, so that another with its key may begin.
    package func end(_ key: RequestKey) {
        underWay.withLock { _ = $0.remove(key.id.high) }
    }

    /// The 24 random bits of an id, in its second word.
    private static let randomBits: UInt64 = 0xFF_FFFF
    private static let contentBits: UInt64 = 0x3FFF_FFFF_FF00_0000

    /// The draft uses a string of RFC 8941, in quotes. Most clients leave the quotes out, and refusing those would help
    /// no one.
    private static func key(of text: String) -> Substring? {
        let isQuoted = text.utf8.count >= 2 && text.hasPrefix("\"") && text.hasSuffix("\"")
        let key = isQuoted ? text.dropFirst().dropLast() : text[...]
        let isVisible = key.utf8.allSatisfy { $0 > 32 && $0 < 127 && $0 != UInt8(ascii: "\"") }
        return isVisible && (1...Limits.requestKeyCharacters).contains(key.utf8.count) ? key : nil
    }
}

private func hmac(_ key: SymmetricKey, _ message: [UInt8]) -> Digest {
    hmacSHA256(key: key.withBytes { Array($0) }, message: message)
}
