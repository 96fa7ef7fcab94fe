/// The result of a test push.
package struct PushTestItem: Reply, Hashable {
    /// The `apns-id` of the request.
    package var apnsID: String
    /// The outcome of the last attempt; `nil` before the first. ``status`` and ``reason`` are those of the last attempt
    /// too.
    package var outcome: String?
    /// The status of APNs' answer.
    package var status: Int64?
    /// APNs' word, or the reason why there was no answer.
    package var reason: String?
    /// The `apns-unique-id` of an accepted push.
    package var apnsUniqueID: String?
    package var attempts: [PushAttemptItem]

    package init(apnsID: String, apnsUniqueID: String? = nil, attempts: [PushAttemptItem]) {
        (self.apnsID, self.apnsUniqueID, self.attempts) = (apnsID, apnsUniqueID, attempts)
        outcome = attempts.last?.outcome
        (status, reason) = (attempts.last?.status, attempts.last?.reason)
    }

    package static var invented: Self { Self(apnsID: .invented, attempts: .invented) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("apnsID", .uuid, &apnsID)
        try members.optional("outcome", .named("PushOutcome"), &outcome)
        try members.optional("status", &status)
        try members.optional("reason", &reason)
        try members.optional("apnsUniqueID", &apnsUniqueID)
        try members.required("attempts", &attempts)
    }
}

/// One attempt to send a push.
package struct PushAttemptItem: Reply, Hashable {
    /// From 1; 0 for a push that did not leave.
    package var attempt: Int64
    package var outcome: String
    package var status: Int64?
    package var reason: String?
    package var durationMilliseconds: Int64

    package init(
        attempt: Int64, outcome: String, status: Int64? = nil, reason: String? = nil, durationMilliseconds: Int64
    ) {
        (self.attempt, self.outcome, self.status, self.reason) = (attempt, outcome, status, reason)
        self.durationMilliseconds = durationMilliseconds
    }

    package static let schema: String? = "PushAttempt"

    package static var invented: Self {
        Self(attempt: .invented, outcome: .invented, durationMilliseconds: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("attempt", &attempt)
        try members.required("outcome", .named("PushOutcome"), &outcome)
        try members.optional("status", &status)
        try members.optional("reason", &reason)
        try members.required("durationMilliseconds", &durationMilliseconds)
    }
}

/// The request of a test push for another program, without a provider token.
package struct PushRequestItem: Reply, Hashable {
    package var url: String
    /// The certificates to trust instead of the system's.
    package var caFile: String?
    package var headers: HeaderFields
    package var body: String
    package var bundleID: String
    package var environment: String

    package init(
        url: String, caFile: String? = nil, headers: HeaderFields, body: String, bundleID: String, environment: String
    ) {
        (self.url, self.caFile, self.headers, self.body) = (url, caFile, headers, body)
        (self.bundleID, self.environment) = (bundleID, environment)
    }

    package static var invented: Self {
        Self(
            url: .invented, headers: .invented, body: .invented, bundleID: .invented, environment: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("url", &url)
        try members.optional("caFile", &caFile)
        try members.required("headers", &headers)
        try members.required("body", &body)
        try members.required("bundleID", &bundleID)
        try members.required("environment", &environment)
    }
}
