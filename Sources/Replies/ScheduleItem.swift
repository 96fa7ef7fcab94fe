/// A schedule by which the service asks where a person is.
package struct ScheduleItem: Reply, Hashable {
    package var id: Reference
    /// From 900 to 86,400.
    package var everySeconds: Int64
    package var until: Moment?
    /// When the service asks next, unless a fix is recent enough.
    package var next: Moment

    package init(id: Reference, everySeconds: Int64, until: Moment? = nil, next: Moment) {
        (self.id, self.everySeconds, self.until, self.next) = (id, everySeconds, until, next)
    }

    package static var invented: Self {
        Self(id: .invented, everySeconds: .invented, next: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("id", &id)
        try members.required("everySeconds", &everySeconds)
        try members.optional("until", &until)
        try members.required("next", &next)
    }
}
