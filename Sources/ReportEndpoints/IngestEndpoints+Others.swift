import Answers
import HTTPInterface
import HTTPServer
import JSON
import Log
import Whereabouts
import WireFormats

/// Clients of other servers, with the addresses and answers that they expect.
///
/// Their credentials are in the path, in a parameter or in a cookie; ``Route`` has all addresses.
extension IngestEndpoints {
    // MARK: PhoneTrack

    /// PhoneTrack sends a point again unless the answer is exactly this (`WebTrackHelper.java`).
    ///
    /// `friends` is always empty, because the client shows none.
    private static let phoneTrackDone = Array(#"{"done":1,"friends":[]}"#.utf8)

    /// PhoneTrack's `logGet` and `logPost`: one point, as parameters or as a form.
    ///
    /// A rejected point is acknowledged too, or the client would send it for ever; its reason is in the list of
    /// devices.
    func phoneTrack(
        _ exchange: Exchange, _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        let request = exchange.request
        let report = ParameterDialect.phoneTrack.report(of: request.query + request.form, now: decisions.clock())
        take([report], answering: .json(Self.phoneTrackDone), exchange, respond)
    }

    /// PhoneTrack's `logPostMultiple`: a batch of points.
    ///
    /// At most ``Limits/batchCommands`` points; more are 413.
    func phoneTrackPoints(
        _ exchange: Exchange, _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        let reports = PhoneTrack.reports(ofPoints: exchange.request.body, now: decisions.clock())
        take(reports, answering: .json(Self.phoneTrackDone), exchange, respond)
    }

    /// The reporting key is in the path, before the client's name for its device.
    static let phoneTrackCredentials = pathCredentials(4)

    /// The reporting key as a part of the path: Nextcloud has the session's token there, Home Assistant the webhook's
    /// id.
    ///
    /// - Parameter index: Which part of the path, from 0.
    private static func pathCredentials(_ index: Int) -> Route.Credentials {
        .message { request in
            let parts = Route.parts(request.path)
            return index < parts.count ? parts[index] : nil
        } refused: { _ in
            Problem(
                401, "Not authenticated", "Put the device's reporting key into the address; the README shows where.")
        }
    }

    // MARK: Home Assistant

    /// The reporting key is the webhook's id, the last part of the path.
    static let webhookCredentials = pathCredentials(2)

    /// `POST /api/webhook/*`: Home Assistant's webhook, with messages of its companion app and of OwnTracks, and
    /// GPSLogger's form. A message of an unknown type is answered with `{}` and not kept.
    ///
    /// Messages that are forms of OwnTracks go the way of ``ownTracks(_:_:)``.
    package func webhook(
        _ exchange: Exchange, _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        let request = exchange.request
        if !request.form.isEmpty, Self.messageInForm(request) == nil {
            let report = ParameterDialect.homeAssistant.report(of: request.form, now: decisions.clock())
            return take([report], answering: HTTPResponse(status: 200), exchange, respond)
        }
        let isOwnTracks = (try? JSONDocument.parse(request.body))?.root["_type"] != nil
        guard !isOwnTracks, Self.messageInForm(request) == nil else { return ownTracks(exchange, respond) }
        guard let report = HomeAssistant.report(from: request.body, now: decisions.clock()) else {
            return respond(.json(Array("{}".utf8)))
        }
        take([report], answering: .json(Array("{}".utf8)), exchange, respond)
    }

    // MARK: µlogger

    /// The name of the cookie that has the reporting key of a μlogger app.
    private static let cookie = "ulogger"

    /// `action=auth` sends the reporting key as the password. Later requests send it in the cookie that the answer
    /// sets.
    static let uLoggerCredentials = Route.Credentials.message { request in
        let fields = Self.uLoggerFields(request)
        if let password = fields.first(where: { $0.name == "pass" })?.value { return password }
        return request.header("cookie")?.split(separator: ";").lazy.map { $0.drop { $0 == " " } }
            .first { $0.hasPrefix("\(Self.cookie)=") }.map { String($0.dropFirst(Self.cookie.utf8.count + 1)) }
    } refused: { _ in
        Problem(401, "Not authenticated", "Give the device's name as user name and its reporting key as password.")
    }

    /// The fields of a request: µlogger sends a form, or a multipart body when it adds an image.
    ///
    /// The order of the fields is kept. Files in a multipart body are left out.
    private static func uLoggerFields(_ request: HTTPRequest) -> [OsmAnd.Parameter] {
        let parts = MultipartTexts.fields(of: request.body, contentType: request.header("content-type") ?? "")
        return parts.isEmpty ? request.formFields : parts
    }

    /// `POST /ulogger/client/index.php`: the one address of µlogger's app, which names the request in `action`. An
    /// image sent with a position is ignored.
    ///
    /// An unknown action gets 200 with `error`, as the app expects; a wrong name or key gets 401.
    func uLogger(
        _ exchange: Exchange, _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        let own: Set<String> = ["action", "user", "pass"]
        let fields = Self.uLoggerFields(exchange.request)
        let action = fields.first { $0.name == "action" }?.value
        let told = fields.filter { !own.contains($0.name) }
        let done = Array(#"{"error":false}"#.utf8)
        switch action {
        case "auth":
            let device = DeviceID(rawValue: exchange.caller.principal.rawValue)
            let handle = decisions.log.withStanding { $0.devices[device]?.handle?.text }
            let user = fields.first { $0.name == "user" }?.value.lowercased()
            guard let handle, handle == user, let password = fields.first(where: { $0.name == "pass" })?.value else {
                return respond(Problem.notAuthenticated.response)
            }
            var response = HTTPResponse.json(done)
            response.headers.append(
                ("Set-Cookie", "\(Self.cookie)=\(password); Path=/ulogger/; HttpOnly; SameSite=Strict"))
            respond(response)
        case "addtrack":
            // The app expects a track number, which it sends with each position. The time at which the track began is
            // unique enough.
            let id = decisions.clock().milliseconds / 1000
            var writer = JSONWriter()
            writer.beginObject()
            writer.field("error", false)
            writer.field("trackid", id)
            writer.endObject()
            let track = ParameterDialect.uLogger.report(
                of: told + [(name: "trackid", value: "\(id)")], now: decisions.clock())
            take([track], answering: .json(writer.bytes), exchange, respond)
        case "addpos":
            let report = ParameterDialect.uLogger.report(of: told, now: decisions.clock())
            take([report], answering: .json(done), exchange, respond)
        default:
            respond(.json(Array(#"{"error":true,"message":"action must be auth, addtrack or addpos."}"#.utf8)))
        }
    }
}
