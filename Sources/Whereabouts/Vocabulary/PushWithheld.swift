/// Why a push was not sent, with the words of ``LocationPushAttempt/reason``.
package enum PushWithheld: Int64, Sendable, CaseIterable {
    /// The device was woken less than ``Limits/secondsBetweenPushes`` ago; its report answers this query too.
    case coalesced = 1
    /// Apple gives a device about ``Limits/pushBudget``; a device beyond it gets no pushes at all for a while.
    case budget = 2
    /// The device says that its app may not be run in the background: the push would be accepted and come to nothing.
    case notAuthorized = 3
    /// None of the person's devices has a push token of an app that the service can push to.
    case noDevice = 4

    /// The word in the record of the attempt, for example `coalesced`.
    package var word: String { String(describing: self) }

    /// The reason with this word; `nil` for an unknown one.
    package init?(word: String) {
        guard let match = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = match
    }
}
