/// A webhook of a person, without its secret.
package struct WebhookItem: Reply, Hashable {
    package var id: Reference
    /// How messages are handed over.
    package var kind: String
    /// `nil` if it is erased. Of an address `mailto:` and the address.
    package var url: String?
    package var topics: [String]
    /// The length of the silences that it reports, in seconds.
    package var silentAfter: Int64?
    /// The token with whose rights it acts.
    package var token: Reference
    /// `active`, `unconfirmed`, `retrying`, `silent` or `stopped`.
    package var state: String
    /// The place up to which messages were posted.
    package var told: Reference
    /// The number of messages that were given up and not settled; 100 stop the webhook.
    package var deadLetters: Int64
    /// The tries of the present message; `nil` if it is not being retried.
    package var tries: Int64?
    /// Of the target's last answer.
    package var status: Int64?
    package var reason: String?
    package var nextTry: Moment?
    /// When the last test message was asked for; `nil` without one.
    package var testedAt: Moment?
    /// `waiting`, `delivered` or `givenUp`.
    package var testOutcome: String?
    /// The language of its texts; `nil` for English with times in UTC, and for messages without texts.
    package var language: String?
    /// The IANA name of the zone of its times; `nil` for the zone of each message's place.
    package var zone: String?

    package init(
        id: Reference, kind: String, url: String? = nil, topics: [String], silentAfter: Int64? = nil, token: Reference,
        state: String, told: Reference, deadLetters: Int64, tries: Int64? = nil, status: Int64? = nil,
        reason: String? = nil, nextTry: Moment? = nil, testedAt: Moment? = nil, testOutcome: String? = nil,
        language: String? = nil, zone: String? = nil
    ) {
        (self.id, self.kind, self.url, self.topics, self.token) = (id, kind, url, topics, token)
        self.silentAfter = silentAfter
        (self.state, self.told, self.deadLetters, self.tries) = (state, told, deadLetters, tries)
        (self.status, self.reason, self.nextTry) = (status, reason, nextTry)
        (self.testedAt, self.testOutcome, self.language, self.zone) = (testedAt, testOutcome, language, zone)
    }

    package static var invented: Self {
        Self(
            id: .invented, kind: .invented, topics: .invented, token: .invented, state: .invented, told: .invented,
            deadLetters: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("id", &id)
        try members.required("kind", .words(["webhook", "ntfy", "email", "homeAssistant"]), &kind)
        try members.optional("url", &url)
        try members.required("topics", .list(.named("Topic")), &topics)
        try members.optional("silentAfter", &silentAfter)
        try members.required("token", &token)
        try members.required("state", .words(["active", "unconfirmed", "retrying", "stopped", "silent"]), &state)
        try members.required("told", &told)
        try members.required("deadLetters", &deadLetters)
        try members.optional("tries", &tries)
        try members.optional("status", &status)
        try members.optional("reason", &reason)
        try members.optional("nextTry", &nextTry)
        try members.optional("testedAt", &testedAt)
        try members.optional("testOutcome", .words(["waiting", "delivered", "givenUp"]), &testOutcome)
        try members.optional("language", .words(["en", "de"]), &language)
        try members.optional("zone", .timeZone, &zone)
    }
}

/// A message that was given up.
package struct DeadLetterItem: Reply, Hashable {
    package var id: Reference
    /// The header `webhook-id` of the message.
    package var message: String
    package var failedAt: Moment?
    package var tries: Int64?
    /// The HTTP status of the last try; `nil` without an answer.
    package var status: Int64?
    package var reason: String?

    package init(
        id: Reference, message: String, failedAt: Moment? = nil, tries: Int64? = nil, status: Int64? = nil,
        reason: String? = nil
    ) {
        (self.id, self.message, self.failedAt, self.tries) = (id, message, failedAt, tries)
        (self.status, self.reason) = (status, reason)
    }

    package static var invented: Self {
        Self(id: .invented, message: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("id", &id)
        try members.required("message", &message)
        try members.optional("failedAt", &failedAt)
        try members.optional("tries", &tries)
        try members.optional("status", &status)
        try members.optional("reason", &reason)
    }
}
