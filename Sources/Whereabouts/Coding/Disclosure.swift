/// The data that was shown in answer to a location query.
package struct Disclosure: Hashable, Sendable {
    /// The shown values, sealed under the subject's key alone: erasing the subject erases them.
    package struct Content: Hashable, Sendable {
        /// The shown coordinate in degrees, as coarse as the grant; `nil` if the grant shows names of places alone.
        package let latitude, longitude: Double?
        /// The shown accuracy in meters; `nil` for a coarse grant.
        package let horizontalAccuracy: Double?
        /// The device's time of the fix, as it was shown.
        package let timestamp: Timestamp
        /// The name of the place that was shown; `nil` without one.
        package let placeName: String?
        /// The SHA-256 of the answer's body.
        package let answerHash: Hash256
        /// The envelope that was handed over instead of a coordinate; `nil` for an open fix. ``timestamp`` is then the
        /// beginning of its quarter of an hour.
        package let envelopes: DisclosedEnvelopes?

        package init(
            latitude: Double?, longitude: Double?, horizontalAccuracy: Double?, timestamp: Timestamp,
            placeName: String?, answerHash: Hash256, envelopes: DisclosedEnvelopes? = nil
        ) {
            (self.latitude, self.longitude, self.horizontalAccuracy) = (latitude, longitude, horizontalAccuracy)
            (self.timestamp, self.placeName, self.answerHash) = (timestamp, placeName, answerHash)
            self.envelopes = envelopes
        }
    }
    /// The query that was answered.
    package let query: QueryID
    /// The person whose location was shown.
    package let subject: PersonID
    /// The principal who asked, and was shown it.
    package let requester: PrincipalID
    /// Why it was permitted, as of the disclosure.
    package let verdict: Verdict
    /// How exactly it was shown.
    package let precision: Precision
    /// The number of the event whose fix was shown.
    package let fix: Int64
    /// The shown values, sealed under the subject's key.
    package let content: Part<Content>

    package init(
        query: QueryID, subject: PersonID, requester: PrincipalID, verdict: Verdict, precision: Precision, fix: Int64,
        content: Part<Content>
    ) {
        (self.query, self.subject, self.requester, self.verdict) = (query, subject, requester, verdict)
        (self.precision, self.fix, self.content) = (precision, fix, content)
    }
}
