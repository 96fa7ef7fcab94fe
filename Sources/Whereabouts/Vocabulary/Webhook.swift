/// The kinds of items in a person's feed, each with its name in the feed.
package struct FeedTopics: OptionSet, Hashable, Sendable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// In the order of their bits, which are stored.
    package static let words = [
        "query", "consent", "push", "end", "disclosure", "read", "change", "finding", "visit", "crossing",
    ]
    /// Visits.
    package static let visit = FeedTopics(rawValue: 1 << 8)
    /// Crossings.
    package static let crossing = FeedTopics(rawValue: 1 << 9)
    /// All kinds.
    package static let all = FeedTopics(rawValue: 1 << Int64(words.count) - 1)

    /// `nil` if a word is unknown.
    package init?(words: [String]) {
        var topics: FeedTopics = []
        for word in words {
            guard let bit = Self.words.firstIndex(of: word) else { return nil }
            topics.insert(FeedTopics(rawValue: 1 << Int64(bit)))
        }
        self = topics
    }

    /// The words of its topics in requests and answers.
    package var words: [String] {
        Self.words.enumerated().filter { rawValue >> Int64($0.offset) & 1 == 1 }.map(\.element)
    }
}

/// A webhook's URL and signing secret. Both give access to the receiver.
package struct WebhookTarget: Hashable, Sendable {
    /// The URL to post to, with https or on this machine.
    package let url: String
    /// The key that signs messages, 32 bytes.
    package let secret: [UInt8]

    package init(url: String, secret: [UInt8]) { (self.url, self.secret) = (url, secret) }

    /// The URL without its path, which may hold a secret of the receiver.
    package var origin: String {
        url.split(separator: "/", omittingEmptySubsequences: false).prefix(3).joined(separator: "/")
    }
}

/// The place of an item in the feed: the event behind it, and its index among that event's items, from 0.
package struct FeedPlace: Hashable, Sendable, Comparable {
    /// The number of the event, and the item's place among those of the event.
    package let number, ordinal: Int64

    package init(number: Int64, ordinal: Int64) { (self.number, self.ordinal) = (number, ordinal) }

    package static func < (a: FeedPlace, b: FeedPlace) -> Bool { (a.number, a.ordinal) < (b.number, b.ordinal) }
}

/// A message that was given up, because the target accepted none of its tries.
package struct WebhookFailure: Hashable, Sendable {
    /// The content of the message.
    package struct Message: Hashable, Sendable {
        /// The read that is recorded for it.
        package let question: LocationRead.Question
        /// The JSON that was posted.
        package let body: [UInt8]

        package init(question: LocationRead.Question, body: [UInt8]) { (self.question, self.body) = (question, body) }
    }

    /// The webhook whose message failed.
    package let webhook: WebhookID
    /// The item that the message was about.
    package let item: FeedPlace
    /// The number of tries.
    package let tries: Int64
    /// The HTTP status of the last answer; `nil` if there was none.
    package let status: Int64?
    /// Why there was no answer, in one word.
    package let reason: String?
    /// The message as it was posted, sealed under the person's key.
    package let message: Part<Message>

    package init(
        webhook: WebhookID, item: FeedPlace, tries: Int64, status: Int64?, reason: String?, message: Part<Message>
    ) {
        (self.webhook, self.item, self.tries) = (webhook, item, tries)
        (self.status, self.reason, self.message) = (status, reason, message)
    }

    /// The target wants nothing more (RFC 9110, section 15.5.11).
    package static let gone: Int64 = 410
}

/// A message or dead letter that a webhook no longer has to post.
package enum WebhookSettlement: Hashable, Sendable {
    /// The target has accepted everything up to this event.
    case told(upTo: Int64)
    /// The target has accepted a message that had been given up.
    case taken(DeadLetterID)
    /// The person no longer wants the message.
    case discarded(DeadLetterID)
}
