// The items of a person's feed, as live streams and webhooks give them.

/// The members with which the items about an event begin.
package struct FeedHead: Reply, Hashable {
    package var number: Reference
    package var at: Moment

    package init(number: Reference, at: Moment) { (self.number, self.at) = (number, at) }

    package static var invented: Self { Self(number: .invented, at: .invented) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("number", &number)
        try members.required("at", &at)
    }
}

/// A location query about the person.
package struct FeedQueryItem: Reply, Hashable {
    package var head: FeedHead
    package var query: String
    /// `nil` for an erased person.
    package var requester: String?
    /// `nil` if it is erased.
    package var purpose: String?
    package var verdict: VerdictItem
    package var deadline: Moment

    package init(
        head: FeedHead, query: String, requester: String?, purpose: String?, verdict: VerdictItem, deadline: Moment
    ) {
        (self.head, self.query, self.requester) = (head, query, requester)
        (self.purpose, self.verdict, self.deadline) = (purpose, verdict, deadline)
    }

    package static var invented: Self {
        Self(
            head: .invented, query: .invented, requester: nil, purpose: nil, verdict: .invented, deadline: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try head.visit(&members)
        try members.required("query", .uuid, &query)
        try members.optional("requester", &requester)
        try members.optional("purpose", &purpose)
        try verdict.visit(&members)
        try members.required("deadline", &deadline)
    }
}

/// A step of the consent to a query.
package struct FeedConsentItem: Reply, Hashable {
    package var head: FeedHead
    package var query: String
    package var consent: String

    package init(head: FeedHead, query: String, consent: String) {
        (self.head, self.query, self.consent) = (head, query, consent)
    }

    package static var invented: Self { Self(head: .invented, query: .invented, consent: .invented) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try head.visit(&members)
        try members.required("query", .uuid, &query)
        try members.required("consent", .words(["asked", "given", "refused"]), &consent)
    }
}

/// A device that has sent no fix for as long as a webhook chose.
package struct FeedSilenceItem: Reply, Hashable {
    package var head: FeedHead
    package var device: String?
    /// Seconds.
    package var after: Int64
    /// When its last fix was recorded.
    package var since: Moment

    package init(head: FeedHead, device: String?, after: Int64, since: Moment) {
        (self.head, self.device, self.after, self.since) = (head, device, after, since)
    }

    package static var invented: Self { Self(head: .invented, device: nil, after: .invented, since: .invented) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try head.visit(&members)
        try members.optional("device", &device)
        try members.required("after", .integer, &after)
        try members.required("since", &since)
    }
}

/// An attempt to wake a device for a query, or the reason why there was none.
package struct FeedPushItem: Reply, Hashable {
    package var head: FeedHead
    package var query: String
    /// `nil` for an erased person, and for a query without a device.
    package var device: String?
    /// From 1; 0 for a push that did not leave.
    package var attempt: Int64
    package var outcome: String
    package var status: Int64?
    package var reason: String?

    package init(
        head: FeedHead, query: String, device: String? = nil, attempt: Int64, outcome: String, status: Int64? = nil,
        reason: String? = nil
    ) {
        (self.head, self.query, self.device, self.attempt) = (head, query, device, attempt)
        (self.outcome, self.status, self.reason) = (outcome, status, reason)
    }

    package static var invented: Self {
        Self(head: .invented, query: .invented, attempt: .invented, outcome: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try head.visit(&members)
        try members.required("query", .uuid, &query)
        try members.optional("device", &device)
        try members.required("attempt", &attempt)
        try members.required("outcome", .named("PushOutcome"), &outcome)
        try members.optional("status", &status)
        try members.optional("reason", &reason)
    }
}

/// The end of a query.
package struct FeedEndItem: Reply, Hashable {
    package var head: FeedHead
    package var query: String
    package var end: String

    package init(head: FeedHead, query: String, end: String) {
        (self.head, self.query, self.end) = (head, query, end)
    }

    package static var invented: Self { Self(head: .invented, query: .invented, end: .invented) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try head.visit(&members)
        try members.required("query", .uuid, &query)
        try members.required("end", &end)
    }
}

/// The location shown in answer to a query.
package struct FeedDisclosureItem: Reply, Hashable {
    package var head: FeedHead
    package var query: String
    /// `nil` for an erased person.
    package var requester: String?
    package var precision: String
    /// `nil` if it is erased, as is ``place``.
    package var at: MapPoint?
    package var place: String?

    package init(
        head: FeedHead, query: String, requester: String?, precision: String, at: MapPoint?, place: String?
    ) {
        (self.head, self.query, self.requester) = (head, query, requester)
        (self.precision, self.at, self.place) = (precision, at, place)
    }

    package static var invented: Self {
        Self(head: .invented, query: .invented, requester: nil, precision: .invented, at: nil, place: nil)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try head.visit(&members)
        try members.required("query", .uuid, &query)
        try members.optional("requester", &requester)
        try members.required("precision", .named("Precision"), &precision)
        try members.optionalPoint(&at)
        try members.optional("place", &place)
    }
}

/// A read of the person's stored data.
package struct FeedReadItem: Reply, Hashable {
    package var head: FeedHead
    /// `nil` for an erased person.
    package var reader: String?
    /// The data, for example `track`.
    package var question: String
    package var purpose: String?
    package var verdict: VerdictItem
    package var precision: String
    package var count: Int64

    package init(
        head: FeedHead, reader: String?, question: String, purpose: String?, verdict: VerdictItem, precision: String,
        count: Int64
    ) {
        (self.head, self.reader, self.question, self.purpose) = (head, reader, question, purpose)
        (self.verdict, self.precision, self.count) = (verdict, precision, count)
    }

    package static var invented: Self {
        Self(
            head: .invented, reader: nil, question: .invented, purpose: nil, verdict: .invented,
            precision: .invented, count: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try head.visit(&members)
        try members.optional("reader", &reader)
        try members.required("question", &question)
        try members.optional("purpose", &purpose)
        try verdict.visit(&members)
        try members.required("precision", .named("Precision"), &precision)
        try members.required("count", &count)
    }
}

/// A change of the person's settings or of a right to their data; the audit has its details.
package struct FeedChangeItem: Reply, Hashable {
    package var head: FeedHead
    /// For example `GrantGiven`.
    package var event: String
    /// `nil` for an erased person.
    package var actor: String?

    package init(head: FeedHead, event: String, actor: String?) {
        (self.head, self.event, self.actor) = (head, event, actor)
    }

    package static var invented: Self { Self(head: .invented, event: .invented, actor: nil) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try head.visit(&members)
        try members.required("event", &event)
        try members.optional("actor", &actor)
    }
}

/// A report of the person's device that was rejected.
package struct FeedRejectedItem: Reply, Hashable {
    package var head: FeedHead
    /// `nil` if it is erased.
    package var device: String?
    package var reason: String
    /// A sentence for people.
    package var detail: String
    /// Its beginning.
    package var text: String?
    /// The app's name for itself.
    package var app: String?
    package var lastContact: Moment
    package var lastFix: Moment?

    package init(
        head: FeedHead, device: String?, reason: String, detail: String, text: String?, app: String?,
        lastContact: Moment, lastFix: Moment?
    ) {
        (self.head, self.device, self.reason, self.detail) = (head, device, reason, detail)
        (self.text, self.app, self.lastContact, self.lastFix) = (text, app, lastContact, lastFix)
    }

    package static var invented: Self {
        Self(
            head: .invented, device: nil, reason: .invented, detail: .invented, text: nil, app: nil,
            lastContact: .invented, lastFix: nil)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try head.visit(&members)
        try members.optional("device", &device)
        try members.required("reason", &reason)
        try members.required("detail", &detail)
        try members.optional("text", &text)
        try members.optional("app", &app)
        try members.required("lastContact", &lastContact)
        try members.optional("lastFix", &lastFix)
    }
}

/// A visit or crossing of the timeline, with the event from which it follows.
package struct FeedTimelineItem<Item: Reply>: Reply {
    package var number: Reference
    /// Whether an earlier item of this content no longer holds; absent otherwise.
    package var isWithdrawn: Bool?
    package var item: Item

    package init(number: Reference, isWithdrawn: Bool, item: Item) {
        (self.number, self.item) = (number, item)
        self.isWithdrawn = isWithdrawn ? true : nil
    }

    package static var invented: Self { Self(number: .invented, isWithdrawn: false, item: .invented) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("number", &number)
        try members.optional("withdrawn", &isWithdrawn)
        try item.visit(&members)
    }
}

/// The state of a query that the person has asked, without its answer.
package struct FeedAskedItem: Reply, Hashable {
    package var query: String
    /// `nil` for an erased person.
    package var subject: String?
    package var status: String
    /// Where its answer is.
    package var url: String

    package init(query: String, subject: String?, status: String, url: String) {
        (self.query, self.subject, self.status, self.url) = (query, subject, status, url)
    }

    package static var invented: Self {
        Self(query: .invented, subject: nil, status: .invented, url: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("query", .uuid, &query)
        try members.optional("subject", &subject)
        try members.required("status", .named("LocationQueryStatus"), &status)
        try members.required("url", &url)
    }
}
