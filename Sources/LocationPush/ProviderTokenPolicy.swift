/// Decides when to sign a new provider token: after 45 to 50 minutes, and out of turn if APNs reports it as expired or
/// the clock was set.
///
/// Apple wants a token refreshed at most every 20 minutes and at least every 60; it answers a new token for each push
/// with `TooManyProviderTokenUpdates`. Apple counts per connection. So a token that follows one younger than 20 minutes
/// uses a new connection (``ProviderTokenSource/Signed/mayFollow(_:)``), and few tokens are signed out of turn. The
/// policy has no token, only its number and age, so that it can be tested without a key.
package struct ProviderTokenPolicy: Sendable {
    /// Minutes after which a token is renewed, chosen anew between the two for each token, so that processes that
    /// started together do not renew together.
    package static let refreshMinutesMin: Int64 = 45
    /// See ``refreshMinutesMin``.
    package static let refreshMinutesMax: Int64 = 50
    /// The least number of minutes between two signatures, except those out of turn.
    package static let spacingMinutes: Int64 = 20
    /// The most signatures out of turn within ``spacingMinutes``. It bounds the new connections of a clock that jumps
    /// all the time.
    package static let outOfTurnMax = 3
    /// If the wall clock has moved more than this against the monotonic clock, in milliseconds, the age of a token is
    /// unknown. Slewing moves it less: 1.8 s in an hour at 500 ppm.
    package static let stepMs: Int64 = 5_000

    /// Why a token is signed.
    package enum Occasion: Sendable, Equatable {
        /// There is no token, or it is old enough.
        case due
        /// The clock was set since the current token was signed, so its `iat` may be wrong.
        case clockStep
        /// APNs reported the current token as expired.
        case refusal
    }

    /// The reaction to an `ExpiredProviderToken`.
    package enum Renewal: Sendable, Equatable {
        /// Another push of the same token was refused first: use the newer token.
        case alreadyDone
        /// Sign a new token now.
        case sign
        /// The token was signed after such a refusal and never accepted, so the clock or the key is wrong; or too many
        /// tokens were signed out of turn. Keep it and raise an alarm.
        case tooSoon
    }

    private static let spacingMs = spacingMinutes * 60_000

    private struct Signed {
        let number: Int
        let at: PushTime
        let renewAfterMs: Int64
        let occasion: Occasion
        var wasAccepted = false
    }

    private var current: Signed?
    /// The times of signatures out of turn, on the monotonic clock, the newest last.
    private var outOfTurnMs: [Int64] = []

    /// A policy that has seen no token yet.
    package init() {}

    /// The number of the present token: 0 for none, then 1, 2, 3 …
    package var number: Int { current?.number ?? 0 }

    /// The reason to sign a token before the next push; nil if the current one is valid.
    package func occasion(at now: PushTime) -> Occasion? {
        guard let current else { return .due }
        let age = now.monotonicMs - current.at.monotonicMs
        if age >= current.renewAfterMs { return .due }
        let step = abs((now.unixMs - current.at.unixMs) - age)
        return step >= Self.stepMs && maySign(at: now) ? .clockStep : nil
    }

    /// Notes that a token was signed.
    ///
    /// - Parameter jitter: from 0 up to but not including 1; places the renewal between 45 and 50 minutes.
    package mutating func noteSigned(at now: PushTime, because occasion: Occasion, jitter: Double) {
        outOfTurnMs.removeAll { now.monotonicMs - $0 >= Self.spacingMs }
        if let current, now.monotonicMs - current.at.monotonicMs < Self.spacingMs {
            outOfTurnMs.append(now.monotonicMs)
        }
        let span = Double((Self.refreshMinutesMax - Self.refreshMinutesMin) * 60_000)
        let renewAfterMs = Self.refreshMinutesMin * 60_000 + Int64(jitter * span)
        current = Signed(number: number + 1, at: now, renewAfterMs: renewAfterMs, occasion: occasion)
    }

    /// Notes that APNs accepted a push with token `number`.
    package mutating func noteAccepted(_ number: Int) {
        if current?.number == number { current?.wasAccepted = true }
    }

    /// The reaction when APNs answered `ExpiredProviderToken` to a push that carried token `number`.
    package func renewal(ofExpired expired: Int, at now: PushTime) -> Renewal {
        guard let current, current.number == expired else { return .alreadyDone }
        let isYoung = now.monotonicMs - current.at.monotonicMs < Self.spacingMs
        if isYoung && current.occasion == .refusal && !current.wasAccepted { return .tooSoon }
        return maySign(at: now) ? .sign : .tooSoon
    }

    /// Whether a token may be signed although the current one is not due.
    private func maySign(at now: PushTime) -> Bool {
        guard let current, now.monotonicMs - current.at.monotonicMs < Self.spacingMs else { return true }
        return outOfTurnMs.count { now.monotonicMs - $0 < Self.spacingMs } < Self.outOfTurnMax
    }
}
