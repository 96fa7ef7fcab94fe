import HTTPServer
import JSON
import Whereabouts
import WireFormats

/// Clients of other servers, at the addresses and with the answers that those have.
extension IngestEndpoints {
    // MARK: PhoneTrack

    /// PhoneTrack keeps what it sent unless the answer says exactly that it is done (`WebTrackHelper.java`).
    private static let phoneTrackDone = Array(#"{"done":1,"friends":[]}"#.utf8)

    static func phoneTrack(
        _ service: Service, _ exchange: Exchange, _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        let request = exchange.request
        let report = ParameterDialect.phoneTrack.report(of: request.query + request.form, now: service.clock())
        take([report], answering: .json(phoneTrackDone), service, exchange, respond)
    }

    static func phoneTrackPoints(
        _ service: Service, _ exchange: Exchange, _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        let reports = PhoneTrack.reports(ofPoints: exchange.request.body, now: service.clock())
        take(reports, answering: .json(phoneTrackDone), service, exchange, respond)
    }

    /// The reporting key stands in the path, before what the client calls its device.
    static let phoneTrackCredentials = pathCredentials(4)

    /// The part of the path at `index`, as where Nextcloud has the token of a session and Home Assistant the webhook's id.
    private static func pathCredentials(_ index: Int) -> Route.Credentials {
        .message { request in
            let parts = Route.parts(request.path)
            return index < parts.count ? parts[index] : nil
        } refused: { _ in
            Problem(401, "Not authenticated", "Put the device's reporting key at its place in the address.")
        }
    }

    // MARK: Home Assistant

    static let webhookCredentials = pathCredentials(2)

    /// What Home Assistant takes at a webhook's address: messages of its companion app, of OwnTracks, and GPSLogger's form.
    static func webhook(
        _ service: Service, _ exchange: Exchange, _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        let request = exchange.request
        if !request.form.isEmpty, messageInForm(request) == nil {
            let report = ParameterDialect.homeAssistant.report(of: request.form, now: service.clock())
            return take([report], answering: HTTPResponse(status: 200), service, exchange, respond)
        }
        let isOwnTracks = (try? JSONDocument.parse(request.body))?.root["_type"] != nil
        guard !isOwnTracks, messageInForm(request) == nil else { return ownTracks(service, exchange, respond) }
        guard let report = HomeAssistant.report(from: request.body, now: service.clock()) else {
            return respond(.json(Array("{}".utf8)))
        }
        take([report], answering: .json(Array("{}".utf8)), service, exchange, respond)
    }

    // MARK: µlogger

    private static let cookie = "ulogger"

    /// `action=auth` brings the reporting key as the password; what follows brings it back in the cookie.
    static let uLoggerCredentials = Route.Credentials.message { request in
        let fields = uLoggerFields(request)
        if let password = fields.first(where: { $0.name == "pass" })?.value { return password }
        return request.header("cookie")?.split(separator: ";").lazy.map { $0.drop { $0 == " " } }
            .first { $0.hasPrefix("\(cookie)=") }.map { String($0.dropFirst(cookie.utf8.count + 1)) }
    } refused: { _ in
        Problem(401, "Not authenticated", "Give the device's name as user name and its reporting key as password.")
    }

    private static func uLoggerFields(_ request: HTTPRequest) -> [OsmAnd.Parameter] {
        let parts = MultipartTexts.fields(of: request.body, contentType: request.header("content-type") ?? "")
        return parts.isEmpty ? request.formFields : parts
    }

    /// One address for all that µlogger's app does, told apart by `action`. An image that comes with a position is passed over.
    static func uLogger(
        _ service: Service, _ exchange: Exchange, _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        let own: Set<String> = ["action", "user", "pass"]
        let fields = uLoggerFields(exchange.request)
        let action = fields.first { $0.name == "action" }?.value
        let told = fields.filter { !own.contains($0.name) }
        let done = Array(#"{"error":false}"#.utf8)
        switch action {
        case "auth":
            let device = DeviceID(rawValue: exchange.caller.principal.rawValue)
            let handle = service.log.withStanding { $0.devices[device]?.handle?.text }
            let user = fields.first { $0.name == "user" }?.value.lowercased()
            guard let handle, handle == user, let password = fields.first(where: { $0.name == "pass" })?.value else {
                return respond(Problem.notAuthenticated.response)
            }
            var response = HTTPResponse.json(done)
            response.headers.append(("Set-Cookie", "\(cookie)=\(password); Path=/ulogger/; HttpOnly; SameSite=Strict"))
            respond(response)
        case "addtrack":
            // The app wants a number to send with each position: when the track began says most.
            let id = service.clock().milliseconds / 1000
            var writer = JSONWriter()
            writer.beginObject()
            writer.field("error", false)
            writer.field("trackid", id)
            writer.endObject()
            let track = ParameterDialect.uLogger.report(
                of: told + [(name: "trackid", value: "\(id)")], now: service.clock())
            take([track], answering: .json(writer.bytes), service, exchange, respond)
        case "addpos":
            let report = ParameterDialect.uLogger.report(of: told, now: service.clock())
            take([report], answering: .json(done), service, exchange, respond)
        default:
            respond(.json(Array(#"{"error":true,"message":"action must be auth, addtrack or addpos."}"#.utf8)))
        }
    }
}
