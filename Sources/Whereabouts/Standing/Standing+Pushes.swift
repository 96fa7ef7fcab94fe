// What is known of pushes: whether one that waits may still leave, and how a question ends that no device answered.

/// Why a push that was started may not leave any more, in the words of ``LocationPushAttempt/reason``.
package enum PushWithdrawal: String, Sendable, CaseIterable {
    case personErased
    case deviceRemoved
    /// The device has another token by now, or none.
    case tokenReplaced
    case paused
    /// The asker's grant was revoked, has expired, or does not hold at this hour.
    case notGranted
    case awaitsConsent
    case answered
    case cancelled
    /// The question ended as refused.
    case refused
    /// The question ended otherwise: its time was up.
    case ended

    package var word: String { rawValue }
}

extension Standing {
    /// Why a push for `id` to `device` with `token` may not leave at `now`; `nil` when it may. Asked before each try.
    package func withdrawal(
        of id: QueryID, to device: DeviceID, _ token: PushToken, at now: Timestamp
    ) -> PushWithdrawal? {
        if let reason = withdrawal(ofTestTo: device, token) { return reason }
        // An asker who was erased has taken the question along.
        guard let query = queries[id] else { return .cancelled }
        if query.awaitsConsent { return .awaitsConsent }
        if case .granted = query.verdict {
            if persons[query.subject]?.pauses.last?.contains(now) ?? false { return .paused }
            if query.end == nil || query.end == .refused {
                // The newest grant in force counts, as when the question was asked.
                let held = grants(of: query.subject, for: PersonID(rawValue: query.requester.rawValue))
                guard let grant = held.last(where: { $0.isInForce(at: now) }), grant.precision > .none,
                    !grant.asksEachTime || query.consent == .given
                else { return .notGranted }
            }
        }
        return switch query.end {
        case nil: nil
        case .answered, .answeredFromLastKnown: .answered
        case .cancelled: .cancelled
        case .refused: .refused
        case .pushFailed, .timedOut: .ended
        }
    }

    /// As ``withdrawal(of:to:_:at:)``, for a push that no question caused.
    package func withdrawal(ofTestTo device: DeviceID, _ token: PushToken) -> PushWithdrawal? {
        guard let known = devices[device] else { return .deviceRemoved }
        if persons[known.person]?.isErased ?? true { return .personErased }
        if known.isRemoved { return .deviceRemoved }
        let isCurrent = known.pushToken?.token == token.token && known.pushToken?.environment == token.environment
        return isCurrent ? nil : .tokenReplaced
    }

    /// Whether a push that was started for a query, or waits for another try, may leave at `now`.
    package func isPushWanted(_ id: QueryID, to device: DeviceID, _ token: PushToken, at now: Timestamp) -> Bool {
        withdrawal(of: id, to: device, token, at: now) == nil
    }
}

extension Standing {
    /// How the query ends if nothing answers it, as far as is known: the one rule, whoever ends it and when.
    ///
    /// `pushFailed` says to the subject "your phone was not woken". That must be certain: a push was started, for this query
    /// or for one it shares the push of, and each ended without APNs having taken it. Where a push may have arrived, or is
    /// still under way, or a device was told to report otherwise, or there was no device to push to, all that is known is
    /// that no answer came in time: `timedOut`.
    package func unansweredEnd(of query: Query) -> QueryEnd {
        let shared = query.withheld.filter { $0.reason == .coalesced }
        guard !(query.pushes.isEmpty && shared.isEmpty), query.commanded.isEmpty else { return .timedOut }
        let mayHaveShared = shared.contains { withheld in
            guard let wokenAt = devices[withheld.device]?.wokenAt else { return false }
            return query.askedAt < wokenAt.adding(seconds: Limits.secondsBetweenPushes)
        }
        let failed = query.pushes.allSatisfy { $0.state != .underWay && !$0.mayHaveArrived }
        return failed && !mayHaveShared ? .pushFailed : .timedOut
    }
}

extension Standing.Query {
    /// Whether the query ends now because its time is up. A push that is under way has the query's deadline too, and says
    /// within ``Limits/lastWordSeconds`` what became of it; until then the end would depend on which of the two is faster.
    package func isOverdue(at now: Timestamp) -> Bool {
        guard end == nil, deadline <= now else { return false }
        return !pushes.contains { $0.state == .underWay }
            || deadline.adding(seconds: Limits.lastWordSeconds) <= now
    }
}

extension Event {
    /// Whether a push that waits may have become unwanted by it.
    package var mayForbidPushes: Bool {
        switch self {
        case .locationQueryEnded, .grantRevoked, .grantGiven, .sharingPaused, .personErased, .deviceRemoved,
            .locationPushTokenRegistered, .locationPushTokenRetired:
            true
        default: false
        }
    }
}
