/// An open invitation to an account, without its code.
package struct AccountInvitationItem: Reply, Hashable {
    /// The id with which the inviter withdraws it.
    package var id: Reference
    /// After this time the code opens no account; at most a week after the invitation.
    package var expires: Moment

    package init(id: Reference, expires: Moment) {
        (self.id, self.expires) = (id, expires)
    }

    package static var invented: Self {
        Self(id: .invented, expires: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("id", &id)
        try members.required("expires", &expires)
    }
}
