/// A refusal or fault (RFC 9457); a proxy's may lack any member.
package struct ProblemReply: Reply, Hashable {
    package var title: String?
    /// The remedy, in one sentence.
    package var detail: String?

    package init(title: String? = nil, detail: String? = nil) {
        (self.title, self.detail) = (title, detail)
    }

    package static var invented: Self {
        Self()
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.optional("title", &title)
        try members.optional("detail", &detail)
    }
}
