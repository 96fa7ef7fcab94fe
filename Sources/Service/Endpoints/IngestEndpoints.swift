import Cryptography
import HTTPServer
import JSON
import Whereabouts
import WireFormats

/// What devices report. An answer of 200 means that every fix is durable, or kept as rejected.
enum IngestEndpoints {
    static func fixes(_ service: Service, _ exchange: Exchange, _ respond: @escaping @Sendable (HTTPResponse) -> Void) {
        let reports = FixJSON.reports(from: exchange.request.body, now: service.clock())
        submit(reports, of: .caller, service, exchange) { result in respond(counts(result)) }
    }

    /// What a device says beside fixes; see ``ReportJSON``.
    static func reports(
        _ service: Service, _ exchange: Exchange, _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        let reports = ReportJSON.reports(from: exchange.request.body, now: service.clock())
        submit(reports, of: .caller, service, exchange) { result in respond(counts(result)) }
    }

    static func overland(
        _ service: Service, _ exchange: Exchange, _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        let reports = Overland.reports(from: exchange.request.body, now: service.clock())
        take(reports, answering: .json(Overland.answer), service, exchange, respond)
    }

    static func osmAnd(_ service: Service, _ exchange: Exchange, _ respond: @escaping @Sendable (HTTPResponse) -> Void)
    {
        let request = exchange.request
        let reports =
            isJSON(request)
            ? OsmAnd.reports(ofJSON: request.body, now: service.clock())
            : [OsmAnd.report(of: request.query + request.form, now: service.clock())]
        take(reports, answering: HTTPResponse(status: 200), service, exchange, respond)
    }

    /// For clients that hear one word only, whatever became of what they sent.
    static func take(
        _ reports: [Report], answering answer: HTTPResponse, _ service: Service, _ exchange: Exchange,
        _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        submit(reports, of: .caller, service, exchange) { result in
            switch result {
            case .success: respond(answer)
            case .failure(let problem): respond(problem.response)
            }
        }
    }

    /// The protocol has no other place for the reporting key than the id of the device, and no other word for a wrong one
    /// than 400, or 404 in the JSON form; both make the client keep its queue.
    static let osmAndCredentials = Route.Credentials.message { request in
        isJSON(request) ? OsmAnd.deviceKey(inJSON: request.body) : OsmAnd.deviceKey(in: request.query + request.form)
    } refused: { request in
        Problem(
            isJSON(request) ? 404 : 400, "Unknown device",
            "Give the device's reporting key as the identifier in the client's settings.")
    }

    private static func isJSON(_ request: HTTPRequest) -> Bool {
        request.method == "POST" && request.header("content-type")?.lowercased().hasPrefix("application/json") == true
    }

    /// A batch that the tool parsed from a file, in the name of a device.
    static func importBatch(
        _ service: Service, _ exchange: Exchange, _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        do throws(Problem) {
            guard Identifier128(exchange.parameters[0]) != nil else {
                throw .invalid("An import is named by a UUID.")
            }
            let body: JSONDocument
            do throws(JSONError) { body = try JSONDocument.parse(exchange.request.body) } catch {
                throw .unreadable(error)
            }
            let device = try body.root.handle("device")
            guard body.root["fixes"]?.array != nil else {
                throw .invalid("\"fixes\" must be a list of what to bring in.")
            }
            let reports = FixJSON.reports(from: exchange.request.body, now: service.clock())
            submit(reports, of: .named(device), service, exchange) { result in respond(counts(result)) }
        } catch { respond(error.response) }
    }

    static func registerPushToken(
        _ service: Service, _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let body = try exchange.object("hex", "environment", "bundleID")
        guard let bytes = Hex.decode(try body.text("hex")) else {
            throw .invalid("\"hex\" must be hexadecimal.")
        }
        let environment: PushEnvironment =
            switch try body.text("environment") {
            case "production": .production
            case "development": .development
            default: throw .invalid("\"environment\" must be \"production\" or \"development\".")
            }
        let bundleID = try body.text("bundleID")
        guard (1...155).contains(bundleID.utf8.count), bundleID.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
            throw .invalid("\"bundleID\" must be the app's bundle id.")
        }
        let receipt = try Gate.append(
            service, exchange,
            .registerPushToken(
                device: try exchange.handle(0), LocationPushToken(bytes: bytes, bundleID: bundleID), environment))
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("number", service.references(for: exchange.caller).receipt(receipt))
        writer.endObject()
        return .json(writer.bytes)
    }

    struct Counted: Sendable {
        var new = 0
        /// How many of ``new`` share device, time and place with another fix.
        var twins = 0
        var duplicate = 0
        var rejected: [(index: Int, reason: RejectionReason)] = []
        var number: References.Name?
    }

    static func submit(
        _ reports: [Report], of device: DeviceReference, _ service: Service, _ exchange: Exchange,
        _ completion: @escaping @Sendable (Result<Counted, Problem>) -> Void
    ) {
        guard reports.count <= Limits.batchCommands else {
            return completion(
                .failure(
                    Problem(413, "Too many reports", "Send at most \(Limits.batchCommands) reports in one request.")))
        }
        let request = exchange.request
        let wanted = DeviceReport.all(
            reports, from: request.body, droppedBytes: request.droppedBytes, receivedLive: device == .caller)
        let log = service.log
        log.submit(.reportFixes(device: device, wanted), by: exchange.caller, correlation: exchange.id) { result in
            switch result {
            case .failure(let failure): completion(.failure(Problem(failure)))
            case .success(let receipt):
                var counted = Counted(number: service.references(for: exchange.caller).receipt(receipt))
                if case .fixes(let outcomes) = receipt.reply {
                    for (index, outcome) in outcomes.enumerated() {
                        switch outcome {
                        case .new: counted.new += 1
                        case .twin:
                            counted.new += 1
                            counted.twins += 1
                        case .duplicate: counted.duplicate += 1
                        case .rejected(let reason): counted.rejected.append((index, reason))
                        }
                    }
                }
                completion(.success(counted))
            }
        }
    }

    private static func counts(_ result: Result<Counted, Problem>) -> HTTPResponse {
        switch result {
        case .failure(let problem): return problem.response
        case .success(let counted):
            var writer = JSONWriter()
            writer.beginObject()
            writer.field("new", counted.new)
            writer.field("duplicate", counted.duplicate)
            writer.field("twins", counted.twins)
            writer.array("rejected") { writer in
                for (index, reason) in counted.rejected {
                    writer.beginObject()
                    writer.field("index", index)
                    reason.writeMembers(into: &writer)
                    writer.endObject()
                }
            }
            writer.field("number", counted.number)
            writer.endObject()
            return .json(writer.bytes)
        }
    }
}

extension RejectionReason {
    func writeMembers(into writer: inout JSONWriter) {
        writer.field("reason", word)
        writer.field("detail", sentence)
    }

    /// What is wrong, and what to do.
    private var sentence: String {
        switch self {
        case .notJSON: "The body is not JSON; nothing of it was read."
        case .unknownType: "This is none of the reports this address takes."
        case .missingField: "A required member is missing."
        case .badCoordinate: "Latitude must be -90 to 90, longitude -180 to 180."
        case .badTimestamp: "\"timestamp\" must be Unix seconds or a time like 2026-05-01T08:00:00Z, since 1990."
        case .inTheFuture: "\"timestamp\" is more than a day ahead; set the device's clock."
        case .noFix: "The device had no fix: this is no location."
        case .tooLarge: "Send at most \(Limits.batchCommands) reports and \(Limits.ingestBodyBytes >> 20) MiB at once."
        case .encryptedWithoutKey:
            "The payload is encrypted with a key that is not here; name its file in config.json, or turn the encryption off."
        case .badValue: "A member has none of the values it can have."
        }
    }
}
