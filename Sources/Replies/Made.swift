/// The event that records a change.
package struct Changed: Reply, Hashable {
    package var number: Reference

    package init(number: Reference) { self.number = number }

    package static let schema: String? = "Changed"

    package static var invented: Self { Self(number: .invented) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("number", &number)
    }
}

/// A thing that a request has made, with the event that records it.
package struct Recorded<Made: Reply>: Reply {
    package var made: Made
    package var number: Reference

    package init(_ made: Made, number: Reference) { (self.made, self.number) = (made, number) }

    package static var invented: Self { Self(.invented, number: .invented) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try made.visit(&members)
        try members.required("number", &number)
    }
}

/// The name of a thing that a request has made.
package struct MadeItem: Reply, Hashable {
    package var id: Reference

    package init(id: Reference) {
        self.id = id
    }

    package static var invented: Self {
        Self(id: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("id", &id)
    }
}

/// A grant that a request has made.
package struct MadeGrant: Reply, Hashable {
    package var id: Reference
    package var until: Moment?

    package init(id: Reference, until: Moment? = nil) {
        (self.id, self.until) = (id, until)
    }

    package static var invented: Self {
        Self(id: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("id", &id)
        try members.optional("until", &until)
    }
}

/// An invitation with its code, which is shown once.
package struct MadeInvitation: Reply, Hashable {
    package var id: Reference
    /// Shown once; the log has its hash.
    package var code: String
    package var expires: Moment

    package init(id: Reference, code: String, expires: Moment) {
        (self.id, self.code, self.expires) = (id, code, expires)
    }

    package static var invented: Self {
        Self(id: .invented, code: .invented, expires: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("id", &id)
        try members.required("code", &code)
        try members.required("expires", &expires)
    }
}

/// A token, which is shown once.
package struct IssuedToken: Reply, Hashable {
    package var id: Reference
    /// `wp_` or `wd_` and 43 characters; the log has its hash.
    package var token: String
    package var scopes: [String]
    /// `nil` until it is revoked.
    package var until: Moment?

    package init(id: Reference, token: String, scopes: [String], until: Moment? = nil) {
        (self.id, self.token, self.scopes, self.until) = (id, token, scopes, until)
    }

    package static var invented: Self {
        Self(id: .invented, token: .invented, scopes: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("id", &id)
        try members.required("token", &token)
        try members.required("scopes", &scopes)
        try members.optional("until", &until)
    }
}

/// An account that a caller has opened, with its token, which is shown once.
package struct OpenedAccount: Reply, Hashable {
    package var handle: String
    /// The token's.
    package var id: Reference
    package var token: String
    package var scopes: [String]

    package init(handle: String, id: Reference, token: String, scopes: [String]) {
        (self.handle, self.id, self.token, self.scopes) = (handle, id, token, scopes)
    }

    package static var invented: Self {
        Self(handle: .invented, id: .invented, token: .invented, scopes: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("handle", .handle, &handle)
        try members.required("id", &id)
        try members.required("token", &token)
        try members.required("scopes", &scopes)
    }
}

/// A device with its reporting key, which is shown once.
package struct MadeDevice: Reply, Hashable {
    package var handle: String
    /// The user name in an app.
    package var user: String
    /// The reporting key, `wd_` and 43 characters.
    package var password: String

    package init(handle: String, user: String, password: String) {
        (self.handle, self.user, self.password) = (handle, user, password)
    }

    package static var invented: Self {
        Self(handle: .invented, user: .invented, password: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("handle", .handle, &handle)
        try members.required("user", .handle, &user)
        try members.required("password", &password)
    }
}

/// A webhook with its secret, which is shown once. Only those that post signed JSON have one.
package struct MadeWebhook: Reply, Hashable {
    package var id: Reference
    package var url: String
    package var topics: [String]
    /// `whsec_` and base 64: the key of the signatures (Standard Webhooks). Only of the kind `webhook`.
    package var secret: String?

    package init(id: Reference, url: String, topics: [String], secret: String? = nil) {
        (self.id, self.url, self.topics, self.secret) = (id, url, topics, secret)
    }

    package static var invented: Self {
        Self(id: .invented, url: .invented, topics: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("id", &id)
        try members.required("url", &url)
        try members.required("topics", .list(.named("Topic")), &topics)
        try members.optional("secret", &secret)
    }
}

/// A one-time code for the page, which is shown once.
package struct MadeSignInCode: Reply, Hashable {
    package var code: String
    /// The path of the page with the code.
    package var path: String
    /// Fifteen minutes after the request.
    package var expires: Moment

    package init(code: String, path: String, expires: Moment) {
        (self.code, self.path, self.expires) = (code, path, expires)
    }

    package static var invented: Self {
        Self(code: .invented, path: .invented, expires: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("code", &code)
        try members.required("path", &path)
        try members.required("expires", &expires)
    }
}

/// A region that a request has added.
package struct MadeRegion: Reply, Hashable {
    /// The region's name.
    package var id: String

    package init(id: String) {
        self.id = id
    }

    package static var invented: Self {
        Self(id: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("id", .named("RegionID"), &id)
    }
}

/// A person that a request has added.
package struct MadePerson: Reply, Hashable {
    package var handle: String

    package init(handle: String) {
        self.handle = handle
    }

    package static var invented: Self {
        Self(handle: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("handle", .handle, &handle)
    }
}
