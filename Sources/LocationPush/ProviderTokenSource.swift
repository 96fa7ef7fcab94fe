internal import Synchronization

/// Signs a provider token once and gives the same string to every push of every sender that shares the source.
///
/// Senders of one team and key (production and development, say) should share one source: APNs counts renewals.
package final class ProviderTokenSource: Sendable {
    /// A signed token with its number.
    package struct Signed: Sendable, CustomStringConvertible {
        /// 1, 2, 3 … in the order of signing.
        package let number: Int
        /// The JWT. Never to be shown in diagnostics.
        let text: String

        /// Names the token without showing it.
        package var description: String { "provider token \(number)" }
    }

    private struct State {
        var policy = ProviderTokenPolicy()
        var text = ""
    }

    private let key: ProviderTokenKey
    private let clock: PushClock
    private let jitter: @Sendable () -> Double
    private let state = Mutex(State())

    /// A source that signs with `key`.
    ///
    /// - Parameter jitter: gives numbers from 0 up to but not including 1.
    package init(
        key: ProviderTokenKey, clock: PushClock = .system,
        jitter: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.key = key
        self.clock = clock
        self.jitter = jitter
    }

    /// The token to send now; signed if there is none or the present one is due.
    ///
    /// - Throws: ``ProviderTokenError/signing(_:)``.
    package func current() throws(ProviderTokenError) -> Signed {
        try state.withLock { state throws(ProviderTokenError) in
            let now = clock.now()
            if state.policy.mustSign(at: now) { try sign(&state, at: now) }
            return Signed(number: state.policy.number, text: state.text)
        }
    }

    /// Renews token `number` after an `ExpiredProviderToken`, once however many pushes say so.
    ///
    /// - Returns: whether there is a newer token to try with.
    /// - Throws: ``ProviderTokenError/signing(_:)``.
    package func renew(expired number: Int) throws(ProviderTokenError) -> Bool {
        try state.withLock { state throws(ProviderTokenError) in
            let now = clock.now()
            switch state.policy.renewal(ofExpired: number, at: now) {
            case .alreadyDone: return true
            case .tooSoon: return false
            case .sign:
                try sign(&state, at: now)
                return true
            }
        }
    }

    private func sign(_ state: inout State, at now: PushTime) throws(ProviderTokenError) {
        state.text = try key.sign(issuedAtSeconds: now.unixMs / 1000)
        state.policy.noteSigned(at: now, jitter: jitter())
    }
}
