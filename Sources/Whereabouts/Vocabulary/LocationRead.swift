/// A read of stored data about a person. It is recorded before its bytes leave, like a query.
package struct LocationRead: Hashable, Sendable {
    /// The data that was read.
    package enum Question: Int64, Sendable, CaseIterable {
        case location = 1
        case track = 2
        case visits = 3
        case crossings = 4
        case audit = 5
        case events = 6
        case settings = 7
        /// The queries that wait for the subject's consent.
        case consent = 8
        /// The person's feed.
        case live = 9
        case trips = 10
        case places = 11
        /// Friends' newest locations, in the answer to a report of the reader's own phone.
        case friends = 12
        case summary = 13
        /// Sealed fixes, for their recipients.
        case envelopes = 14
        /// The word in answers and in the audit.
        package var word: String { String(describing: self) }
    }
    /// The personal part of a read, sealed under the subject's key.
    package struct Content: Hashable, Sendable {
        /// The reader's purpose; `nil` if they gave none.
        package let purpose: String?
        /// The requested range; `nil` for an open end.
        package let from, to: Timestamp?
        /// SHA-256 of the answer's bytes; `nil` for a refusal.
        package let answerHash: Hash256?
        /// The envelopes that were handed over; `nil` for other answers.
        package let envelopes: DisclosedEnvelopes?

        package init(
            purpose: String?, from: Timestamp?, to: Timestamp?, answerHash: Hash256?,
            envelopes: DisclosedEnvelopes? = nil
        ) {
            (self.purpose, self.from, self.to, self.answerHash) = (purpose, from, to, answerHash)
            self.envelopes = envelopes
        }
    }
    /// `nil` if there is no such person.
    package let subject: PersonID?
    /// The principal who read.
    package let reader: PrincipalID
    /// The question that was asked.
    package let question: Question
    /// Why it was permitted, or refused.
    package let verdict: Verdict
    /// How exactly locations were shown.
    package let precision: Precision
    /// The number of the log up to which the answer was folded.
    package let asOf: Int64
    /// The number of rows in the answer; 0 for a refusal.
    package let count: Int64
    /// The request that began this read, if it is a further page. Such a page does not count as another read.
    package let continuing: RequestID?
    /// The personal part.
    package let content: Part<Content>

    package init(
        subject: PersonID?, reader: PrincipalID, question: Question, verdict: Verdict, precision: Precision,
        asOf: Int64, count: Int64, continuing: RequestID? = nil, content: Part<Content>
    ) {
        (self.subject, self.reader, self.question, self.verdict) = (subject, reader, question, verdict)
        (self.precision, self.asOf, self.count, self.content) = (precision, asOf, count, content)
        self.continuing = continuing
    }
}
