import Cryptography
import HTTPServer
import Synchronization
import Whereabouts

/// Where requests come in: finds the route, finds out who asks, hands the work over, and names the request.
struct Door: Sendable {
    let service: Service

    /// Answers `request` exactly once, from whatever thread.
    func handle(_ request: HTTPRequest, respond: @escaping @Sendable (HTTPResponse) -> Void) {
        let id = RequestID.random()
        let start = MonotonicClock.seconds
        let method = request.isHead ? "GET" : request.method
        /// Names the answer and counts it.
        @Sendable func answer(_ response: HTTPResponse, of path: String) {
            var response = response
            response.headers.append(("Whereabouts-Request", id.description))
            response.headers.append(("Cache-Control", "no-store"))
            let key = RequestFigures.Key(method: method, path: path, status: response.status)
            service.requestFigures.add(key, seconds: MonotonicClock.seconds - start)
            respond(response)
        }
        if let route = Route.literal(method, request.path) {
            return serve(request, id, route, []) { answer($0, of: route.path) }
        }
        let path = Route.parts(request.path)
        var allowed: [String] = []
        for route in Route.all {
            guard let parameters = route.match(path) else { continue }
            guard route.method == method else {
                allowed.append(route.method)
                continue
            }
            return serve(request, id, route, parameters) { answer($0, of: route.path) }
        }
        guard allowed.isEmpty else {
            var response = Problem(405, "Method not allowed", "This address takes \(allowed.joined(separator: ", ")).")
                .response
            response.headers.append(("Allow", allowed.joined(separator: ", ")))
            return answer(response, of: "")
        }
        answer(Problem(404, "Not found", "There is nothing at this address.").response, of: "")
    }

    private func serve(
        _ request: HTTPRequest, _ id: RequestID, _ route: Route, _ parameters: [String],
        _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        let caller: Caller?
        var refusal = Problem.notAuthenticated
        switch route.credentials {
        case .header: caller = authenticate(request)
        case .message(let secret, let refused):
            caller = secret(request).flatMap { self.caller(secret: $0) }
            if caller == nil { refusal = refused(request) }
        case .none: caller = Caller(principal: .house, scopes: [], token: nil)
        }
        guard let caller else { return respond(refusal.response) }
        let exchange = Exchange(request: request, parameters: parameters, id: id, caller: caller)
        switch route.work {
        case .report(let work): work(service, exchange, respond)
        case .answer(let work):
            let isTaken = service.answers.submit { context in
                do throws(Problem) { respond(try work(service, exchange, context)) } catch { respond(error.response) }
            }
            if !isTaken { respond(Problem.busy(1).response) }
        case .wait(let work):
            let isTaken = service.answers.submit { context in
                do throws(Problem) { try work(service, exchange, context, respond) } catch { respond(error.response) }
            }
            if !isTaken { respond(Problem.busy(1).response) }
        }
    }

    /// Who the credentials belong to. `Basic` is a device's handle and its reporting key, as OwnTracks sends them.
    private func authenticate(_ request: HTTPRequest) -> Caller? {
        guard let authorization = request.header("authorization"), let space = authorization.firstIndex(of: " ") else {
            return nil
        }
        let credentials = authorization[authorization.index(after: space)...]
        switch authorization[..<space].lowercased() {
        case "bearer": return caller(secret: credentials)
        case "basic":
            guard let decoded = Base64.decode(credentials), let text = String(validating: decoded, as: UTF8.self),
                let colon = text.firstIndex(of: ":"), let handle = Handle(text[..<colon].lowercased()),
                let caller = caller(secret: text[text.index(after: colon)...])
            else { return nil }
            let device = service.log.withStanding { $0.deviceByHandle[handle] }
            return device?.principal == caller.principal ? caller : nil
        default: return nil
        }
    }

    private func caller(secret: some StringProtocol) -> Caller? {
        guard secret.utf8.count <= 128 else { return nil }
        let hash = service.hasher.withLock { Hash256($0.hash(Array(secret.utf8))) }
        return service.log.withStanding { $0.caller(tokenHash: hash, at: service.clock()) }
    }
}
