/// What a person's feed tells, each kind under the name that an item of it has.
package struct FeedTopics: OptionSet, Hashable, Sendable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// In the order of their bits, which are stored.
    package static let words = [
        "query", "consent", "push", "end", "disclosure", "read", "change", "finding", "visit", "crossing",
    ]
    package static let visit = FeedTopics(rawValue: 1 << 8)
    package static let crossing = FeedTopics(rawValue: 1 << 9)
    package static let all = FeedTopics(rawValue: 1 << Int64(words.count) - 1)

    /// `nil` for a word that stands for none.
    package init?(words: [String]) {
        var topics: FeedTopics = []
        for word in words {
            guard let bit = Self.words.firstIndex(of: word) else { return nil }
            topics.insert(FeedTopics(rawValue: 1 << Int64(bit)))
        }
        self = topics
    }

    package var words: [String] {
        Self.words.enumerated().filter { rawValue >> Int64($0.offset) & 1 == 1 }.map(\.element)
    }
}

/// Where a webhook posts to, and with what it signs: both open doors at the receiver's.
package struct WebhookTarget: Hashable, Sendable {
    package let url: String
    package let secret: [UInt8]

    package init(url: String, secret: [UInt8]) { (self.url, self.secret) = (url, secret) }

    /// The URL without its path, in which receivers hide secrets of their own.
    package var origin: String {
        url.split(separator: "/", omittingEmptySubsequences: false).prefix(3).joined(separator: "/")
    }
}

/// One item of the feed by the event that brought it, and which of that event's items it is, from 0.
package struct FeedPlace: Hashable, Sendable, Comparable {
    package let number, ordinal: Int64

    package init(number: Int64, ordinal: Int64) { (self.number, self.ordinal) = (number, ordinal) }

    package static func < (a: FeedPlace, b: FeedPlace) -> Bool { (a.number, a.ordinal) < (b.number, b.ordinal) }
}

/// A message that was given up: its target took none of the tries.
package struct WebhookFailure: Hashable, Sendable {
    /// What was to be posted.
    package struct Message: Hashable, Sendable {
        /// What reading it is recorded as.
        package let question: LocationRead.Question
        package let body: [UInt8]

        package init(question: LocationRead.Question, body: [UInt8]) { (self.question, self.body) = (question, body) }
    }

    package let webhook: WebhookID
    package let item: FeedPlace
    package let tries: Int64
    /// Of the last answer; `nil` when there was none.
    package let status: Int64?
    /// Why there was none, in a word.
    package let reason: String?
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

/// What need not be told by a webhook any more.
package enum WebhookSettlement: Hashable, Sendable {
    /// The target took everything up to this event.
    case told(upTo: Int64)
    /// It took a message after all that had failed.
    case taken(DeadLetterID)
    /// The person wants it no more.
    case discarded(DeadLetterID)
}
