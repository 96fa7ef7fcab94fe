/// The fixes of one device whose events have these numbers: one fix, or the fixes of one batch of an import.
///
/// Events of other devices and of other kinds that have a number in the range are not meant.
package struct FixNumbers: Hashable, Sendable {
    /// The device that reported the fixes.
    package let device: DeviceID
    /// The numbers of the first and of the last event.
    package let numbers: ClosedRange<Int64>

    package init(device: DeviceID, numbers: ClosedRange<Int64>) { (self.device, self.numbers) = (device, numbers) }
}

/// Why fixes are withdrawn or restored, and when they were taken.
package struct FixRevision: Hashable, Sendable {
    /// The device's time of the first fix and of the last one. Folds look for the fixes in this time only.
    package let time: ClosedRange<Timestamp>
    /// In the words of the caller; the audit shows it.
    package let reason: String

    package init(time: ClosedRange<Timestamp>, reason: String) { (self.time, self.reason) = (time, reason) }

    /// Why a reason is refused, in one sentence; `nil` if it is accepted.
    package static func defect(ofReason reason: String) -> String? {
        (1...Limits.purposeCharacters).contains(reason.unicodeScalars.count)
            ? nil : "A reason must have 1 to \(Limits.purposeCharacters) characters, for example \"wrong clock\"."
    }
}

extension LocationRead.Question {
    /// Whether the answer shows fixes, or rows that are folded from them.
    package var showsFixes: Bool {
        switch self {
        case .location, .track, .visits, .crossings, .trips, .places, .summary: true
        // Friends' locations are read from the log, by the newest standing.
        // A person withdraws fixes by time, and the service does not know that of envelopes.
        case .audit, .events, .settings, .consent, .live, .friends, .envelopes: false
        }
    }
}
