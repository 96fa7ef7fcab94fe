import Gazetteer
import HTTPServer
import Whereabouts

/// One open stream. A value: the deliverer's thread owns it and its feed.
struct LiveStream: Sendable {
    /// The caller; the stream ends when they lose the right to it.
    let caller: Caller
    /// The question that each recorded read of this stream repeats.
    let question: ReadQuestion
    /// The id of the request, which the records of disclosures carry.
    let correlation: RequestID
    /// The connection to the client.
    let stream: HTTPStream
    /// The person's feed, with the place up to which it has been read.
    var feed: PersonFeed
    /// The missed items, which are sent first.
    var missed: [FeedItem]
    /// The languages for names of places.
    let languages: [Language]
    /// How the person sees event numbers.
    let references: References

    var person: PersonID { feed.person }

    /// The comment that an idle stream sends each `Limits.liveHeartbeatSeconds`.
    static let heartbeat = ": \n\n"

    /// One event of the stream. Only the last of those sent together has an id.
    static func bytes(of item: FeedItem, id: References.Name? = nil) -> [UInt8] {
        Array("\(id.map { "id: \($0.text)\n" } ?? "")event: \(item.event)\ndata: ".utf8) + item.data
            + Array("\n\n".utf8)
    }
}
