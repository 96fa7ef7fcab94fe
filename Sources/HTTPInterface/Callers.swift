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
        guard let hash = hash(of: secret) else { return nil }
        let now = decisions.clock()
        return decisions.log.withStanding { $0.caller(tokenHash: hash, at: now) }
    }

    /// The caller with a token if it is the device or the person with this handle, and the device with this handle,
    /// whosever the token is.
    package func caller(
        secret: some StringProtocol, named handle: Handle
    ) -> (caller: Caller?, device: DeviceID?) {
        let hash = hash(of: secret)
        let now = decisions.clock()
        return decisions.log.withStanding { standing in
            let device = standing.device(handle)
            guard let hash, let caller = standing.caller(tokenHash: hash, at: now),
                caller.principal == device?.principal || caller.principal == standing.person(handle)?.principal
            else { return (nil, device) }
            return (caller, device)
        }
    }

    /// `nil` if the secret is too long.
    private func hash(of secret: some StringProtocol) -> Hash256? {
        guard secret.utf8.count <= 128 else { return nil }
        return hasher.withLock { Hash256($0.hash(Array(secret.utf8))) }
    }

    /// The caller whose session has this secret.
    package func session(of secret: some StringProtocol) -> Caller? {
        guard secret.utf8.count <= 128 else { return nil }
        let hash = Secret.hash(of: String(secret))
        return decisions.log.withStanding { $0.session(cookieHash: hash, at: decisions.clock()) }
    }
}
