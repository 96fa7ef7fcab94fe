/// A location query as the requester sends it.
package struct LocationQuestion: Sendable {
    /// Chosen by the caller, so that a repetition has the same id.
    package let id: QueryID
    /// The person to locate, who may not exist.
    package let subject: Handle
    /// At most ``Limits/purposeCharacters`` characters; the subject sees it.
    package let purpose: String
    /// Whether a person waits, or a service asks at intervals.
    package let initiation: LocationQuery.Initiation
    /// How long the query may wait for an answer, 1 to ``Limits/longestQueryDeadlineSeconds``.
    package let deadlineSeconds: Int64
    /// The greatest age of a fix that answers, in seconds.
    package let maxAgeSeconds: Int64

    package init(
        id: QueryID, subject: Handle, purpose: String, initiation: LocationQuery.Initiation, deadlineSeconds: Int64,
        maxAgeSeconds: Int64
    ) {
        (self.id, self.subject, self.purpose) = (id, subject, purpose)
        (self.initiation, self.deadlineSeconds, self.maxAgeSeconds) = (initiation, deadlineSeconds, maxAgeSeconds)
    }
}
