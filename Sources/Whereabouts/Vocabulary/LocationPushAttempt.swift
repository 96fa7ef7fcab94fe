/// One try to wake one device, with the answer of APNs; or the reason why there was no try.
package struct LocationPushAttempt: Hashable, Sendable {
    /// How the try ended.
    package enum Outcome: Int64, Sendable, CaseIterable {
        /// APNs accepted it. Acceptance is not delivery.
        case accepted = 1
        /// APNs refused it with a reason.
        case refused = 2
        /// APNs certainly did not process it, for example because the stream was refused.
        case notProcessed = 3
        /// It was sent, or may have been, and no answer came: APNs may have accepted it.
        case unknown = 4
        /// It was not started; the reason is a ``PushWithheld``.
        case withheld = 5
        /// It was started, and became unwanted while it waited; the reason is a ``PushWithdrawal``.
        case withdrawn = 6
        /// It was started and not sent, for example because there was no connection before the deadline.
        case notSent = 7

        /// The word in answers and in the audit.
        package var word: String { String(describing: self) }

        /// Whether APNs certainly did not accept it, so that it did not wake the device.
        package var isCertainlyUnaccepted: Bool { self != .accepted && self != .unknown }
    }

    /// The query, or the id of a test.
    package let query: QueryID
    /// The device to wake.
    package let device: DeviceID
    /// 1, 2, 3 … for this query and device; 0 if nothing was sent, for the ``reason`` given.
    package let attempt: Int64
    /// The same for every try of one query and device.
    package let apnsID: Identifier128
    /// The HTTP status; `nil` without an answer.
    package let status: Int64?
    /// The reason that APNs gave, or the fault in one word.
    package let reason: String?
    /// From sending the push to its end, in milliseconds.
    package let durationMilliseconds: Int64
    /// The recorded outcome; `nil` in events of older versions, see ``outcome``.
    package let recordedOutcome: Outcome?
    /// The moment the connection got the try, by the house's clock; it ended ``durationMilliseconds`` later. `nil` if nothing
    /// was sent, and in old events.
    package let startedAt: Timestamp?
    /// Apple's push service for the device; `nil` if nothing was to be sent, and in old events.
    package let environment: PushEnvironment?
    /// `apns-priority`: 10 for a person's question, 5 for the service's own; `nil` as for ``environment``.
    package let priority: Int64?
    /// `nil` as for ``environment``, and after the person's erasure.
    package let tokenHash: PushTokenHash?
    /// The `apns-unique-id` that Apple's development service gives to pushes it accepts.
    package let uniqueID: String?

    /// The greatest length of ``uniqueID``; the rest is cut. Unique ids of APNs are UUIDs.
    package static let uniqueIDCharacters = 64
    /// The greatest length of ``reason``; the rest is cut.
    package static let reasonCharacters = 200

    package init(
        query: QueryID, device: DeviceID, attempt: Int64, apnsID: Identifier128, status: Int64?, reason: String?,
        durationMilliseconds: Int64, outcome: Outcome? = nil, startedAt: Timestamp? = nil,
        environment: PushEnvironment? = nil, priority: Int64? = nil, tokenHash: PushTokenHash? = nil,
        uniqueID: String? = nil
    ) {
        (self.query, self.device, self.attempt, self.apnsID) = (query, device, attempt, apnsID)
        (self.status, self.reason, self.durationMilliseconds) = (status, reason, durationMilliseconds)
        (recordedOutcome, self.startedAt, self.environment) = (outcome, startedAt, environment)
        (self.priority, self.tokenHash, self.uniqueID) = (priority, tokenHash, uniqueID)
    }

    /// How the try ended. For an old event, it follows from the number, the status and the reason.
    package var outcome: Outcome {
        if let recordedOutcome { return recordedOutcome }
        if attempt == 0 { return reason.flatMap { PushWithheld(word: $0) } == nil ? .notSent : .withheld }
        guard let status else { return reason == "not processed" ? .notProcessed : .unknown }
        return status == 200 ? .accepted : .refused
    }

    /// Whether this event of a test precedes its push, and has no outcome.
    package var isTestLeaving: Bool { attempt == 0 && reason == nil && recordedOutcome == nil }

    /// The end of the try, by the house's clock.
    package var endedAt: Timestamp? {
        startedAt.map { Timestamp(milliseconds: $0.milliseconds + durationMilliseconds) }
    }

    /// The attempt without the fields that were made from personal data.
    package var withoutPersonalData: LocationPushAttempt {
        LocationPushAttempt(
            query: query, device: device, attempt: attempt, apnsID: apnsID, status: status, reason: reason,
            durationMilliseconds: durationMilliseconds, outcome: recordedOutcome, startedAt: startedAt,
            environment: environment, priority: priority, tokenHash: nil, uniqueID: uniqueID)
    }
}

/// The first four bytes of the SHA-256 of a device token. They distinguish the few tokens of one device and cannot be used
/// for a push.
package struct PushTokenHash: Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Eight hexadecimal digits.
    package var hex: String {
        let digits = String(rawValue, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
