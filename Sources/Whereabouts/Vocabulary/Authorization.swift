/// What the owner of a phone lets an app do, with the numbers of `CLAuthorizationStatus`.
package enum AuthorizationStatus: Int64, Sendable, CaseIterable {
    case notDetermined = 0
    case restricted = 1
    case denied = 2
    case authorizedAlways = 3
    case authorizedWhenInUse = 4

    package var word: String { String(describing: self) }

    package init?(word: String) {
        guard let match = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = match
    }
}

/// How exactly a phone tells an app where it is, with the numbers of `CLAccuracyAuthorization`.
package enum AccuracyAuthorization: Int64, Sendable, CaseIterable {
    case full = 0
    /// Some kilometers, and rarely renewed.
    case reduced = 1

    package var word: String { String(describing: self) }

    package init?(word: String) {
        guard let match = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = match
    }
}

/// A device's word about what its app may do.
package struct AuthorizationReport: Hashable, Sendable {
    /// The moment the device says it was so.
    package let timestamp: Timestamp
    package let status: AuthorizationStatus
    /// `nil` when the device does not say.
    package let accuracy: AccuracyAuthorization?

    package init(timestamp: Timestamp, status: AuthorizationStatus, accuracy: AccuracyAuthorization?) {
        (self.timestamp, self.status, self.accuracy) = (timestamp, status, accuracy)
    }
}
