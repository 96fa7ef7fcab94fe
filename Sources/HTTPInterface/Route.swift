package import Answers
package import HTTPServer
package import Whereabouts

/// The way of a request to its handler: address, credentials, bounds and disclosure rule.
///
/// Reports and questions run on the server's own thread, because they only parse and queue; everything else may block
/// and runs on the answering threads.
package struct Route: Sendable {
    /// A handler that answers on an answering thread.
    package typealias Handler = @Sendable (Exchange, AnswerContext) throws(Problem) -> HTTPResponse

    /// A handler whose answer is data about a person, which the gate has recorded.
    package typealias Reader = @Sendable (Exchange, AnswerContext) throws(Problem) -> Disclosed

    /// How a route does its work, and on which thread.
    package enum Work: Sendable {
        /// Must not block; answers through the closure, on any thread.
        case report(@Sendable (Exchange, @escaping @Sendable (HTTPResponse) -> Void) -> Void)
        /// May block, on an answering thread.
        case answer(Handler)
        /// As ``answer(_:)``, with data about a person.
        case recorded(Reader)
        /// May block, and may leave the answer to the waiting room.
        case wait(
            @Sendable (Exchange, AnswerContext, @escaping @Sendable (HTTPResponse) -> Void) throws(Problem) ->
                Void)

        /// The most bytes of a body, unless the route says otherwise.
        fileprivate var bodyBytes: Int {
            switch self {
            case .report: Limits.ingestBodyBytes
            case .answer, .recorded: Limits.bodyBytes
            case .wait: 0
            }
        }
    }

    /// Where a request has the caller's secret.
    package enum Credentials: Sendable {
        /// In the header `Authorization`.
        case header
        /// In the message, where the client's protocol puts it.
        case message(@Sendable (HTTPRequest) -> String?, refused: @Sendable (HTTPRequest) -> Problem)
        /// None: everyone may call the route. The caller is then the house without scopes.
        case none
        /// As ``header``, and the route accepts the token of an auditor. The principal of that token is the operator, so
        /// every other route refuses it.
        case auditor
        /// As ``header``, and without credentials the page asks for them.
        case page

        var admitsAuditors: Bool { if case .auditor = self { true } else { false } }
    }

    /// The data about a person in an answer, and how the answer is recorded. Every route declares it, and
    /// `DisclosureLawTests` compares the answers with it.
    package enum Disclosure: Sendable {
        /// Data about a person, after the read is on record with this question. For example `GET /v1/people/*/visits`.
        case recorded(LocationRead.Question)
        /// The location that answers a query, after the disclosure is on record.
        case disclosed
        /// Nothing that the caller did not say or make: the event of the caller's own command is the record.
        case command
        /// Names of people or devices, which are not location data, without a record; the text says which.
        case names(String)
        /// Nothing about a person. The text says what the answer contains.
        case noPerson(String)
        /// The tables of other routes, each recorded by its own route.
        case otherRoutes
    }

    /// The HTTP method; a `GET` route answers `HEAD` too.
    package let method: String
    /// The path with `*` for each variable part.
    package let path: String
    /// The parts of ``path``.
    package let pattern: [String]
    /// The handler.
    package private(set) var work: Work
    /// The place of the caller's secret.
    package let credentials: Credentials
    /// The data about a person in the answer.
    package let disclosure: Disclosure
    /// The most bytes of a body; a longer one is refused with 413, unless ``receivedBytes`` allows it.
    package let bodyBytes: Int
    /// The length up to which a longer body is received: the part beyond ``bodyBytes`` is dropped.
    package let receivedBytes: Int?
    /// Whether a request may have an `Idempotency-Key`: it makes something, by one command, and would make it again.
    package let takesKey: Bool
    /// Whether the answer has other people's words beside facts that they may not know; see ``ContentCoding``.
    package let mixesTexts: Bool
    /// Whether a request without a body is refused.
    let needsBody: Bool
    /// The parameters that the query of the URL may have, in the order of the API description. `nil` outside `/v1`: a
    /// client's own protocol may send others (`/osmand`), and other addresses read nothing about a person (`/healthz`).
    let parameterNames: [String]?

    package init(
        _ method: String, _ path: String, _ work: Work, _ credentials: Credentials, discloses: Disclosure,
        bodyBytes: Int? = nil, receivedBytes: Int? = nil, takesKey: Bool = false, mixesTexts: Bool = false,
        needsBody: Bool = false, parameterNames: [String] = []
    ) {
        if case .answer = work, case .recorded = discloses {
            preconditionFailure("\(path) discloses data, so its handler must return what the gate has recorded.")
        }
        pattern = Self.parts(path)
        (self.method, self.path, self.work, self.credentials) = (method, path, work, credentials)
        (disclosure, self.bodyBytes, self.receivedBytes) = (discloses, bodyBytes ?? work.bodyBytes, receivedBytes)
        (self.takesKey, self.mixesTexts, self.needsBody) = (takesKey, mixesTexts, needsBody)
        self.parameterNames = pattern.first == "v1" ? parameterNames : nil
    }

    /// The same route with a handler that answers every request with 404, and holds nothing.
    var withoutHandler: Route {
        var route = self
        route.work = .answer { (_, _) throws(Problem) in throw .notFound }
        return route
    }

    /// The parts of a path. Empty parts count: neither `//healthz` nor `/healthz/` is `/healthz`.
    package static func parts(_ path: String) -> [String] {
        // In bytes: a search for a character takes ten times as long.
        path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
    }

    /// The variable parts of the path, in order, or `nil` if it does not match. A variable part is never empty.
    package func match(_ path: [String]) -> [String]? { Self.match(path, pattern) }

    /// As ``match(_:)``, for the pattern of a route.
    package static func match(_ path: [String], _ pattern: [String]) -> [String]? {
        guard path.count == pattern.count else { return nil }
        for index in path.indices where pattern[index] != path[index] {
            guard pattern[index] == "*", !path[index].isEmpty else { return nil }
        }
        return path.indices.filter { pattern[$0] == "*" }.map { path[$0] }
    }

    /// The reason to refuse a request with this query; `nil` if every parameter is known and given once.
    ///
    /// Ignoring an unknown parameter can disclose more than was asked for: `track?since=2026-05-01` would return the
    /// whole track.
    package func refusal(ofQuery query: [(name: String, value: String)]) -> Problem? {
        guard !query.isEmpty, let known = parameterNames else { return nil }
        var seen: Set<String> = []
        for (name, _) in query {
            guard known.contains(name) else {
                return .unknown(name, "a parameter of this address", takes: known)
            }
            guard seen.insert(name).inserted else {
                return .invalid("\"\(name)\" is given more than once; give it once.")
            }
        }
        return nil
    }
}
