/// A device of a person with its state.
package struct DeviceItem: Reply, Hashable {
    package var handle: String
    /// Whether it has registered a token for location pushes.
    package var pushToken: Bool
    /// Whether the service only takes envelopes of it; absent if not.
    package var sealed: Bool?
    package var authorization: AuthorizationItem?
    /// The last request, fix or rejected report, whichever is the latest.
    package var lastContact: Moment?
    /// The device's time of the newest usable fix.
    package var lastFix: Moment?
    /// From 0 to 1.
    package var battery: Double?
    /// The app that sent the last report.
    package var app: AppItem?
    package var wrongPasswords: WrongPasswordsItem?
    /// Those of the last seven days, newest first, at most 20.
    package var rejected: [RejectedReportItem]?

    package init(
        handle: String, pushToken: Bool, authorization: AuthorizationItem? = nil, lastContact: Moment? = nil,
        lastFix: Moment? = nil, battery: Double? = nil, app: AppItem? = nil,
        wrongPasswords: WrongPasswordsItem? = nil, rejected: [RejectedReportItem]? = nil
    ) {
        (self.handle, self.pushToken, self.authorization, self.lastContact) = (
            handle, pushToken, authorization, lastContact
        )
        (self.lastFix, self.battery, self.app, self.wrongPasswords) = (lastFix, battery, app, wrongPasswords)
        self.rejected = rejected
    }

    package static var invented: Self {
        Self(handle: .invented, pushToken: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("handle", .handle, &handle)
        try members.required("pushToken", &pushToken)
        try members.optional("sealed", &sealed)
        try members.optional("authorization", &authorization)
        try members.optional("lastContact", &lastContact)
        try members.optional("lastFix", &lastFix)
        try members.optional("battery", &battery)
        try members.optional("app", &app)
        try members.optional("wrongPasswords", &wrongPasswords)
        try members.optional("rejected", &rejected)
    }
}

/// The authorization that the owner gave the app of a device.
package struct AuthorizationItem: Reply, Hashable {
    /// Core Location's word, for example `authorizedAlways`.
    package var status: String
    /// `full` or `reduced`.
    package var accuracy: String?
    /// The device's time of the report.
    package var timestamp: Moment

    package init(status: String, accuracy: String? = nil, timestamp: Moment) {
        (self.status, self.accuracy, self.timestamp) = (status, accuracy, timestamp)
    }

    package static var invented: Self {
        Self(status: .invented, timestamp: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("status", &status)
        try members.optional("accuracy", &accuracy)
        try members.required("timestamp", &timestamp)
    }
}

/// The app that a device reports with.
package struct AppItem: Reply, Hashable {
    /// The address that it reports to.
    package var address: String
    package var userAgent: String?

    package init(address: String, userAgent: String? = nil) {
        (self.address, self.userAgent) = (address, userAgent)
    }

    package static var invented: Self {
        Self(address: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("address", &address)
        try members.optional("userAgent", &userAgent)
    }
}

/// Reports with a wrong password.
package struct WrongPasswordsItem: Reply, Hashable {
    /// Since the start of the service.
    package var count: Int64
    package var newest: Moment

    package init(count: Int64, newest: Moment) {
        (self.count, self.newest) = (count, newest)
    }

    package static var invented: Self {
        Self(count: .invented, newest: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("count", &count)
        try members.required("newest", &newest)
    }
}

/// A report of a device that was rejected.
package struct RejectedReportItem: Reply, Hashable {
    package var at: Moment
    /// One word, for example `badCoordinate`.
    package var reason: String
    /// A sentence for people.
    package var detail: String
    /// Its beginning.
    /// At most 4 KiB; `nil` if it is erased.
    package var text: String?

    package init(at: Moment, reason: String, detail: String, text: String? = nil) {
        (self.at, self.reason, self.detail, self.text) = (at, reason, detail, text)
    }

    package static var invented: Self {
        Self(at: .invented, reason: .invented, detail: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("at", &at)
        try members.required("reason", &reason)
        try members.required("detail", &detail)
        try members.optional("text", &text)
    }
}
