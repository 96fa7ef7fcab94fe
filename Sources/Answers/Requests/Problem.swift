package import HTTPServer
package import Log
package import Whereabouts

/// An error as the client sees it (RFC 9457): one sentence with the cause and the remedy.
///
/// No problem names a person, place or secret that the request did not name.
package struct Problem: Error, Sendable {
    /// The HTTP status.
    package let status: Int
    /// The kind of problem in a few words, the same for each of its kind.
    package let title: String
    /// One sentence about this occurrence.
    package let detail: String
    /// The seconds in `Retry-After`; `nil` if repeating the request does not help.
    package var retryAfterSeconds: Int?

    package init(_ status: Int, _ title: String, _ detail: String, retryAfterSeconds: Int? = nil) {
        (self.status, self.title, self.detail) = (status, title, detail)
        self.retryAfterSeconds = retryAfterSeconds
    }

    /// The request does not have the form that the API description gives it.
    package static func invalid(_ detail: String) -> Problem { Problem(400, "Bad request", detail) }
    /// The request has the right form but cannot be done.
    package static func refused(_ detail: String) -> Problem { Problem(422, "Refused", detail) }
    /// The request has a name that it may not have.
    ///
    /// - Parameters:
    ///   - name: The name in the request. The sentence shows at most `shownCharactersMax` characters of it.
    ///   - kind: What the name is not, for example "a member of this body".
    ///   - known: The allowed names.
    package static func unknown(_ name: String, _ kind: String, takes known: [String]) -> Problem {
        let shown = String(name.unicodeScalars.prefix(shownCharactersMax)).printable
        return .invalid(
            "\"\(shown)\" is not \(kind); it takes \(known.isEmpty ? "none" : known.joined(separator: ", ")).")
    }

    /// The most characters of a caller's own text that a detail repeats.
    private static let shownCharactersMax = 64

    /// The answer for a thing that does not exist or that the caller may not see.
    package static let notFound = Problem(404, "Not found", "There is nothing of this name or number.")
    /// The same answer for every caller who may not see a person, whether or not the person exists.
    package static let noSuchPerson = Problem(404, "Not found", "There is no such person.")
    /// The answer to a request that is repeated with its key after its result has ended.
    package static let overSince = Problem(
        409, "Over", "The result of this request has ended since; send a new request with a new Idempotency-Key.")
    /// 401: the token is absent, unknown, revoked or over. All have the same answer.
    package static let notAuthenticated = Problem(
        401, "Not authenticated",
        "Send a valid token in the header \"Authorization: Bearer …\", or a device's user and password.")
    /// Too much work; the seconds are the time to wait.
    package static func busy(_ seconds: Int) -> Problem {
        Problem(
            503, "Busy", "The service has too much to do; send the same request again later.",
            retryAfterSeconds: seconds)
    }
    /// 503: the log cannot be read or written.
    package static let broken = Problem(
        503, "Not available", "The service cannot write its log; its operator must look at the diagnostics.",
        retryAfterSeconds: 60)

    /// 421: only the process that writes the log can answer this. A reader passes such a request on, so no client sees it.
    package static let elsewhere = Problem(
        421, "Elsewhere", "Only the process that writes the log can answer this; send the request there.")

    /// RFC 4918, section 11.5. Phones keep their reports after a 5xx status.
    package static let noRoom = Problem(
        507, "No room", "The service's disk is full; keep this, and send the same request again when there is room.",
        retryAfterSeconds: 60)

    /// The status of each refusal. This is the only table.
    package init(_ refusal: Refusal) {
        switch refusal {
        case .notAuthenticated: self = .notAuthenticated
        case .noSuchPerson: self = .noSuchPerson
        case .notFound: self = .notFound
        case .noSuchInvitation:
            self.init(
                404, "Not found", "This code is wrong, used or too old; ask for a new one.")
        case .alreadyExists(let detail): self.init(409, "Exists already", detail)
        case .invalid(let detail): self = .refused(detail)
        case .tooOften(let seconds):
            self.init(
                429, "Too often", "You have asked about this person too often; the person can see it. Ask again later.",
                retryAfterSeconds: Int(seconds))
        case .tooManyInvitations(let seconds, let isOfTree):
            self.init(
                429, "Too often",
                isOfTree
                    ? "Accounts from the same invitation may together invite \(Limits.accountInvitationsPerTree.capacity) people a day, and have done so; invite again later, or ask the operator for an account."
                    : "You may invite \(Limits.accountInvitationsPerInviter.capacity) people a day, and have done so; invite again later.",
                retryAfterSeconds: Int(seconds))
        case .tooManyTests(let seconds):
            self.init(
                429, "Too often",
                "A webhook gets \(Limits.testsPerWebhook.capacity) test messages at once, then one every \(Limits.testsPerWebhook.refillSeconds / 60) minutes; try again later.",
                retryAfterSeconds: Int(seconds))
        case .tooManyOwnQueries:
            self.init(
                429, "Too many",
                "You have \(Limits.openQueriesPerAsker) questions about this person under way; wait until they end, or cancel some.",
                retryAfterSeconds: 5)
        case .tooManyQueries: self = .busy(5)
        case .outdated:
            self.init(
                503, "Not yet", "Fixes of this person are just being withdrawn; send the same request again.",
                retryAfterSeconds: 1)
        }
    }

    /// The problem of a command that was not appended.
    package init(_ failure: AppendFailure) {
        switch failure {
        case .refused(let refusal): self.init(refusal)
        case .busy(let seconds): self = .busy(seconds)
        case .full: self = .noRoom
        case .notYet(let sentence, let seconds):
            self.init(503, "Not yet", sentence, retryAfterSeconds: seconds)
        case .elsewhere: self = .elsewhere
        case .fault: self = .broken
        }
    }

    /// The answer as `application/problem+json`, with `Retry-After` if the caller may try again.
    package var response: HTTPResponse {
        var response = HTTPResponse.problem(status, title: title, detail: detail)
        if let retryAfterSeconds { response.headers.append(("Retry-After", "\(retryAfterSeconds)")) }
        if status == 401 { response.headers.append(("WWW-Authenticate", "Bearer, Basic realm=\"whereabouts\"")) }
        return response
    }
}
