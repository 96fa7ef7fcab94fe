package import JSON

/// A location query that a person made.
package struct AskedQueryItem: Reply, Hashable {
    /// `query`.
    package var kind: String
    /// The event, as the caller sees it; the same in every answer.
    package var number: Reference
    /// The query's UUID, as in its `url`.
    package var id: String
    /// When the question was recorded.
    package var at: Moment
    /// `nil` if the answer was that there is no such person.
    package var subject: PersonName?
    package var purpose: String?
    /// `user` or `server`.
    package var initiation: String
    /// The end of a query without an answer.
    package var deadline: Moment
    /// `pending`, `answered`, `answeredFromLastKnown`, `noAnswer` or `noSuchPerson`.
    package var status: String
    /// One entry for each answer that showed the location, oldest first; usually one.
    package var shown: [AskedAnswerItem]

    package init(
        kind: String, number: Reference, id: String, at: Moment, subject: PersonName? = nil, purpose: String? = nil,
        initiation: String, deadline: Moment, status: String, shown: [AskedAnswerItem]
    ) {
        (self.kind, self.number, self.id, self.at) = (kind, number, id, at)
        (self.subject, self.purpose, self.initiation, self.deadline) = (subject, purpose, initiation, deadline)
        (self.status, self.shown) = (status, shown)
    }

    package static var invented: Self {
        Self(
            kind: .invented, number: .invented, id: .invented, at: .invented, initiation: .invented,
            deadline: .invented, status: .invented, shown: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("kind", &kind)
        try members.required("number", &number)
        try members.required("id", .uuid, &id)
        try members.required("at", &at)
        try members.optional("subject", &subject)
        try members.optional("purpose", &purpose)
        try members.required("initiation", .words(["user", "server"]), &initiation)
        try members.required("deadline", &deadline)
        try members.required("status", &status)
        try members.required("shown", &shown)
    }
}

/// A read of another person's data.
package struct AskedReadItem: Reply, Hashable {
    /// `read`.
    package var kind: String
    package var number: Reference
    package var at: Moment
    /// As in ``AskedQueryItem``.
    package var subject: PersonName?
    /// The kind of data, for example `visits`.
    package var question: String
    package var purpose: String?
    /// The asked range; an open end is `nil`.
    package var from: Moment?
    package var to: Moment?
    /// `shown` or `noSuchPerson`.
    package var status: String
    /// `exact`, `kilometer`, `city` or `place`; `nil` for a refusal.
    package var precision: String?
    /// The number of rows that were shown; `nil` for a refusal.
    package var count: Int64?
    /// Of the answer, hexadecimal.
    package var sha256: String?

    package init(
        kind: String, number: Reference, at: Moment, subject: PersonName? = nil, question: String,
        purpose: String? = nil, from: Moment? = nil, to: Moment? = nil, status: String, precision: String? = nil,
        count: Int64? = nil, sha256: String? = nil
    ) {
        (self.kind, self.number, self.at, self.subject) = (kind, number, at, subject)
        (self.question, self.purpose, self.from, self.to) = (question, purpose, from, to)
        (self.status, self.precision, self.count, self.sha256) = (status, precision, count, sha256)
    }

    package static var invented: Self {
        Self(kind: .invented, number: .invented, at: .invented, question: .invented, status: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("kind", &kind)
        try members.required("number", &number)
        try members.required("at", &at)
        try members.optional("subject", &subject)
        try members.required("question", &question)
        try members.optional("purpose", &purpose)
        try members.optional("from", &from)
        try members.optional("to", &to)
        try members.required("status", &status)
        try members.optional("precision", .named("Precision"), &precision)
        try members.optional("count", &count)
        try members.optional("sha256", &sha256)
    }
}

/// Refusals that were counted and not recorded one by one.
package struct AskedRefusalsItem: Reply, Hashable {
    /// `refusals`.
    package var kind: String
    package var number: Reference
    package var at: Moment
    /// When the first of them was refused.
    package var since: Moment
    /// Always `noSuchPerson`, as for each of the refusals.
    package var status: String
    /// At least 1.
    package var count: Int64

    package init(kind: String, number: Reference, at: Moment, since: Moment, status: String, count: Int64) {
        (self.kind, self.number, self.at, self.since) = (kind, number, at, since)
        (self.status, self.count) = (status, count)
    }

    package static var invented: Self {
        Self(kind: .invented, number: .invented, at: .invented, since: .invented, status: .invented, count: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("kind", &kind)
        try members.required("number", &number)
        try members.required("at", &at)
        try members.required("since", &since)
        try members.required("status", &status)
        try members.required("count", &count)
    }
}

/// An answer that the person got.
package struct AskedAnswerItem: Reply, Hashable {
    package var number: Reference
    /// When it was recorded, just before it left.
    package var at: Moment
    /// `exact`, `kilometer`, `city` or `place`.
    package var precision: String
    /// Of the answer, hexadecimal.
    package var sha256: String?

    package init(number: Reference, at: Moment, precision: String, sha256: String? = nil) {
        (self.number, self.at, self.precision, self.sha256) = (number, at, precision, sha256)
    }

    package static var invented: Self {
        Self(number: .invented, at: .invented, precision: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("number", &number)
        try members.required("at", &at)
        try members.required("precision", .named("Precision"), &precision)
        try members.optional("sha256", &sha256)
    }
}

/// An entry of the list of a person's questions. Its member `kind` names the case.
/// For example `{"kind":"refusals","count":12,…}`.
package enum AskedItem: MemberValue, Hashable {
    case query(AskedQueryItem)
    case read(AskedReadItem)
    case refusals(AskedRefusalsItem)
    /// A kind of a later version.
    case other(EntryHead)

    package static var form: MemberForm { .anyObject }

    private var entry: any Reply {
        switch self {
        case .query(let entry): entry
        case .read(let entry): entry
        case .refusals(let entry): entry
        case .other(let entry): entry
        }
    }

    package func write(into writer: inout MemberWriter) { entry.write(into: &writer) }

    package static func read(_ json: JSONValue) throws(ReplyError) -> AskedItem? {
        guard let head = try EntryHead.read(json) else { return nil }
        switch head.kind {
        case "query": return try AskedQueryItem.read(json).map(AskedItem.query)
        case "read": return try AskedReadItem.read(json).map(AskedItem.read)
        case "refusals": return try AskedRefusalsItem.read(json).map(AskedItem.refusals)
        default: return .other(head)
        }
    }
}
