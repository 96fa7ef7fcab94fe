/// The members that every entry of an audit has.
package struct EntryHead: Reply, Hashable {
    /// A word that this version does not know, for example of a later service.
    package var kind: String
    package var at: Moment

    package init(kind: String, at: Moment) {
        (self.kind, self.at) = (kind, at)
    }

    package static var invented: Self {
        Self(kind: .invented, at: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("kind", &kind)
        try members.required("at", &at)
    }
}
