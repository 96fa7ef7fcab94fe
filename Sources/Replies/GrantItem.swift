/// A right to ask where a person is.
package struct GrantItem: Reply, Hashable {
    package var id: Reference
    /// The handle that may ask, whether or not it is a person's.
    package var requester: String?
    package var terms: TermsItem

    package init(id: Reference, requester: String? = nil, terms: TermsItem) {
        (self.id, self.requester, self.terms) = (id, requester, terms)
    }

    package static var invented: Self {
        Self(id: .invented, terms: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("id", &id)
        try members.nullable("requester", &requester)
        try terms.visit(&members)
    }
}

/// An open invitation, without its code.
package struct InvitationItem: Reply, Hashable {
    package var id: Reference
    package var expires: Moment
    package var terms: TermsItem

    package init(id: Reference, expires: Moment, terms: TermsItem) {
        (self.id, self.expires, self.terms) = (id, expires, terms)
    }

    package static var invented: Self {
        Self(id: .invented, expires: .invented, terms: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("id", &id)
        try members.required("expires", &expires)
        try terms.visit(&members)
    }
}

/// The grant that a caller got by a code.
package struct RedeemedItem: Reply, Hashable {
    package var id: Reference
    /// The person who gave it.
    package var subject: String
    package var terms: TermsItem

    package init(id: Reference, subject: String, terms: TermsItem) {
        (self.id, self.subject, self.terms) = (id, subject, terms)
    }

    package static var invented: Self {
        Self(id: .invented, subject: .invented, terms: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("id", &id)
        try members.required("subject", .handle, &subject)
        try terms.visit(&members)
    }
}

/// The terms of a grant or an invitation.
package struct TermsItem: Reply, Hashable {
    /// `exact`, `kilometer`, `city`, `place` or `none`.
    package var precision: String
    /// Whether the past may be read.
    package var history: Bool
    /// Whether the subject must consent to each question.
    package var asksEachTime: Bool
    package var from: Moment?
    /// Every grant has an end; an invitation without one gives the default length from its redemption.
    package var until: Moment?
    package var hours: HoursItem?

    package init(
        precision: String, history: Bool, asksEachTime: Bool, from: Moment? = nil, until: Moment? = nil,
        hours: HoursItem? = nil
    ) {
        (self.precision, self.history, self.asksEachTime, self.from) = (precision, history, asksEachTime, from)
        (self.until, self.hours) = (until, hours)
    }

    package static var invented: Self {
        Self(precision: .invented, history: .invented, asksEachTime: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("precision", .named("Precision"), &precision)
        try members.required("history", &history)
        try members.required("asksEachTime", &asksEachTime)
        try members.optional("from", &from)
        try members.optional("until", &until)
        try members.optional("hours", &hours)
    }
}

/// The hours in which a grant is valid.
package struct HoursItem: Reply, Hashable {
    /// A name of the IANA database, for example `Europe/Vienna`.
    package var timeZone: String
    /// For example `Mo-Fr 08:00-18:00`.
    package var weekly: String

    package init(timeZone: String, weekly: String) {
        (self.timeZone, self.weekly) = (timeZone, weekly)
    }

    package static let schema: String? = "WeeklyHours"

    package static var invented: Self {
        Self(timeZone: .invented, weekly: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("timeZone", .timeZone, &timeZone)
        try members.required("weekly", &weekly)
    }
}

/// A pause of a person's sharing.
package struct PauseItem: Reply, Hashable {
    package var from: Moment
    /// `nil` until it is ended.
    package var until: Moment?
    /// Whether the person is in this pause now; the member `now`.
    package var isPresent: Bool

    package init(from: Moment, until: Moment? = nil, isPresent: Bool) {
        (self.from, self.until, self.isPresent) = (from, until, isPresent)
    }

    package static var invented: Self {
        Self(from: .invented, isPresent: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("from", &from)
        try members.optional("until", &until)
        try members.required("now", &isPresent)
    }
}

/// A question that waits for the subject's consent.
package struct ConsentRequestItem: Reply, Hashable {
    /// The query's UUID, with which it is answered.
    package var query: String
    package var requester: String?
    package var purpose: String?
    /// Without an answer by then, the query ends.
    package var deadline: Moment

    package init(query: String, requester: String? = nil, purpose: String? = nil, deadline: Moment) {
        (self.query, self.requester, self.purpose, self.deadline) = (query, requester, purpose, deadline)
    }

    package static var invented: Self {
        Self(query: .invented, deadline: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("query", .uuid, &query)
        try members.optional("requester", &requester)
        try members.optional("purpose", &purpose)
        try members.required("deadline", &deadline)
    }
}
