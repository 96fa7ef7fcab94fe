/// One try to wake one device, with what APNs said; or why there was none.
package struct LocationPushAttempt: Hashable, Sendable {
    /// How the try ended.
    package enum Outcome: Int64, Sendable, CaseIterable {
        /// APNs took it, which is not yet delivery.
        case accepted = 1
        /// APNs answered with a reason against it.
        case refused = 2
        /// APNs certainly did not process it, for example because the stream was refused.
        case notProcessed = 3
        /// It left, or may have left, and no answer came: APNs may have accepted it.
        case unknown = 4
        /// It was not started, for a reason of ``PushWithheld``.
        case withheld = 5
        /// It was started and waited; then something happened after which it may not leave, see ``PushWithdrawal``.
        case withdrawn = 6
        /// It was started and never left, for example because there was no connection before the deadline.
        case notSent = 7

        package var word: String { String(describing: self) }

        /// Whether the device was certainly not woken by it.
        package var isCertainlyUnaccepted: Bool { self != .accepted && self != .unknown }
    }

    package let query: QueryID
    package let device: DeviceID
    /// 1, 2, 3 … for this query and device; 0 when nothing was sent, and ``reason`` says why.
    package let attempt: Int64
    /// Equal for every attempt of one query and device.
    package let apnsID: Identifier128
    /// HTTP status; `nil` when no answer came.
    package let status: Int64?
    /// APNs' reason, or the fault in a word.
    package let reason: String?
    package let durationMilliseconds: Int64
    /// As recorded; `nil` in events from before outcomes were recorded, see ``outcome``.
    package let recordedOutcome: Outcome?
    /// When the try was handed to the connection, by the house's clock; it ended ``durationMilliseconds`` later. `nil`
    /// when nothing was sent, and in old events.
    package let startedAt: Timestamp?
    /// The service of Apple's it was sent to; `nil` when nothing was to be sent, and in old events.
    package let environment: PushEnvironment?
    /// `apns-priority`: 10 for a person's question, 5 for the service's own; `nil` as above.
    package let priority: Int64?
    /// `nil` as above, and for persons who are erased.
    package let tokenHash: PushTokenHash?
    /// `apns-unique-id`, which Apple's development service gives to what it accepts.
    package let uniqueID: String?

    /// APNs' unique ids are UUIDs; what is longer than this many characters is cut.
    package static let uniqueIDCharacters = 64
    /// Characters of ``reason`` that are kept.
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

    /// How the try ended. Of an old event it follows from number, status and reason.
    package var outcome: Outcome {
        if let recordedOutcome { return recordedOutcome }
        if attempt == 0 { return reason.flatMap { PushWithheld(word: $0) } == nil ? .notSent : .withheld }
        guard let status else { return reason == "not processed" ? .notProcessed : .unknown }
        return status == 200 ? .accepted : .refused
    }

    /// Whether the event of a test says that it is about to leave, and not what became of it.
    package var isTestLeaving: Bool { attempt == 0 && reason == nil && recordedOutcome == nil }

    /// When the try ended, by the house's clock.
    package var endedAt: Timestamp? {
        startedAt.map { Timestamp(milliseconds: $0.milliseconds + durationMilliseconds) }
    }

    /// The same without what was made from personal data.
    package var withoutPersonalData: LocationPushAttempt {
        LocationPushAttempt(
            query: query, device: device, attempt: attempt, apnsID: apnsID, status: status, reason: reason,
            durationMilliseconds: durationMilliseconds, outcome: recordedOutcome, startedAt: startedAt,
            environment: environment, priority: priority, tokenHash: nil, uniqueID: uniqueID)
    }
}

/// The first four bytes of the SHA-256 of a device token: enough to tell the few tokens of one device apart, and useless
/// for pushing.
package struct PushTokenHash: Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Eight hexadecimal digits.
    package var hex: String {
        let digits = String(rawValue, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
