internal import Whereabouts

/// What a phone still has to tell the service, oldest first, sent again with the same bytes until it is acknowledged.
///
/// Kept in memory: a simulated phone that ends forgets what was not acknowledged. Knows no clock and no socket; times
/// are milliseconds of a clock that never steps.
struct Outbox {
    /// One message and what it is for.
    struct Delivery: Equatable {
        enum Purpose: Equatable {
            /// The location push token.
            case token
            /// A fix, and the query it answers, if the push named one.
            case fix(answering: QueryID?)
        }

        let purpose: Purpose
        let request: ServiceRequest
        /// How often it was sent.
        var attempts = 0
    }

    /// What a reply means for the oldest delivery.
    enum Step: Equatable {
        /// It arrived, and is done.
        case acknowledged(Delivery)
        /// The service will never take it; sending it again would block the rest for nothing.
        case refused(Delivery, status: Int)
        /// It stays, and may be sent again after this time.
        case retry(Delivery, afterMs: Int64)
    }

    /// Deliveries kept at most; one more pushes the oldest out, whose asker has waited longest in vain.
    static let capacity = 1000
    /// The wait after a first failure; it doubles with each further one.
    static let retryMs: Int64 = 500
    /// The longest wait.
    static let retryMsMax: Int64 = 30_000

    private var deliveries: [Delivery] = []
    private var notBeforeMs = Int64.min

    /// Puts a message at the end.
    ///
    /// - Returns: the one that had to go, if there was no room.
    mutating func add(_ purpose: Delivery.Purpose, _ request: ServiceRequest) -> Delivery? {
        // A new token replaces one still waiting: the service wants the newest only.
        if purpose == .token { deliveries.removeAll { $0.purpose == .token } }
        deliveries.append(Delivery(purpose: purpose, request: request))
        return deliveries.count > Self.capacity ? deliveries.removeFirst() : nil
    }

    /// The message to send now; `nil` when there is none or it is too early.
    func due(atMs now: Int64) -> ServiceRequest? {
        now >= notBeforeMs ? deliveries.first?.request : nil
    }

    /// Milliseconds until ``due(atMs:)`` gives a message; `nil` when there is none.
    func waitMs(atMs now: Int64) -> Int64? {
        if deliveries.isEmpty { return nil }
        return now >= notBeforeMs ? 0 : notBeforeMs - now
    }

    /// Takes the service's reply to the oldest message.
    ///
    /// - Precondition: there is one.
    mutating func take(_ reply: ServiceReply, atMs now: Int64) -> Step {
        deliveries[0].attempts += 1
        let delivery = deliveries[0]
        switch reply {
        case .answer(let status, _) where (200..<300).contains(status):
            deliveries.removeFirst()
            notBeforeMs = Int64.min
            return .acknowledged(delivery)
        // Time-out, too many requests and faults of the service pass; every other refusal is final.
        case .answer(let status, _) where status < 500 && status != 408 && status != 429:
            deliveries.removeFirst()
            notBeforeMs = Int64.min
            return .refused(delivery, status: status)
        default:
            // 2^6 half seconds are beyond the longest wait already.
            let waitMs = min(Self.retryMs << min(delivery.attempts - 1, 6), Self.retryMsMax)
            notBeforeMs = now + waitMs
            return .retry(delivery, afterMs: waitMs)
        }
    }
}
