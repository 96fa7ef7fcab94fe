package import Answers
package import Gazetteer
import Replies
package import Whereabouts

/// One open stream. A value: the deliverer's thread owns it and its feed.
package struct LiveStream: Sendable {
    /// The caller; the stream ends when they lose the right to it.
    package let caller: Caller
    /// The question that each recorded read of this stream repeats.
    package let question: ReadQuestion
    /// The id of the request, which the records of disclosures carry.
    package let correlation: RequestID
    /// The connection to the client.
    package let stream: DisclosingStream
    /// The person's feed, with the place up to which it has been read.
    package var feed: PersonFeed
    /// The missed items, which are sent first.
    package var missed: [FeedItem]
    /// The languages for names of places.
    package let languages: [Language]
    /// How the person sees event numbers.
    package let references: References

    package init(
        caller: Caller, question: ReadQuestion, correlation: RequestID, stream: DisclosingStream, feed: PersonFeed,
        missed: [FeedItem], languages: [Language], references: References
    ) {
        (self.caller, self.question, self.correlation, self.stream) = (caller, question, correlation, stream)
        (self.feed, self.missed, self.languages, self.references) = (feed, missed, languages, references)
    }

    /// Whose stream it is.
    package var person: PersonID { feed.person }

    /// One event of the stream. Only the last of those sent together has an id.
    package static func bytes(of item: FeedItem, id: References.Name? = nil) -> [UInt8] {
        Array("\(id.map { "id: \($0.text)\n" } ?? "")event: \(item.event)\ndata: ".utf8) + item.data
            + Array("\n\n".utf8)
    }
}
