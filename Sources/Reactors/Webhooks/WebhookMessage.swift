package import Answers
import Cryptography
import JSON
package import Whereabouts
import WireFormats

/// One item of a person's feed as a webhook posts it, in the form of the Standard Webhooks
/// (github.com/standard-webhooks/standard-webhooks, version 1).
///
///     webhook-id: msg_p5kq1zLZXH8vS0TqEo0Jbg
///     webhook-timestamp: 1777881607
///     webhook-signature: v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=
///
///     {"type":"crossing","timestamp":"2026-05-04T08:00:07.000Z","data":{…}}
package struct WebhookMessage {
    /// The event behind the item, and its place among that event's items.
    package let item: FeedPlace
    /// The read that is recorded for the item.
    package let question: LocationRead.Question
    /// The JSON that is posted. Its SHA-256 is recorded.
    package let body: [UInt8]

    package init(item: FeedPlace, question: LocationRead.Question, body: [UInt8]) {
        (self.item, self.question, self.body) = (item, question, body)
    }

    /// The message of an item.
    package init(_ told: FeedItem, _ item: FeedPlace) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("type", told.event)
        writer.field("timestamp", ISO8601.text(of: told.at))
        writer.field("data", raw: told.data)
        writer.endObject()
        self.init(item: item, question: told.question, body: writer.bytes)
    }

    /// The message with the code that confirms an address; the same each time. It needs the right of every message.
    init(code: String, of person: Handle, _ item: FeedPlace) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("type", NoticeText.codeType)
        writer.object("data") { data in
            data.field("person", person.text)
            data.field("code", code)
        }
        writer.endObject()
        self.init(item: item, question: .live, body: writer.bytes)
    }

    /// The message's id, the same each time it is posted, so that a receiver recognizes a repeat.
    ///
    /// - Parameter references: The references of the webhook's person.
    package static func id(of item: FeedPlace, by webhook: WebhookID, _ references: References) -> String {
        "msg_" + references.digest([webhook.rawValue, item.number, Int64(item.ordinal)])
    }

    /// The headers of a post of now. The signature covers the time, so each try has another one.
    package func headers(
        by webhook: WebhookID, _ references: References, key: [UInt8], at now: Timestamp
    ) -> [String] {
        let id = Self.id(of: item, by: webhook, references)
        let seconds = now.milliseconds / 1000
        return [
            "Content-Type: application/json", "User-Agent: whereabouts", "webhook-id: \(id)",
            "webhook-timestamp: \(seconds)",
            "webhook-signature: \(Self.signature(of: body, id: id, seconds: seconds, key: key))",
        ]
    }

    /// HMAC-SHA256 over id, time and body, as the Standard Webhooks have it.
    static func signature(of body: [UInt8], id: String, seconds: Int64, key: [UInt8]) -> String {
        "v1," + Base64.encode(hmacSHA256(key: key, message: Array("\(id).\(seconds).".utf8) + body).bytes)
    }
}

/// The pause before a failed message is tried again.
enum WebhookPatience {
    /// The pause after a first failure; each further one doubles it, up to ``longestPauseSeconds``.
    private static let firstPauseSeconds: Int64 = 5
    private static let longestPauseSeconds: Int64 = 3600
    /// With pauses that double up to one hour, about a day: a receiver that is down over night misses nothing.
    static let tries: Int64 = 34

    /// The pause after a failed try: 5 s, then twice as long each time, at most an hour.
    ///
    /// - Parameters:
    ///   - tries: The tries so far, at least 1.
    ///   - atLeastSeconds: The pause that the receiver asked for.
    ///   - jitter: From 0 to 1; shortens the pause by up to a half, so that waiting messages do not all leave at once.
    static func pauseSeconds(after tries: Int64, atLeastSeconds: Int64, jitter: Double) -> Int64 {
        let doubled = firstPauseSeconds << min(tries - 1, 20)
        let pause = Double(min(doubled, longestPauseSeconds)) * (1 - jitter / 2)
        return max(Int64(pause), min(atLeastSeconds, longestPauseSeconds))
    }
}
