/// The permission that the owner of a phone gives an app, with the numbers of `CLAuthorizationStatus`.
package enum AuthorizationStatus: Int64, Sendable, CaseIterable {
    case notDetermined = 0
    case restricted = 1
    case denied = 2
    case authorizedAlways = 3
    case authorizedWhenInUse = 4

    /// The word in reports and answers: Core Location's name of the case.
    package var word: String { String(describing: self) }

    /// `nil` for an unknown word. Upper and lower case differ.
    package init?(word: String) {
        guard let match = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = match
    }
}

/// The accuracy that a phone gives an app, with the numbers of `CLAccuracyAuthorization`.
package enum AccuracyAuthorization: Int64, Sendable, CaseIterable {
    case full = 0
    /// Some kilometers, and rarely updated.
    case reduced = 1

    /// The word in reports and answers: Core Location's name of the case.
    package var word: String { String(describing: self) }

    /// `nil` for an unknown word. Upper and lower case differ.
    package init?(word: String) {
        guard let match = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = match
    }
}

/// A device's report of its app's permission.
package struct AuthorizationReport: Hashable, Sendable {
    /// When the device had this permission, by its clock.
    package let timestamp: Timestamp
    /// Whether the app may use location, and when.
    package let status: AuthorizationStatus
    /// `nil` if the device does not report it.
    package let accuracy: AccuracyAuthorization?

    package init(timestamp: Timestamp, status: AuthorizationStatus, accuracy: AccuracyAuthorization?) {
        (self.timestamp, self.status, self.accuracy) = (timestamp, status, accuracy)
    }
}
