/// Decides when a provider token is signed anew: at 45 to 50 minutes, and out of turn when APNs calls it expired or the
/// clock was set.
///
/// Apple wants a token refreshed no more than once in 20 minutes and at least once in 60; a token signed for each push
/// is answered `TooManyProviderTokenUpdates`. Apple counts per connection, so a token that follows a younger one than 20
/// minutes goes over a new connection (``ProviderTokenSource/Signed/mayFollow(_:)``), and few are signed out of turn. The
/// policy holds no token, only its number and age, so that it can be tested without a key.
package struct ProviderTokenPolicy: Sendable {
    /// Minutes after which a token is renewed, chosen anew between the two for each token, so that processes that
    /// started together do not renew together.
    package static let refreshMinutesMin: Int64 = 45
    /// See ``refreshMinutesMin``.
    package static let refreshMinutesMax: Int64 = 50
    /// Minutes that lie between two signatures, save those out of turn.
    package static let spacingMinutes: Int64 = 20
    /// Signatures out of turn within ``spacingMinutes``: a clock that jumps all the time does not cost a connection each
    /// time.
    package static let outOfTurnMax = 3
    /// Milliseconds the wall clock may move against the monotonic one before the age of a token counts as unknown. Well
    /// above what slewing moves it in an hour (1.8 s at 500 ppm).
    package static let stepMs: Int64 = 5_000

    /// Why a token is signed.
    package enum Occasion: Sendable, Equatable {
        /// There is none, or it is old enough.
        case due
        /// The clock was set since the present one was signed, so its `iat` may be wrong by any span.
        case clockStep
        /// APNs called the present one expired.
        case refusal
    }

    /// What to do about an `ExpiredProviderToken`.
    package enum Renewal: Sendable, Equatable {
        /// Another push of the same token was refused first: use the newer token.
        case alreadyDone
        /// Sign a new token now.
        case sign
        /// The token is itself the answer to such a refusal and was never accepted, so the clock or the key is wrong; or
        /// too many were signed out of turn. Keep it and raise an alarm.
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
    /// When tokens were signed out of turn, on the monotonic clock; the newest last.
    private var outOfTurnMs: [Int64] = []

    /// A policy that has seen no token yet.
    package init() {}

    /// The number of the present token: 0 for none, then 1, 2, 3 …
    package var number: Int { current?.number ?? 0 }

    /// Why a token must be signed before the next push is sent; nil when the present one is good.
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

    /// What to do when APNs answered `ExpiredProviderToken` to a push that carried token `number`.
    package func renewal(ofExpired expired: Int, at now: PushTime) -> Renewal {
        guard let current, current.number == expired else { return .alreadyDone }
        let isYoung = now.monotonicMs - current.at.monotonicMs < Self.spacingMs
        if isYoung && current.occasion == .refusal && !current.wasAccepted { return .tooSoon }
        return maySign(at: now) ? .sign : .tooSoon
    }

    /// Whether a token may be signed although the present one is not due.
    private func maySign(at now: PushTime) -> Bool {
        guard let current, now.monotonicMs - current.at.monotonicMs < Self.spacingMs else { return true }
        return outOfTurnMs.count { now.monotonicMs - $0 < Self.spacingMs } < Self.outOfTurnMax
    }
}
