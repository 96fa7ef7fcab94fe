/// A location query that has begun.
package struct StartedQuery: Reply, Hashable {
    /// The query's UUID.
    package var id: String
    /// Always `pending`.
    package var status: String
    /// Where its answer is.
    package var url: String

    package init(id: String, status: String, url: String) {
        (self.id, self.status, self.url) = (id, status, url)
    }

    package static var invented: Self {
        Self(id: .invented, status: .invented, url: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("id", .uuid, &id)
        try members.required("status", .named("LocationQueryStatus"), &status)
        try members.required("url", &url)
    }
}
