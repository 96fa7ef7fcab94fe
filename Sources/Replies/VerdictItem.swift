/// The decision about a question.
package struct VerdictItem: Reply, Hashable {
    /// `own`, `operator`, `granted` or `refused`.
    package var verdict: String
    /// The grant that permitted it.
    package var grant: Reference?
    /// Of a refusal.
    package var reason: String?

    package init(verdict: String, grant: Reference? = nil, reason: String? = nil) {
        (self.verdict, self.grant, self.reason) = (verdict, grant, reason)
    }

    package static var invented: Self {
        Self(verdict: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("verdict", .words(["own", "operator", "granted", "refused"]), &verdict)
        try members.optional("grant", &grant)
        try members.optional("reason", &reason)
    }
}
