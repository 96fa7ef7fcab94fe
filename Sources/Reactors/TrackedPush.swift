import Cryptography
package import LocationPush
import Synchronization
package import Whereabouts

/// One push and the records of its tries. Called on the sender's thread.
package final class TrackedPush: Sendable {
    /// The last known state of the push, for the records.
    private struct State {
        /// When the present try began; `nil` before the first.
        var startedAt: Timestamp?
        /// The end of the last try.
        var last: PushAttempt.Ending?
        /// The reason why the push is no longer wanted; `nil` while it is.
        var withdrawal: PushWithdrawal?
    }

    /// The query, or the id of a test.
    package let query: QueryID
    /// The device to wake.
    package let device: DeviceID
    /// The device token as of the start of the push; a newer one makes this push unwanted.
    package let token: Standing.PushToken
    private let priority: LocationPushRequest.Priority
    /// The tries of earlier starts, from which the attempts count on.
    private let triesBefore: Int64
    private let state = Mutex(State())

    /// - Parameter triesBefore: The tries of the same push in earlier starts; the count continues.
    package init(
        _ query: QueryID, _ device: DeviceID, _ token: Standing.PushToken, priority: LocationPushRequest.Priority,
        triesBefore: Int64
    ) {
        (self.query, self.device, self.token) = (query, device, token)
        (self.priority, self.triesBefore) = (priority, triesBefore)
    }

    /// Whether the push is still wanted; keeps the reason if not, for `lastWord(of:)`.
    package func isWanted(_ withdrawal: PushWithdrawal?) -> Bool {
        if let withdrawal { state.withLock { $0.withdrawal = withdrawal } }
        return withdrawal == nil
    }

    /// Notes the time at which a connection takes the push.
    package func began(at now: Timestamp) { state.withLock { $0.startedAt = now } }

    /// The record of a try that has ended.
    package func ended(_ attempt: PushAttempt) -> LocationPushAttempt {
        let startedAt = state.withLock { state in
            state.last = attempt.ending
            return state.startedAt
        }
        let (outcome, status, reason, uniqueID) = attempt.recorded
        return record(
            triesBefore + Int64(attempt.number), outcome, status: status, reason, milliseconds: attempt.durationMs,
            startedAt: startedAt, uniqueID: uniqueID)
    }

    /// The record of the push's end, if the record of a try does not show it.
    package func lastWord(of outcome: PushOutcome) -> LocationPushAttempt? {
        switch outcome {
        case .accepted, .rejected: return nil
        case .withdrawn:
            let reason = state.withLock { $0.withdrawal } ?? .ended
            return record(0, .withdrawn, reason.word)
        case .failed(let fault):
            switch (state.withLock { $0.last }, fault) {
            case (nil, _): return notSent("\(fault)")
            // Between two tries nothing is in flight, so the next process may continue at once.
            case (.rejected?, .stopped), (.notProcessed?, .stopped): return notSent("\(fault)")
            default: return nil
            }
        }
    }

    /// The record of a push that was not sent: attempt 0, with the reason in words.
    func notSent(_ reason: String) -> LocationPushAttempt { record(0, .notSent, "not sent: \(reason)") }

    /// A record with the push's ids and token hash. Texts from the peer are cut to their bounds.
    private func record(
        _ number: Int64, _ outcome: LocationPushAttempt.Outcome, status: Int64? = nil, _ reason: String?,
        milliseconds: Int64 = 0, startedAt: Timestamp? = nil, uniqueID: String? = nil
    ) -> LocationPushAttempt {
        LocationPushAttempt(
            query: query, device: device, attempt: number, apnsID: LocationPushAttempt.apnsID(query, device),
            status: status, reason: reason.map { String($0.prefix(LocationPushAttempt.reasonCharacters)) },
            durationMilliseconds: milliseconds, outcome: outcome, startedAt: startedAt, environment: token.environment,
            priority: Int64(priority.rawValue), tokenHash: PushTokenHash(of: token.token),
            uniqueID: uniqueID.map { String($0.prefix(LocationPushAttempt.uniqueIDCharacters)) })
    }
}

extension PushTokenHash {
    /// The first 32 bits of the token's SHA-256: enough to distinguish tokens, too few to find one.
    package init(of token: LocationPushToken) {
        var value: UInt32 = 0
        for byte in SHA256().hash(token.bytes).bytes.prefix(4) { value = value << 8 | UInt32(byte) }
        self.init(rawValue: value)
    }
}

extension PushAttempt {
    /// The end of the try as it is recorded: the status and reason of APNs, or the fault in words.
    fileprivate var recorded: (LocationPushAttempt.Outcome, status: Int64?, reason: String?, uniqueID: String?) {
        switch ending {
        case .accepted(let uniqueID): (.accepted, 200, nil, uniqueID)
        case .rejected(let rejection): (.refused, Int64(rejection.status), rejection.reason.name, nil)
        case .notProcessed: (.notProcessed, nil, "not processed", nil)
        case .unknown(let why): (.unknown, nil, why, nil)
        }
    }
}
