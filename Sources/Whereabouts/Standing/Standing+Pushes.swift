// Decisions about pushes: whether a waiting one may still be sent, and how a query ends that no device answered.

/// Why a push that was started may no longer be sent, as in ``LocationPushAttempt/reason``.
package enum PushWithdrawal: String, Sendable, CaseIterable {
    case personErased
    case deviceRemoved
    /// The device's token was replaced or removed.
    case tokenReplaced
    case paused
    /// The requester's grant was revoked, has expired, or does not hold at this hour.
    case notGranted
    case awaitsConsent
    case answered
    case cancelled
    /// The query ended as refused.
    case refused
    /// The query's deadline has passed.
    case ended

    /// The word in the record of the attempt.
    package var word: String { rawValue }
}

extension Standing {
    /// The reason why a push for `id` to `device` with `token` may not be sent at `now`; `nil` if it may. Checked before each
    /// try.
    package func withdrawal(
        of id: QueryID, to device: DeviceID, _ token: PushToken, at now: Timestamp
    ) -> PushWithdrawal? {
        if let reason = withdrawal(ofTestTo: device, token) { return reason }
        // Erasing a requester removes their queries.
        guard let query = queries[id] else { return .cancelled }
        if query.awaitsConsent { return .awaitsConsent }
        if case .granted = query.verdict {
            if persons[query.subject]?.sharing.pauses.last?.contains(now) ?? false { return .paused }
            if query.end == nil || query.end == .refused {
                // As for the query itself, the newest valid grant counts.
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

    /// As ``withdrawal(of:to:_:at:)``, for a test push.
    package func withdrawal(ofTestTo device: DeviceID, _ token: PushToken) -> PushWithdrawal? {
        guard let known = devices[device] else { return .deviceRemoved }
        if persons[known.person]?.isErased ?? true { return .personErased }
        if known.isRemoved { return .deviceRemoved }
        let isCurrent = known.push.token?.token == token.token && known.push.token?.environment == token.environment
        return isCurrent ? nil : .tokenReplaced
    }

    /// Whether a push that was started for a query, or waits for another try, may be sent at `now`.
    package func isPushWanted(_ id: QueryID, to device: DeviceID, _ token: PushToken, at now: Timestamp) -> Bool {
        withdrawal(of: id, to: device, token, at: now) == nil
    }
}

extension Standing {
    /// How the query ends if no fix answers it. Every end of an unanswered query uses this rule.
    ///
    /// `pushFailed` tells the subject "your phone was not woken", so it must be certain: a push was started, for this query
    /// or for one whose push it shares, and APNs accepted none. The end is `timedOut` if a push may have arrived or is under
    /// way, if a device was told to report in another way, or if there was no device to push to.
    package func unansweredEnd(of query: Query) -> QueryEnd {
        let shared = query.waking.withheld.filter { $0.reason == .coalesced }
        guard !(query.waking.pushes.isEmpty && shared.isEmpty), query.waking.commanded.isEmpty else { return .timedOut }
        let mayHaveShared = shared.contains { withheld in
            guard let wokenAt = devices[withheld.device]?.push.wokenAt else { return false }
            return query.askedAt < wokenAt.adding(seconds: Limits.secondsBetweenPushes)
        }
        let failed = query.waking.pushes.allSatisfy { $0.state != .underWay && !$0.mayHaveArrived }
        return failed && !mayHaveShared ? .pushFailed : .timedOut
    }
}

extension Standing.Query {
    /// Whether the query ends now because its time is up. A push under way has the same deadline, and its outcome follows
    /// within ``Limits/lastWordSeconds``. The query waits for it, so that its end does not depend on which of the two is
    /// faster.
    package func isOverdue(at now: Timestamp) -> Bool {
        guard end == nil, deadline <= now else { return false }
        return !waking.pushes.contains { $0.state == .underWay }
            || deadline.adding(seconds: Limits.lastWordSeconds) <= now
    }
}

extension Event {
    /// Whether the event can make a waiting push unwanted. Nine of ten events are fixes, so they pay no look-up.
    package var mayForbidPushes: Bool {
        if case .fixReported = self { false } else { concerns.contains(.pushes) }
    }
}
