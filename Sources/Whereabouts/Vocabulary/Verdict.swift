/// Whether a question was allowed, and why.
package enum Verdict: Hashable, Sendable {
    /// The person's own data.
    case own
    /// The operator, whose reads are recorded.
    case operatorOnRecord
    /// Another person, under this grant.
    case granted(GrantID)
    /// Nothing was shown; the subject sees the reason.
    case refused(RefusalCode)

    /// Whether the question was refused.
    package var isRefused: Bool { if case .refused = self { true } else { false } }
}

/// The true reason of a refusal, which the subject sees. The requester always sees the same "no such person".
package enum RefusalCode: Int64, Sendable, CaseIterable {
    /// No person has the requested handle.
    case unknownPerson = 1
    /// The requester holds no grant about the subject, or it was revoked.
    case noGrant = 2
    /// The grant has not begun, is over, or does not hold at this hour.
    case notInForce = 3
    /// The grant permits questions and shows no location.
    case precisionNone = 4
    /// The grant shows the present location and no stored data.
    case historyNotGranted = 5
    /// The requester's token lacks the scope.
    case missingScope = 6
    case erased = 7
    /// The grant requires consent for each question, and stored data would be shown without it.
    case consentNeeded = 8
    /// The requester has the right, and has asked too often.
    case tooOften = 9

    /// The word in answers and in the audit.
    package var word: String { String(describing: self) }
}
