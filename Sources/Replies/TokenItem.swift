/// A valid token, without the token itself.
package struct TokenItem: Reply, Hashable {
    /// The id with which the token is revoked.
    package var id: Reference
    /// Among `report`, `query`, `audit`, `manage`, `operate`, `session` and `sign-in`.
    package var scopes: [String]
    /// `nil` for a token without an end.
    package var until: Moment?
    /// `nil` for a token of the person.
    package var device: String?

    package init(id: Reference, scopes: [String], until: Moment? = nil, device: String? = nil) {
        (self.id, self.scopes, self.until, self.device) = (id, scopes, until, device)
    }

    package static var invented: Self {
        Self(id: .invented, scopes: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("id", &id)
        try members.required("scopes", &scopes)
        try members.optional("until", &until)
        try members.optional("device", .handle, &device)
    }
}
