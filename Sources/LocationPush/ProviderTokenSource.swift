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
        /// The time of signing, in milliseconds of the monotonic clock.
        let signedAtMs: Int64

        /// Whether a connection that has carried `other` may carry this one.
        ///
        /// Apple: a provider token changes no more than once in 20 minutes on a connection.
        func mayFollow(_ other: Signed) -> Bool {
            number == other.number
                || signedAtMs - other.signedAtMs >= ProviderTokenPolicy.spacingMinutes * 60_000
        }

        /// Names the token without showing it.
        package var description: String { "provider token \(number)" }
    }

    private struct State {
        var policy = ProviderTokenPolicy()
        var text = ""
        var signedAtMs: Int64 = 0
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

    /// The token to send now. A new one is signed if there is none, the current one is due or the clock was set.
    ///
    /// - Throws: ``ProviderTokenError/signing(_:)``.
    package func current() throws(ProviderTokenError) -> Signed {
        try state.withLock { state throws(ProviderTokenError) in
            let now = clock.now()
            if let occasion = state.policy.occasion(at: now) { try sign(&state, because: occasion, at: now) }
            return Signed(number: state.policy.number, text: state.text, signedAtMs: state.signedAtMs)
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
                try sign(&state, because: .refusal, at: now)
                return true
            }
        }
    }

    /// Notes that APNs accepted a push with token `number`, so that a later refusal of it counts as its first.
    package func noteAccepted(_ number: Int) {
        state.withLock { $0.policy.noteAccepted(number) }
    }

    private func sign(
        _ state: inout State, because occasion: ProviderTokenPolicy.Occasion, at now: PushTime
    ) throws(ProviderTokenError) {
        state.text = try key.sign(issuedAtSeconds: now.unixMs / 1000)
        state.signedAtMs = now.monotonicMs
        state.policy.noteSigned(at: now, because: occasion, jitter: jitter())
    }
}
