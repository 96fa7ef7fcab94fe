import HTTPServer
import Whereabouts

/// The whole HTTP surface on one page.
///
/// A path has `*` for each variable part. Reports and questions run on the server's own thread, because they only parse
/// and queue; everything else may block and runs on the answering threads.
struct Route: Sendable {
    /// How a route does its work, and on which thread.
    enum Work: Sendable {
        /// Must not block; answers through the closure, on any thread.
        case report(@Sendable (Service, Exchange, @escaping @Sendable (HTTPResponse) -> Void) -> Void)
        /// May block, on an answering thread.
        case answer(@Sendable (Service, Exchange, AnswerContext) throws(Problem) -> HTTPResponse)
        /// May block, and may leave the answer to the waiting room.
        case wait(
            @Sendable (Service, Exchange, AnswerContext, @escaping @Sendable (HTTPResponse) -> Void) throws(Problem) ->
                Void)
    }

    /// Where a request has the caller's secret.
    enum Credentials: Sendable {
        /// In the header `Authorization`.
        case header
        /// In the message, where the client's protocol puts it.
        case message(@Sendable (HTTPRequest) -> String?, refused: @Sendable (HTTPRequest) -> Problem)
        /// None: everyone may call the route. The caller is then the house without scopes.
        case none
        /// As ``header``, and without credentials the page asks for them.
        case page
    }

    /// The HTTP method; a `GET` route answers `HEAD` too.
    let method: String
    /// The path with `*` for each variable part, as in ``all``.
    let path: String
    /// The parts of ``path``.
    let pattern: [String]
    /// The place of the caller's secret.
    let credentials: Credentials
    /// The most bytes of a body; a longer one is refused with 413, unless ``receivedBytes`` allows it.
    let bodyBytes: Int
    /// Whether a request may have an `Idempotency-Key`: it makes something, by one command, and would make it again.
    var takesKey = false
    /// Whether the answer has other people's words beside facts that they may not know; see ``ContentCoding``.
    var mixesTexts = false
    /// The length up to which a longer body is received: the part beyond ``bodyBytes`` is dropped.
    var receivedBytes: Int?
    /// The handler.
    let work: Work

    /// Every address of the service. The API description, the documentation and the disclosure tests are checked
    /// against it.
    static let all: [Route] = [
        // Reports of devices.
        report("POST", "/v1/fixes", IngestEndpoints.fixes),
        report("POST", "/v1/reports", IngestEndpoints.reports),
        report("POST", "/owntracks", IngestEndpoints.ownTracks, receiving: Limits.droppedBodyBytes),
        report("POST", "/pub", IngestEndpoints.ownTracks, receiving: Limits.droppedBodyBytes),
        report("POST", "/overland", IngestEndpoints.overland),
        report("GET", "/osmand", IngestEndpoints.osmAnd, IngestEndpoints.osmAndCredentials),
        report("POST", "/osmand", IngestEndpoints.osmAnd, IngestEndpoints.osmAndCredentials),
        report(
            "GET", "/index.php/apps/phonetrack/logGet/*/*", IngestEndpoints.phoneTrack,
            IngestEndpoints.phoneTrackCredentials),
        report(
            "POST", "/index.php/apps/phonetrack/logPost/*/*", IngestEndpoints.phoneTrack,
            IngestEndpoints.phoneTrackCredentials),
        report(
            "POST", "/index.php/apps/phonetrack/logPostMultiple/*/*", IngestEndpoints.phoneTrackPoints,
            IngestEndpoints.phoneTrackCredentials),
        report(
            "POST", "/ulogger/client/index.php", IngestEndpoints.uLogger, IngestEndpoints.uLoggerCredentials,
            receiving: Limits.droppedBodyBytes),
        report("POST", "/api/webhook/*", IngestEndpoints.webhook, IngestEndpoints.webhookCredentials),
        report("POST", "/v1/imports/*/batches", IngestEndpoints.importBatch),
        answer("PUT", "/v1/devices/*/location-push-token", IngestEndpoints.registerPushToken),

        // Location queries.
        report(
            "POST", "/v1/people/*/location-queries", QueryEndpoints.ask, bodyBytes: Limits.bodyBytes, takesKey: true),
        wait("GET", "/v1/location-queries/*", QueryEndpoints.read),
        answer("DELETE", "/v1/location-queries/*", QueryEndpoints.cancel),

        // Stored data about a person; each answer is recorded before it leaves.
        answer("GET", "/v1/people/*/location", ReadEndpoints.location),
        answer("GET", "/v1/people/*/track", ReadEndpoints.track),
        answer("GET", "/v1/people/*/visits", ReadEndpoints.visits),
        answer("GET", "/v1/people/*/visits/*", ReadEndpoints.visit),
        answer("GET", "/v1/people/*/crossings", ReadEndpoints.crossings),
        answer("GET", "/v1/people/*/trips", ReadEndpoints.trips),
        answer("GET", "/v1/people/*/places", ReadEndpoints.places),
        answer("GET", "/v1/people/*/summary", ReadEndpoints.summary),
        answer("GET", "/v1/people/*/audit", ReadEndpoints.audit, mixesTexts: true),
        answer("GET", "/v1/people/*/asked", ReadEndpoints.asked),
        answer("GET", "/v1/people/*/findings", ReadEndpoints.findings),
        answer("GET", "/v1/people/*/previews/*", PreviewEndpoint.read),
        answer("GET", "/v1/live", LiveEndpoint.open),
        answer("GET", "/v1/people/*/regions", ReadEndpoints.regions),

        // The same, in the protocol of the OwnTracks Recorder.
        answer("GET", "/api/0/version", RecorderEndpoints.version),
        answer("GET", "/api/0/list", RecorderEndpoints.list),
        answer("GET", "/api/0/last", RecorderEndpoints.last),
        answer("GET", "/api/0/locations", RecorderEndpoints.locations),

        // Persons, devices and rights.
        change("/v1/people", ManageEndpoints.addPerson),
        answer("GET", "/v1/people", ManageEndpoints.people),
        answer("DELETE", "/v1/people/*", ManageEndpoints.erasePerson),
        change("/v1/people/*/devices", ManageEndpoints.addDevice),
        answer("GET", "/v1/people/*/devices", ManageEndpoints.devices),
        command("DELETE", "/v1/devices/*", ManageEndpoints.removeDevice),
        change("/v1/devices/*/tokens", ManageEndpoints.addReportingKey),
        change("/v1/people/*/tokens", ManageEndpoints.addToken),
        answer("GET", "/v1/people/*/tokens", ManageEndpoints.tokens),
        command("DELETE", "/v1/tokens/*", ManageEndpoints.revokeToken),
        change("/v1/people/*/grants", GrantEndpoints.give),
        answer("GET", "/v1/people/*/grants", GrantEndpoints.list),
        command("DELETE", "/v1/grants/*", GrantEndpoints.revoke),
        command("POST", "/v1/people/*/pauses", GrantEndpoints.pause),
        answer("GET", "/v1/people/*/pauses", GrantEndpoints.pauses),
        answer("GET", "/v1/shared-with-me", SharedEndpoint.list),
        command("DELETE", "/v1/people/*/pauses", GrantEndpoints.resume),
        change("/v1/people/*/invitations", GrantEndpoints.invite),
        answer("GET", "/v1/people/*/invitations", GrantEndpoints.invitations),
        command("DELETE", "/v1/invitations/*", GrantEndpoints.withdraw),
        change("/v1/redemptions", GrantEndpoints.redeem),
        change("/v1/account-invitations", AccountEndpoints.invite),
        answer("GET", "/v1/account-invitations", AccountEndpoints.list),
        command("DELETE", "/v1/account-invitations/*", AccountEndpoints.withdraw),
        change("/v1/accounts", AccountEndpoints.open, .none),
        answer("GET", "/v1/people/*/consent-requests", GrantEndpoints.consentRequests, mixesTexts: true),
        command("POST", "/v1/people/*/consent-requests/*", GrantEndpoints.answerConsent),
        change("/v1/people/*/regions", ManageEndpoints.addRegion),
        command("DELETE", "/v1/people/*/regions/*", ManageEndpoints.removeRegion),
        change("/v1/people/*/schedules", ScheduleEndpoints.set),
        answer("GET", "/v1/people/*/schedules", ScheduleEndpoints.list),
        command("DELETE", "/v1/people/*/schedules/*", ScheduleEndpoints.remove),

        change("/v1/people/*/webhooks", WebhookEndpoints.add),
        answer("GET", "/v1/people/*/webhooks", WebhookEndpoints.list),
        command("DELETE", "/v1/people/*/webhooks/*", WebhookEndpoints.remove),
        answer("GET", "/v1/people/*/webhooks/*/dead-letters", WebhookEndpoints.deadLetters),
        answer("POST", "/v1/people/*/webhooks/*/dead-letters/*/retry", WebhookEndpoints.retry),
        command("DELETE", "/v1/people/*/webhooks/*/dead-letters/*", WebhookEndpoints.discard),

        change("/v1/people/*/corrections", CorrectionEndpoints.make),
        answer("GET", "/v1/people/*/corrections", CorrectionEndpoints.list),
        command("DELETE", "/v1/people/*/corrections/*", CorrectionEndpoints.withdraw),

        // Geocoding. It is about no person, so it is not recorded.
        answer("GET", "/v1/geocode/reverse", GeocodeEndpoints.budgeted(GeocodeEndpoints.reverse)),
        answer("POST", "/v1/geocode/reverse", GeocodeEndpoints.budgeted(GeocodeEndpoints.reverseBatch)),
        answer("GET", "/v1/geocode/forward", GeocodeEndpoints.budgeted(GeocodeEndpoints.forward)),
        answer("POST", "/v1/geocode/forward", GeocodeEndpoints.budgeted(GeocodeEndpoints.forwardBatch)),

        answer("GET", "/v1/places/names", GeocodeEndpoints.budgeted(MapEndpoints.names)),

        // The operator's requests.
        report("POST", "/v1/devices/*/push-tests", PushTestEndpoints.send),
        answer("GET", "/v1/devices/*/push-request", PushTestEndpoints.request),
        answer("GET", "/v1/events", OperateEndpoints.events, mixesTexts: true),
        answer("GET", "/v1/verify", OperateEndpoints.verify),
        answer("POST", "/v1/backups", OperateEndpoints.backUp),
        answer("GET", "/v1/projections", OperateEndpoints.projections),
        answer("POST", "/v1/projections/prune", OperateEndpoints.prune),
        answer("POST", "/v1/projections/*/rebuild", OperateEndpoints.rebuild),
        answer("POST", "/v1/projections/*/activate", OperateEndpoints.activate),
        answer("POST", "/v1/projections/*/rollback", OperateEndpoints.rollback),
        answer("GET", "/v1/projections/*/diff", OperateEndpoints.diff),
        answer("GET", "/metrics", MetricsEndpoint.read),
        open("GET", "/openapi.json", OpenAPIDocument.read),
        open("GET", "/healthz", OperateEndpoints.health),
        open("GET", "/readyz", OperateEndpoints.readiness),

        // Signing in to the page.
        Route(
            method: "GET", path: "/session", pattern: parts("/session"), credentials: .page, bodyBytes: 0,
            work: .answer(SessionEndpoints.read)),
        open("POST", "/session", SessionEndpoints.open, bodyBytes: Limits.bodyBytes),
        answer("DELETE", "/session", SessionEndpoints.close),
        answer("POST", "/session/end", SessionEndpoints.end),
        change("/v1/sign-in-codes", SessionEndpoints.makeCode),
    ]

    /// The web page, its views and its files. The API description does not have them.
    static let pages: [Route] = [
        page("/", PageEndpoints.home),
        page("/now"), page("/day"), page("/day/*"), page("/audit"), page("/requests"), page("/requests/*"),
        page("/sharing"), page("/regions"), page("/places"), page("/year"), page("/year/*"), page("/devices"),
        page("/operate"), page("/operate/*"),
        page("/welcome", WelcomeEndpoints.read),
        Route(
            method: "POST", path: "/welcome", pattern: parts("/welcome"), credentials: .none,
            bodyBytes: Limits.bodyBytes, work: .answer(WelcomeEndpoints.open)),
        asset("/assets/*", PageAssets.read), asset("/assets/*/*", PageAssets.read),
        asset("/assets/*/images/*", PageAssets.image),
        asset("/basemap/index.json", MapEndpoints.basemapIndex), asset("/basemap/*/*", MapEndpoints.basemapCell),
        asset("/favicon.ico", PageAssets.icon), asset("/offline.js", PageAssets.top),
        asset("/manifest.webmanifest", PageAssets.top),
    ]

    /// Every address.
    static let served = all + pages

    private static func page(
        _ path: String,
        _ work: @escaping @Sendable (Service, Exchange, AnswerContext) throws(Problem) -> HTTPResponse =
            PageEndpoints.view
    ) -> Route {
        Route(
            method: "GET", path: path, pattern: parts(path), credentials: .page, bodyBytes: 0, mixesTexts: true,
            work: .answer(work))
    }

    /// A file that is the same for everyone. It has its own compression.
    private static func asset(
        _ path: String,
        _ work: @escaping @Sendable (Service, Exchange, AnswerContext) throws(Problem) -> HTTPResponse
    ) -> Route {
        Route(
            method: "GET", path: path, pattern: parts(path), credentials: .none, bodyBytes: 0, mixesTexts: true,
            work: .answer(work))
    }

    /// A route on the server's thread, which must not block.
    private static func report(
        _ method: String, _ path: String,
        _ work: @escaping @Sendable (Service, Exchange, @escaping @Sendable (HTTPResponse) -> Void) -> Void,
        _ credentials: Credentials = .header, bodyBytes: Int = Limits.ingestBodyBytes, takesKey: Bool = false,
        receiving: Int? = nil
    ) -> Route {
        Route(
            method: method, path: path, pattern: parts(path), credentials: credentials, bodyBytes: bodyBytes,
            takesKey: takesKey, receivedBytes: receiving, work: .report(work))
    }

    /// A route on an answering thread, with a token in the header.
    private static func answer(
        _ method: String, _ path: String,
        _ work: @escaping @Sendable (Service, Exchange, AnswerContext) throws(Problem) -> HTTPResponse,
        mixesTexts: Bool = false
    ) -> Route {
        Route(
            method: method, path: path, pattern: parts(path), credentials: .header, bodyBytes: Limits.bodyBytes,
            mixesTexts: mixesTexts, work: .answer(work))
    }

    /// A `POST` that makes something by one command, and so takes a key.
    private static func change(
        _ path: String,
        _ work: @escaping @Sendable (Service, Exchange, AnswerContext) throws(Problem) -> HTTPResponse,
        _ credentials: Credentials = .header
    ) -> Route {
        Route(
            method: "POST", path: path, pattern: parts(path), credentials: credentials, bodyBytes: Limits.bodyBytes,
            takesKey: true, work: .answer(work))
    }

    /// A request that is one command, answered with its number.
    private static func command(
        _ method: String, _ path: String,
        _ make: @escaping @Sendable (Service, Exchange) throws(Problem) -> Command
    ) -> Route {
        Route(
            method: method, path: path, pattern: parts(path), credentials: .header, bodyBytes: Limits.bodyBytes,
            takesKey: method == "POST",
            work: .answer { (service, exchange, _) throws(Problem) in
                ManageEndpoints.done(
                    try Gate.append(service, exchange, try make(service, exchange)),
                    service.references(for: exchange.caller))
            })
    }

    /// A route on an answering thread that may leave its answer to the waiting room.
    private static func wait(
        _ method: String, _ path: String,
        _ work:
            @escaping @Sendable (
                Service, Exchange, AnswerContext, @escaping @Sendable (HTTPResponse) -> Void
            ) throws(Problem) -> Void
    ) -> Route {
        Route(method: method, path: path, pattern: parts(path), credentials: .header, bodyBytes: 0, work: .wait(work))
    }

    /// A route that needs no credentials.
    private static func open(
        _ method: String, _ path: String,
        _ work: @escaping @Sendable (Service, Exchange, AnswerContext) throws(Problem) -> HTTPResponse,
        bodyBytes: Int = 0
    ) -> Route {
        Route(
            method: method, path: path, pattern: parts(path), credentials: .none, bodyBytes: bodyBytes,
            work: .answer(work))
    }

    /// The parts of a path. Empty parts count: neither `//healthz` nor `/healthz/` is `/healthz`.
    static func parts(_ path: String) -> [String] {
        path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    }

    /// The variable parts of the path, in order, or `nil` if it does not match. A variable part is never empty.
    func match(_ path: [String]) -> [String]? {
        guard path.count == pattern.count else { return nil }
        var open: [String] = []
        for (wanted, part) in zip(pattern, path) {
            if wanted == "*", !part.isEmpty { open.append(part) } else if wanted != part { return nil }
        }
        return open
    }

    /// The route with this literal path, found without splitting the path: the fast way for reports.
    static func literal(_ method: String, _ path: String) -> Route? { literals[path]?.first { $0.method == method } }

    /// Routes without parameters, by path.
    private static let literals = Dictionary(
        grouping: served.filter { !$0.pattern.contains("*") }, by: \.path)

    /// The first route whose parts match the path's.
    private static func matching(_ method: String, _ parts: [String]) -> Route? {
        served.first { $0.method == method && $0.match(parts) != nil }
    }

    /// The body that a route takes; the smallest bound for unknown paths.
    static func bodyLimit(_ method: String, _ path: String) -> HTTPBodyLimit {
        let route = literal(method, path) ?? matching(method, parts(path))
        return HTTPBodyLimit(route?.bodyBytes ?? Limits.bodyBytes, receiving: route?.receivedBytes)
    }
}
