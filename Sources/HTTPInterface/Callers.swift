package import Answers
import Cryptography
import Log
import Synchronization
package import Whereabouts

/// Finds the callers behind secrets. Only a secret's SHA-256 is compared; secrets longer than 128 bytes are not hashed.
package final class Callers: Sendable {
    private let decisions: Decisions
    /// Reused, because making one costs four times as much as a hash.
    private let hasher = Mutex(SHA256())

    package init(_ decisions: Decisions) { self.decisions = decisions }

    /// The caller with a token.
    package func caller(secret: some StringProtocol) -> Caller? {
        guard secret.utf8.count <= 128 else { return nil }
        let hash = hasher.withLock { Hash256($0.hash(Array(secret.utf8))) }
        return decisions.log.withStanding { $0.caller(tokenHash: hash, at: decisions.clock()) }
    }

    /// The caller whose session has this secret.
    package func session(of secret: some StringProtocol) -> Caller? {
        guard secret.utf8.count <= 128 else { return nil }
        let hash = Secret.hash(of: String(secret))
        return decisions.log.withStanding { $0.session(cookieHash: hash, at: decisions.clock()) }
    }
}
