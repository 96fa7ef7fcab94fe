/// The kinds of items in a person's feed, each with its name in the feed.
package struct FeedTopics: OptionSet, Hashable, Sendable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// In the order of their bits, which are stored.
    package static let words = [
        "query", "consent", "push", "end", "disclosure", "read", "change", "finding", "visit", "crossing", "silence",
    ]
    /// Visits.
    package static let visit = FeedTopics(rawValue: 1 << 8)
    /// Crossings.
    package static let crossing = FeedTopics(rawValue: 1 << 9)
    /// Devices that have not reported for a time that the webhook chooses.
    package static let silence = FeedTopics(rawValue: 1 << 10)
    /// All kinds.
    package static let all = FeedTopics(rawValue: 1 << Int64(words.count) - 1)
    /// All topics that need no other setting; silence needs a length.
    package static let usual = all.subtracting(.silence)

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

/// The way in which a webhook delivers its messages, if it does not post signed JSON.
package enum NoticeKind: Int64, Sendable, CaseIterable {
    /// Posts a text with a title to a topic of an ntfy server (docs.ntfy.sh/publish).
    case ntfy = 1
    /// Mails a text to a confirmed address.
    case email = 2
    /// Keeps a device tracker of Home Assistant up to date at the MQTT broker. It has no messages of topics.
    case homeAssistant = 3

    /// The word in requests and answers.
    package var word: String { String(describing: self) }
    /// The word for a webhook that posts signed JSON.
    package static let signedWord = "webhook"
    /// The words of all kinds, with ``signedWord`` first.
    package static let words = [signedWord] + allCases.map(\.word)
}

/// How the texts of a notice are written.
package struct NoticeWording: Hashable, Sendable {
    /// The language of the texts.
    package enum Language: Int64, Sendable, CaseIterable {
        case en = 1
        case de = 2

        /// The word in requests and answers.
        package var word: String { String(describing: self) }
        /// The words of all languages.
        package static let words = allCases.map(\.word)
    }

    package let language: Language
    /// The IANA name of the zone of all times, for example `Europe/Vienna`; `nil` for the zone of the place that a
    /// message is about, and UTC for a message without one.
    package let zone: String?

    package init(language: Language, zone: String?) { (self.language, self.zone) = (language, zone) }
}

/// The settings of a webhook in addition to its topics.
package struct NoticeTerms: Hashable, Sendable {
    /// `nil` for signed JSON.
    package let kind: NoticeKind?
    /// After how many seconds without a fix a device counts as silent, within ``Limits/silenceSeconds``; `nil` without
    /// the topic ``FeedTopics/silence``.
    package let silentAfterSeconds: Int64?
    /// The SHA-256 of the code that is mailed first; until the person shows it, nothing else is mailed. `nil` for other
    /// kinds.
    package let codeHash: Hash256?

    package init(kind: NoticeKind? = nil, silentAfterSeconds: Int64? = nil, codeHash: Hash256? = nil) {
        (self.kind, self.silentAfterSeconds, self.codeHash) = (kind, silentAfterSeconds, codeHash)
    }
}

/// A webhook's URL and secret. Both give access to the receiver.
package struct WebhookTarget: Hashable, Sendable {
    /// The URL to post to, with https or on this machine; `mailto:` and the address for mail.
    package let url: String
    /// The key that signs messages, 32 bytes; for ntfy the access token in UTF-8, or no bytes; for mail the key of the
    /// code that confirms the address.
    package let secret: [UInt8]
    /// The priority of ntfy, 1 to 5; `nil` for the priority of each topic.
    package let priority: Int64?
    /// Whether the title of a message has its details. Mail servers and lock screens show titles.
    package let showsDetailInTitle: Bool
    /// The language and zone of its texts; `nil` for English with times in UTC, and for messages without texts.
    package let wording: NoticeWording?

    package init(
        url: String, secret: [UInt8], priority: Int64? = nil, showsDetailInTitle: Bool = false,
        wording: NoticeWording? = nil
    ) {
        (self.url, self.secret, self.priority) = (url, secret, priority)
        (self.showsDetailInTitle, self.wording) = (showsDetailInTitle, wording)
    }

    /// The URL without its path, which may hold a secret of the receiver. Of an address only `mailto:`.
    package var origin: String {
        guard !url.hasPrefix("mailto:") else { return "mailto:" }
        return url.split(separator: "/", omittingEmptySubsequences: false).prefix(3).joined(separator: "/")
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
