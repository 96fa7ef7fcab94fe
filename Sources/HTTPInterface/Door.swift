package import Answers
import Cryptography
package import HTTPServer
import Log
import Synchronization
import Threading
package import Whereabouts

/// The entry of all requests: gives each an id, finds its route, authenticates its caller and starts the work.
///
/// Checks come in this order: address (404), method (405), credentials (401), query parameters, body, coding,
/// idempotency key. A request that fails one of them makes no event. Every answer has `Whereabouts-Request` with the id
/// and `Cache-Control: no-store`.
package final class Door: Sendable {
    /// The log and the clock.
    package let decisions: Decisions
    /// Every address.
    package let routes: RouteTable
    /// The threads that compute answers.
    package let answers: AnswerPool
    /// Finds the callers behind secrets.
    package let callers: Callers
    /// Derives ids of requests with an `Idempotency-Key`.
    package let requestKeys: RequestKeys
    /// The rules for requests by pages of other origins.
    package let crossOrigin: CrossOrigin
    /// The requests by route and status, for the metrics.
    package let requestFigures: RequestFigures
    /// The last requests of devices.
    package let deviceContacts: DeviceContacts
    /// The address of the service as browsers reach it, if the operator has given it.
    package let publicURL: String?
    /// The page for a browser that asks for an address that no route has; `nil` for a request that wants no page. It must
    /// not block, and does not know who is signed in.
    private let pageOfNothing: @Sendable (HTTPRequest) -> HTTPResponse?

    package init(
        decisions: Decisions, routes: RouteTable, answers: AnswerPool, callers: Callers, requestKeys: RequestKeys,
        crossOrigin: CrossOrigin, requestFigures: RequestFigures, deviceContacts: DeviceContacts, publicURL: String?,
        pageOfNothing: @escaping @Sendable (HTTPRequest) -> HTTPResponse?
    ) {
        self.decisions = decisions
        self.routes = routes
        self.answers = answers
        self.callers = callers
        self.requestKeys = requestKeys
        self.crossOrigin = crossOrigin
        self.requestFigures = requestFigures
        self.deviceContacts = deviceContacts
        self.publicURL = publicURL
        self.pageOfNothing = pageOfNothing
    }

    /// Answers `request` exactly once, on any thread. `HEAD` is handled like `GET`.
    package func handle(_ request: HTTPRequest, respond: @escaping @Sendable (HTTPResponse) -> Void) {
        let start = MonotonicClock.seconds
        let method = request.isHead ? "GET" : request.method
        let fields = crossOrigin.fields(for: request)
        /// Adds the request's id to the answer and counts the answer.
        @Sendable func answer(_ response: HTTPResponse, to id: RequestID, of path: String) {
            var response = response
            response.headers.append(("Whereabouts-Request", id.description))
            if !response.headers.contains(where: { $0.name == "Cache-Control" }) {
                response.headers.append(("Cache-Control", "no-store"))
            }
            // A browser that gets `Basic` opens a window for the password, also for a page's script.
            if response.status == 401, request.header("sec-fetch-dest") == "empty",
                let index = response.headers.firstIndex(where: { $0.name == "WWW-Authenticate" })
            {
                response.headers[index].value = "Bearer"
            }
            response.headers += fields
            let key = RequestFigures.Key(method: method, path: path, status: response.status)
            requestFigures.add(key, seconds: MonotonicClock.seconds - start)
            respond(response)
        }
        if let (index, parameters) = routes.find(method, request.path) {
            let route = routes.routes[index]
            return serve(request, route, parameters) { answer($0, to: $1, of: route.path) }
        }
        let allowed = routes.methods(of: request.path)
        if !allowed.isEmpty, let response = crossOrigin.preflight(request, methods: allowed) {
            return answer(response, to: .random(), of: "")
        }
        guard allowed.isEmpty else {
            var response = Problem(
                405, "Method not allowed",
                "This address allows \(allowed.joined(separator: ", ")); use one of these methods."
            )
            .response
            response.headers.append(("Allow", allowed.joined(separator: ", ")))
            return answer(response, to: .random(), of: "")
        }
        let nothing = Problem(404, "Not found", "There is nothing at this address.")
        answer((method == "GET" ? pageOfNothing(request) : nil) ?? nothing.response, to: .random(), of: "")
    }

    /// Authenticates the caller, checks the request and hands it to the route's work.
    ///
    /// - Parameter parameters: The variable parts of the path.
    private func serve(
        _ request: HTTPRequest, _ route: Route, _ parameters: [String],
        _ answer: @escaping @Sendable (HTTPResponse, RequestID) -> Void
    ) {
        guard let caller = caller(of: request, route) else {
            if case .message(_, let refused) = route.credentials { return answer(refused(request).response, .random()) }
            return answer(Problem.notAuthenticated.response, .random())
        }
        guard caller.scopes != .inspect || route.credentials.admitsAuditors else {
            return answer(Problem.notFound.response, .random())
        }
        if let problem = route.refusal(ofQuery: request.query) { return answer(problem.response, .random()) }
        if request.body.isEmpty, request.droppedBytes == 0, route.needsBody {
            return answer(Problem.invalid("The request has no body; send one.").response, .random())
        }
        if let response = ContentCoding.refusal(of: request) { return answer(response, .random()) }
        var key: RequestKey?
        if route.takesKey, let text = request.header("idempotency-key") {
            do throws(Problem) { key = try requestKeys.begin(text, with: request, by: caller, decisions) } catch {
                return answer(error.response, .random())
            }
        }
        if case .report = route.work, caller.scopes == .report {
            deviceContacts.note(
                DeviceID(rawValue: caller.principal.rawValue), at: decisions.clock(), address: route.path,
                userAgent: request.header("user-agent"))
        }
        let id = key?.id ?? .random()
        let exchange = Exchange(request: request, parameters: parameters, id: id, caller: caller, key: key)
        /// Ends the work on the request's key before the answer leaves: a client with the answer may send the request
        /// again.
        @Sendable func respond(_ response: HTTPResponse) {
            if let key = exchange.key { requestKeys.end(key) }
            answer(response, id)
        }
        /// Computes the answer on an answering thread.
        func run(_ work: @escaping Route.Handler) {
            let isTaken = answers.submit(for: caller.principal) { context in
                context.hasReadOutdated = false
                do throws(Problem) {
                    var response = try work(exchange, context)
                    if context.hasReadOutdated { response.headers.append((Self.outdated, "1")) }
                    respond(ContentCoding.encoded(response, for: request, of: route))
                } catch { respond(error.response) }
            }
            if !isTaken { respond(Problem.busy(1).response) }
        }
        switch route.work {
        case .report(let work): work(exchange, respond)
        case .answer(let work): run(work)
        case .recorded(let work):
            run { (exchange, context) throws(Problem) in try work(exchange, context).leave() }
        case .wait(let work):
            let isTaken = answers.submit(for: caller.principal) { context in
                do throws(Problem) { try work(exchange, context, respond) } catch { respond(error.response) }
            }
            if !isTaken { respond(Problem.busy(1).response) }
        }
    }

    /// The caller of a request, by the credentials that its route takes; `nil` if they are missing or wrong.
    package func caller(of request: HTTPRequest, _ route: Route) -> Caller? {
        switch route.credentials {
        case .header, .auditor: authenticate(request)
        case .message(let secret, _): secret(request).flatMap { callers.caller(secret: $0) }
        case .none: Self.nobody
        case .page: authenticate(request) ?? Self.nobody
        }
    }

    /// The header of an answer from a file of another version of the program, while a new one is folded.
    private static let outdated = "Whereabouts-Outdated"

    /// Someone without credentials. Routes that admit them look for a token first, or need none.
    private static let nobody = Caller(principal: .house, scopes: [], token: nil)

    /// The caller with these credentials; `nil` if they are missing or wrong. `Basic` has a device's handle and its
    /// reporting key, as OwnTracks sends them, or a person's handle and a token, as browsers ask for them.
    private func authenticate(_ request: HTTPRequest) -> Caller? {
        guard let authorization = request.header("authorization") else {
            return SessionCookie.secret(of: request, publicURL: publicURL).flatMap { callers.session(of: $0) }
        }
        // By bytes: a search for a character costs ten times as much.
        guard let space = authorization.utf8.firstIndex(of: UInt8(ascii: " ")) else { return nil }
        let credentials = authorization[authorization.utf8.index(after: space)...]
        switch authorization[..<space].lowercased() {
        case "bearer": return callers.caller(secret: credentials)
        case "basic":
            // Overland's OwnTracks mode sends its token and a colon without base64 (`setupHTTPClient` in
            // `GLManager.m`). The colon distinguishes it: base64 has none.
            if credentials.utf8.last == UInt8(ascii: ":") { return callers.caller(secret: credentials.dropLast()) }
            guard let decoded = Base64.decode(credentials), let text = String(validating: decoded, as: UTF8.self),
                let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")),
                let handle = Handle(text[..<colon].lowercased())
            else { return nil }
            let (caller, device) = callers.caller(secret: text[text.utf8.index(after: colon)...], named: handle)
            if caller == nil, let device { deviceContacts.noteWrongPassword(of: device, at: decisions.clock()) }
            return caller
        default: return nil
        }
    }
}
