/// A share link, without its secret.
package struct LinkItem: Reply, Hashable {
    package var id: Reference
    /// The requester's name in the person's audit, for example `link 2 (for the party)`.
    package var name: String
    /// `open`, `used` or `ended`.
    package var state: String
    /// Whether a viewer may look until the link ends; otherwise ten minutes after each opening.
    package var isLive: Bool
    package var hasPassphrase: Bool
    /// How often it was opened.
    package var opened: Int64
    /// `nil` once the link has ended.
    package var precision: String?
    package var history: Bool?
    package var from: Moment?
    package var until: Moment?
    /// How often it can be opened; `nil` for any number of times.
    package var openings: Int64?
    package var lastOpened: Moment?

    package init(id: Reference, name: String, state: String, isLive: Bool, hasPassphrase: Bool, opened: Int64) {
        (self.id, self.name, self.state) = (id, name, state)
        (self.isLive, self.hasPassphrase, self.opened) = (isLive, hasPassphrase, opened)
    }

    package static var invented: Self {
        Self(
            id: .invented, name: .invented, state: .invented, isLive: .invented, hasPassphrase: .invented,
            opened: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("id", &id)
        try members.required("name", &name)
        try members.required("state", .words(["open", "used", "ended"]), &state)
        try members.optional("precision", .named("Precision"), &precision)
        try members.optional("history", &history)
        try members.optional("from", &from)
        try members.optional("until", &until)
        try members.required("live", &isLive)
        try members.required("passphrase", &hasPassphrase)
        try members.required("opened", &opened)
        try members.optional("openings", &openings)
        try members.optional("lastOpened", &lastOpened)
    }
}

/// A new share link with its secret, which is shown once.
package struct MadeLink: Reply, Hashable {
    package var id: Reference
    /// As ``LinkItem/name``.
    package var name: String
    /// `wl_` and 43 characters; part of ``path``.
    package var secret: String
    /// The path of the address, with the secret in its fragment.
    package var path: String
    /// The end of the link.
    package var until: Moment

    package init(id: Reference, name: String, secret: String, path: String, until: Moment) {
        (self.id, self.name, self.secret, self.path, self.until) = (id, name, secret, path, until)
    }

    package static var invented: Self {
        Self(id: .invented, name: .invented, secret: .invented, path: .invented, until: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("id", &id)
        try members.required("name", &name)
        try members.required("secret", &secret)
        try members.required("path", &path)
        try members.required("until", &until)
    }
}

/// The rights of a viewer who has opened a share link.
package struct OpenedLink: Reply, Hashable {
    /// The token, which reads the person's location as the link.
    package var token: String
    /// The end of the token.
    package var until: Moment
    /// The handle of the person.
    package var person: String
    package var precision: String
    package var history: Bool
    package var isLive: Bool

    package init(token: String, until: Moment, person: String, precision: String, history: Bool, isLive: Bool) {
        (self.token, self.until, self.person) = (token, until, person)
        (self.precision, self.history, self.isLive) = (precision, history, isLive)
    }

    package static var invented: Self {
        Self(
            token: .invented, until: .invented, person: .invented, precision: .invented, history: .invented,
            isLive: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("token", &token)
        try members.required("until", &until)
        try members.required("person", .named("Handle"), &person)
        try members.required("precision", .named("Precision"), &precision)
        try members.required("history", &history)
        try members.required("live", &isLive)
    }
}
