import Answers
import Cryptography
import HTTPInterface
import HTTPServer
import JSON
import Log
import Replies
import Whereabouts
import WireFormats

/// Reports from devices. The status 200 means that every report is durable; a rejected one is kept too.
///
/// These handlers run on the server's thread: they parse the body and queue a command, and the log's thread answers.
/// At most `Limits.batchCommands` reports fit in one request (413 beyond).
///
/// May call: a device with its reporting key, for itself alone; for imports the operator. A wrong key gets the refusal
/// that the client knows, for example 401. The events are in the track of the device's owner, with the coordinates
/// sealed.
struct IngestEndpoints: Sendable {
    let decisions: Decisions
    let gate: Gate
    let answers: AnswerPool
    /// The keys of OwnTracks' encrypted payloads, by device.
    let secretBoxes: [Handle: SecretBox]
    /// The friends' locations that each app was shown last.
    let friendsShown: FriendsShown

    /// `POST /v1/fixes`: takes fixes in the service's own form (``FixJSON``). Answers with `new`, `duplicate`, `twins`,
    /// `rejected` and `number`.
    ///
    /// For example `{"fixes":[{"timestamp":1777881600,"latitude":48.2082,"longitude":16.3738}]}`. Recorded as
    /// `FixReported`, or as `InputRejected` with the beginning of a report that cannot be read. A repeated fix makes
    /// no event.
    func fixes(_ exchange: Exchange, _ respond: @escaping @Sendable (HTTPResponse) -> Void) {
        let reports = FixJSON.reports(from: exchange.request.body, now: decisions.clock())
        submit(reports, of: .caller, exchange) { respond(counts($0, exchange)) }
    }

    /// `POST /v1/reports`: takes reports that are not fixes, for example authorization changes and beacon sightings;
    /// see ``ReportJSON``.
    ///
    /// Recorded by kind, for example as `AuthorizationReported`, `BeaconSighted` or `VisitReported`.
    func reports(
        _ exchange: Exchange, _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        let reports = ReportJSON.reports(from: exchange.request.body, now: decisions.clock())
        submit(reports, of: .caller, exchange) { respond(counts($0, exchange)) }
    }

    /// `POST /overland`: takes a batch of the Overland app. The answer is always the one that makes the app drop the
    /// batch.
    ///
    /// A batch that is refused would block the app's queue, so a rejected point is kept and the batch acknowledged.
    func overland(
        _ exchange: Exchange, _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        let reports = Overland.reports(from: exchange.request.body, now: decisions.clock())
        take(reports, answering: .json(Overland.answer), exchange, respond)
    }

    /// `/osmand`, with the parameters or the bodies of OsmAnd and Traccar Client.
    ///
    /// The key is the `id` of the protocol, so it must be kept as secret as a password.
    func osmAnd(_ exchange: Exchange, _ respond: @escaping @Sendable (HTTPResponse) -> Void) {
        let request = exchange.request
        let reports =
            Self.isJSON(request)
            ? OsmAnd.reports(ofJSON: request.body, now: decisions.clock())
            : [OsmAnd.report(of: request.query + request.form, now: decisions.clock())]
        take(reports, answering: HTTPResponse(status: 200), exchange, respond)
    }

    /// Takes reports of a client that expects one fixed answer, whether they are accepted or rejected.
    ///
    /// - Parameter answer: Sent once all reports are durable. A busy or full log answers with its problem, and the
    ///   client tries again.
    func take(
        _ reports: [Report], answering answer: HTTPResponse, _ exchange: Exchange,
        _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        submit(reports, of: .caller, exchange) { result in
            switch result {
            case .success: respond(answer)
            case .failure(let problem): respond(problem.response)
            }
        }
    }

    /// The protocol has no field for the reporting key but the device id, and no answer for a wrong key but 400, or 404
    /// in the JSON form. With both, the client keeps its queue.
    static let osmAndCredentials = Route.Credentials.message { request in
        Self.isJSON(request)
            ? OsmAnd.deviceKey(inJSON: request.body) : OsmAnd.deviceKey(in: request.query + request.form)
    } refused: { request in
        Problem(
            Self.isJSON(request) ? 404 : 400, "Unknown device",
            "Give the device's reporting key as the identifier in the client's settings.")
    }

    /// Whether the request is a `POST` whose `Content-Type` is JSON.
    private static func isJSON(_ request: HTTPRequest) -> Bool {
        request.method == "POST" && request.header("content-type")?.lowercased().hasPrefix("application/json") == true
    }

    /// `POST /v1/imports/*/batches`: takes a batch that the tool has parsed from a file. It has fixes of one `device`,
    /// or of several `devices`.
    ///
    /// The UUID in the path names the import; sending a batch again changes nothing.
    ///
    /// May call: the operator. Fixes of an import have no time of receipt. Recorded as `FixReported` with the import
    /// as the correlation.
    ///
    /// - Throws: 400 for an id that is no UUID or a body without fixes, 404 for an unknown device, 413 for too many.
    func importBatch(
        _ exchange: Exchange, _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        do throws(Problem) {
            // The id is the correlation of the events, by which the import can be undone.
            let id = try ImportEndpoints.id(exchange.parameters[0])
            let body: JSONValue
            do throws(JSONError) { body = try JSONDocument.parse(exchange.request.body, keepsText: true).root } catch {
                throw .unreadable(error)
            }
            if body["devices"] != nil {
                let file = try ImportEndpoints.file(body["file"])
                return try importDevices(exchange, body, ImportReference(id: id, file: file), respond)
            }
            let device = try body.handle("device")
            guard body["fixes"]?.array != nil else {
                throw .invalid("\"fixes\" must be a list of fixes.")
            }
            let reports = FixJSON.reports(in: body, now: decisions.clock())
            submit(reports, of: .named(device), exchange, correlation: id) { respond(counts($0, exchange)) }
        } catch { respond(error.response) }
    }

    /// A batch of several devices, which are made with their people as far as they do not exist. All of it shares
    /// commits. Each device is one command, so a crash leaves a device's part whole or not at all.
    private func importDevices(
        _ exchange: Exchange, _ body: JSONValue, _ file: ImportReference,
        _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) throws(Problem) {
        guard let batches = FixJSON.deviceBatches(in: body, now: decisions.clock()) else {
            throw .invalid("\"devices\" must be a list of devices with their fixes.")
        }
        guard max(batches.count, batches.reduce(0) { $0 + ($1.reports?.count ?? 0) }) <= Limits.batchCommands else {
            throw Problem(
                413, "Too many reports",
                "Send at most \(Limits.batchCommands) devices and \(Limits.batchCommands) reports in one request.")
        }
        var orders: [Order<ImportOutcome>] = []
        orders.reserveCapacity(batches.count)
        for (index, batch) in batches.enumerated() {
            guard let person = batch.person.flatMap({ Handle($0) }), let device = batch.device.flatMap({ Handle($0) }),
                let reports = batch.reports
            else {
                throw .invalid(
                    "\"devices\"[\(index)] must have the handles \"person\" and \"device\" and a list \"fixes\"; \"visits\" is a list if given."
                )
            }
            orders.append(
                .importFixes(
                    of: person, device: device, DeviceReport.all(reports, from: batch.text, receivedLive: false),
                    in: file))
        }
        decisions.log.submit(orders.map(\.command), by: exchange.caller, correlation: file.id) { [orders] results in
            respond(importedDevices(results, of: orders, visits: batches.map(\.visits), exchange))
        }
    }

    /// The outcome of each device, or the first refusal. Fixes accepted beside a refusal stay: they are duplicates the
    /// next time.
    private func importedDevices(
        _ results: [Result<Receipt, AppendFailure>], of orders: [Order<ImportOutcome>], visits: [Int],
        _ exchange: Exchange
    ) -> HTTPResponse {
        let references = decisions.references(for: exchange.caller)
        var newest: Receipt?
        var failure: AppendFailure?
        var devices: [ImportedDevice] = []
        for (result, (order, visits)) in zip(results, zip(orders, visits)) {
            switch result {
            case .failure(let refused): failure = failure ?? refused
            case .success(let receipt):
                newest = receipt
                guard let outcome = order.read(receipt.reply) else { continue }
                devices.append(
                    ImportedDevice(
                        addedPerson: outcome.addedPerson, addedDevice: outcome.addedDevice,
                        fixes: Counted(outcome.fixes.dropLast(visits)).outcome(),
                        visits: visits > 0 ? Counted(outcome.fixes.suffix(visits)).outcome() : nil))
            }
        }
        if let failure { return Problem(failure).response }
        return .reply(ImportedBatch(devices: devices, number: newest.map { references.receipt($0) }))
    }

    /// `PUT /v1/devices/*/location-push-token`: registers the token by which APNs wakes the device.
    ///
    /// The body has `hex` (``Limits/pushTokenBytes`` bytes), `environment` (`production` or `development`) and
    /// `bundleID`. A repetition within ``Limits/pushTokenRenewalSeconds`` makes no event.
    ///
    /// May call: the device itself, with its reporting key. Recorded as `LocationPushTokenRegistered`, with the token
    /// sealed.
    ///
    /// - Throws: 400 for a wrong member, 404 for the path of another device, 422 for a token of another length.
    func registerPushToken(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let body = try exchange.object("hex", "environment", "bundleID")
        guard let bytes = Hex.decode(try body.requiredText("hex")) else {
            throw .invalid("\"hex\" must be hexadecimal.")
        }
        let environment: PushEnvironment =
            switch try body.requiredText("environment") {
            case "production": .production
            case "development": .development
            default: throw .invalid("\"environment\" must be \"production\" or \"development\".")
            }
        let bundleID = try body.requiredText("bundleID")
        guard (1...155).contains(bundleID.utf8.count), bundleID.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
            throw .invalid("\"bundleID\" must be the app's bundle id.")
        }
        let receipt = try decisions.append(
            exchange,
            .registerPushToken(
                device: try exchange.handle(0), LocationPushToken(bytes: bytes, bundleID: bundleID), environment))
        return .done(receipt, decisions.references(for: exchange.caller))
    }

    /// The outcomes of a batch, counted for the answer.
    struct Counted: Sendable {
        /// The fixes that made an event.
        var new = 0
        /// The number of ``new`` fixes with the device, time and place of another fix.
        var twins = 0
        /// The fixes that were in the log already.
        var duplicate = 0
        /// The rejected reports by their index in the batch, from 0.
        var rejected: [(index: Int, reason: RejectionReason)] = []

        /// - Parameter outcomes: In the order of the batch.
        init(_ outcomes: some Collection<FixOutcome>) {
            for (index, outcome) in outcomes.enumerated() {
                switch outcome {
                case .new: new += 1
                case .twin:
                    new += 1
                    twins += 1
                case .duplicate: duplicate += 1
                case .rejected(let reason): rejected.append((index, reason))
                }
            }
        }

        /// The counts for an answer, with the number of the last event as the caller sees it.
        func outcome(_ number: References.Name? = nil) -> ReportOutcome {
            ReportOutcome(
                new: Int64(new), duplicate: Int64(duplicate), twins: Int64(twins),
                rejected: rejected.map {
                    RejectedItem(index: Int64($0.index), reason: $0.reason.word, detail: $0.reason.sentence)
                }, number: number)
        }
    }

    /// Queues the reports as one command. `completion` is called once, after the commit, on the log's thread, and must
    /// not block.
    ///
    /// - Parameter device: The calling device, or for an import the named one; the time of receipt of imported fixes
    ///   means nothing and is dropped.
    ///
    /// The queue is bounded: past `EventLog.queueBound` commands the answer is 503 with `Retry-After`.
    func submit(
        _ reports: [Report], of device: DeviceReference, _ exchange: Exchange, correlation: Identifier128? = nil,
        _ completion: @escaping @Sendable (Result<(counted: Counted, receipt: Receipt), Problem>) -> Void
    ) {
        guard reports.count <= Limits.batchCommands else {
            return completion(
                .failure(
                    Problem(413, "Too many reports", "Send at most \(Limits.batchCommands) reports in one request.")))
        }
        let request = exchange.request
        let wanted = DeviceReport.all(
            reports, from: request.body, droppedBytes: request.droppedBytes, receivedLive: device == .caller)
        let order = Order.reportFixes(device: device, wanted)
        decisions.log.submit(order.command, by: exchange.caller, correlation: correlation ?? exchange.id) { result in
            switch result {
            case .failure(let failure): completion(.failure(Problem(failure)))
            case .success(let receipt):
                completion(.success((Counted(order.read(receipt.reply) ?? []), receipt)))
            }
        }
    }

    /// The answer to an import of one device: the counts and the `number` of the last event.
    private func counts(
        _ result: Result<(counted: Counted, receipt: Receipt), Problem>, _ exchange: Exchange
    ) -> HTTPResponse {
        switch result {
        case .failure(let problem): return problem.response
        case .success(let (counted, receipt)):
            return .reply(counted.outcome(decisions.references(for: exchange.caller).receipt(receipt)))
        }
    }
}
