/// Changes that concern waiting pushes.
package struct PushNews: OptionSet, Sendable {
    /// The bits of the set.
    package let rawValue: Int
    /// A push may no longer be wanted.
    package static let unwanted = PushNews(rawValue: 1)
    /// A device has a new push token.
    package static let newToken = PushNews(rawValue: 2)

    /// The set of these bits.
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// What an event changes.
    package init(_ event: Event) {
        self = event.mayForbidPushes ? .unwanted : []
        if case .locationPushTokenRegistered = event { insert(.newToken) }
    }
}
