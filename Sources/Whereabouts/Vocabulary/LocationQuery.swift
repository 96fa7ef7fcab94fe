/// One question "Where is this person?".
package struct LocationQuery: Hashable, Sendable {
    /// The kind of requester.
    package enum Initiation: Int64, Sendable, CaseIterable {
        /// A person waits for the answer.
        case user = 0
        /// A service asks at intervals, for example by a schedule.
        case server = 1
        /// The word in requests and answers.
        package var word: String { self == .user ? "user" : "server" }
    }
    /// The id that the requester chose.
    package let id: QueryID
    /// `nil` if there is no such person; the refusal is recorded anyway.
    package let subject: PersonID?
    /// The person, device or operator who asked.
    package let requester: PrincipalID
    /// Whether the question was allowed, and why.
    package let verdict: Verdict
    /// Whether a person waits. A push for a person has a higher priority at APNs.
    package let initiation: Initiation
    /// When the query ends without an answer.
    package let deadline: Timestamp
    /// A fix at most this many seconds old answers without a push.
    package let maxAgeSeconds: Int64
    /// The purpose, sealed under the subject's key: readable until the subject is erased.
    package let purposeForSubject: Part<String>
    /// The purpose, sealed under the requester's key; `nil` for the operator.
    package let purposeForRequester: Part<String>?

    package init(
        id: QueryID, subject: PersonID?, requester: PrincipalID, verdict: Verdict, initiation: Initiation,
        deadline: Timestamp, maxAgeSeconds: Int64, purposeForSubject: Part<String>, purposeForRequester: Part<String>?
    ) {
        (self.id, self.subject, self.requester, self.verdict) = (id, subject, requester, verdict)
        (self.initiation, self.deadline, self.maxAgeSeconds) = (initiation, deadline, maxAgeSeconds)
        (self.purposeForSubject, self.purposeForRequester) = (purposeForSubject, purposeForRequester)
    }
}

/// The true end of a query, which the subject sees. Every granted query has exactly one.
package enum QueryEnd: Int64, Sendable, CaseIterable {
    /// By a fix that a device reported for the query, or after it was asked.
    case answered = 1
    /// By a fix that the log had already and that was recent enough.
    case answeredFromLastKnown = 2
    /// The grant ended, the subject paused sharing, or the subject refused consent.
    case refused = 3
    /// No device could be woken.
    case pushFailed = 4
    /// The deadline passed without a fix.
    case timedOut = 5
    /// The requester withdrew the query.
    case cancelled = 6
    /// The word in answers and in the audit.
    package var word: String { Self.words[self, default: ""] }

    private static let words = caseNames
}
