/// A read of stored data as the requester sends it.
package struct ReadQuestion: Hashable, Sendable {
    /// The person to read about, who may not exist.
    package let subject: Handle
    /// The data to read.
    package let question: LocationRead.Question
    /// The requested range; `nil` for an open end.
    package let from, to: Timestamp?
    /// `nil` if the reader gave none.
    package let purpose: String?
    /// The request that began the read, if this is a further page.
    package let continuing: RequestID?

    package init(
        subject: Handle, question: LocationRead.Question, from: Timestamp?, to: Timestamp?, purpose: String?,
        continuing: RequestID? = nil
    ) {
        (self.subject, self.question, self.from, self.to, self.purpose) = (subject, question, from, to, purpose)
        self.continuing = continuing
    }
}
