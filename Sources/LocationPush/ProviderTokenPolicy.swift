/// Decides when a provider token is signed anew: at 45 to 50 minutes, and never twice within 20.
///
/// Apple wants a token refreshed no more than once in 20 minutes and at least once in 60; a token signed for each push
/// is answered `TooManyProviderTokenUpdates`. The policy holds no token, only its number and age, so that it can be
/// tested without a key.
package struct ProviderTokenPolicy: Sendable {
    /// Minutes after which a token is renewed, chosen anew between the two for each token, so that processes that
    /// started together do not renew together.
    package static let refreshMinutesMin: Int64 = 45
    /// See ``refreshMinutesMin``.
    package static let refreshMinutesMax: Int64 = 50
    /// Minutes that must lie between two signatures, whatever happens.
    package static let spacingMinutes: Int64 = 20
    /// How far the wall clock may move against the monotonic one before the token's `iat` counts as wrong.
    private static let stepMinutes: Int64 = 10

    /// What to do about an `ExpiredProviderToken`.
    package enum Renewal: Sendable, Equatable {
        /// Another push of the same token was told first: use the newer token.
        case alreadyDone
        /// Sign a new token now.
        case sign
        /// The token is younger than 20 minutes, so the clock or the key is wrong: keep it and raise an alarm.
        case tooSoon
    }

    private struct Signed {
        let number: Int
        let at: PushTime
        let renewAfterMs: Int64
    }

    private var current: Signed?

    /// A policy that has seen no token yet.
    package init() {}

    /// The number of the present token: 0 for none, then 1, 2, 3 …
    package var number: Int { current?.number ?? 0 }

    /// Whether a token must be signed before the next push is sent.
    package func mustSign(at now: PushTime) -> Bool {
        guard let current else { return true }
        let age = now.monotonicMs - current.at.monotonicMs
        guard age >= minutes(Self.spacingMinutes) else { return false }
        let step = abs((now.unixMs - current.at.unixMs) - age)
        return age >= current.renewAfterMs || step >= minutes(Self.stepMinutes)
    }

    /// Notes that a token was signed.
    ///
    /// - Parameter jitter: from 0 up to but not including 1; places the renewal between 45 and 50 minutes.
    package mutating func noteSigned(at now: PushTime, jitter: Double) {
        let span = Double(minutes(Self.refreshMinutesMax - Self.refreshMinutesMin))
        let renewAfterMs = minutes(Self.refreshMinutesMin) + Int64(jitter * span)
        current = Signed(number: number + 1, at: now, renewAfterMs: renewAfterMs)
    }

    /// What to do when APNs answered `ExpiredProviderToken` to a push that carried token `number`.
    package func renewal(ofExpired expired: Int, at now: PushTime) -> Renewal {
        guard let current, current.number == expired else { return .alreadyDone }
        return now.monotonicMs - current.at.monotonicMs >= minutes(Self.spacingMinutes) ? .sign : .tooSoon
    }

    private func minutes(_ count: Int64) -> Int64 { count * 60_000 }
}
