/// A conspicuous pattern of questions about a person.
package struct FindingItem: Reply, Hashable {
    /// The name of the pattern, for example `nights`.
    package var pattern: String
    /// `nil` for an erased person.
    package var requester: String?
    /// The first step.
    package var from: Moment
    /// The last step.
    package var to: Moment
    /// The number of steps, for example of questions at night.
    package var count: Int64
    /// The last event.
    package var number: Reference
    /// The zone that defines night; only of `nights`.
    package var timeZone: String?

    package init(
        pattern: String, requester: String? = nil, from: Moment, to: Moment, count: Int64, number: Reference,
        timeZone: String? = nil
    ) {
        (self.pattern, self.requester, self.from, self.to) = (pattern, requester, from, to)
        (self.count, self.number, self.timeZone) = (count, number, timeZone)
    }

    package static var invented: Self {
        Self(pattern: .invented, from: .invented, to: .invented, count: .invented, number: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("pattern", .words(["polling", "clockwork", "nights", "coarse", "refused"]), &pattern)
        try members.nullable("requester", &requester)
        try members.required("from", &from)
        try members.required("to", &to)
        try members.required("count", &count)
        try members.required("number", &number)
        try members.optional("timeZone", .timeZone, &timeZone)
    }
}
