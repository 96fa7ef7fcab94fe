import Answers
import Cryptography
import Gazetteer
import Glibc
import HTTPInterface
package import HTTPServer
import HouseEndpoints
package import Log
import Maintenance
import PersonEndpoints
package import PostgreSQLLog
package import Projections
package import Reactors
import Readers
import ReportEndpoints
import Synchronization
import Tables
import Threading
import WebPage
package import Whereabouts

/// The whole service over one data directory: the log, its projections, the reactors, the answering threads and the
/// door. It works the same without a socket: if nothing listens, the tool passes requests in directly.
///
/// Every part starts in the initializer and runs until ``stop(_:)``. Only one service may have a data directory open.
package final class Service: Sendable {
    /// The files of the service; the directory stays locked as long as the service exists.
    let directory: DataDirectory
    /// The thread that folds the log into projections.
    let host: ProjectionHost
    /// The threads that compute answers, each with its own connections to the projections.
    let answers: AnswerPool
    /// The requests that wait for the end of a query, without a thread each.
    let waitingRoom: WaitingRoom
    /// Everything that runs without a request.
    private let reactors: RunningReactors
    /// Compares the projections' fingerprints with their rows after the start, in the background.
    var checker: FingerprintChecker { background.checker }
    /// The work in the background: the check after the start, the checks as long as the service runs, and the shipper, if
    /// events are shipped.
    private let background: (checker: FingerprintChecker, selfCheck: SelfCheck, shipper: Shipper?)
    /// Ships the events to another place; `nil` unless one is configured.
    var shipper: Shipper? { background.shipper }
    /// The budgets of processor time for geocoding, since the start.
    let geocodingBudgets = GeocodingBudgets()
    /// The log as requests use it.
    let decisions: Decisions
    /// The log, which decides and appends every command.
    var log: EventLog { decisions.log }
    /// The entry of all requests, and what goes before it in a house with shards.
    private let entry: (door: Door, sharding: RunningSharding?)
    /// The entry of all requests that are answered here.
    var door: Door { entry.door }
    /// The part in a house with shards; `nil` in a house with one log.
    var sharding: RunningSharding? { entry.sharding }
    /// The progress of the verification that `GET /v1/verify` runs.
    package let verificationProgress = VerificationProgress()
    /// The HTTP server; `nil` before it listens and after the stop.
    private let server = RunningServer()
    /// The operator's token, and whether this start made it.
    private let operatorToken: (text: String, isNew: Bool)
    /// The operator's token.
    package var adminToken: String { operatorToken.text }
    /// Whether this start made the operator's token.
    package var adminTokenIsNew: Bool { operatorToken.isNew }

    /// A key is made for a log that exists. Without this check, a lost log would be replaced by an empty one.
    private static func refuseMissingLog(_ directory: DataDirectory) throws(LogError) {
        var status = stat()
        // A log whose first start was interrupted is an empty file.
        if stat(directory.log, &status) == 0, status.st_size > 0 { return }
        guard try KeyRing.holders(in: directory.keys).isEmpty else { throw .logMissing(path: directory.log) }
    }

    /// Opens the directory's log and projections and starts the threads. Nothing listens yet.
    ///
    /// - Parameters:
    ///   - logServer: The database server of the log, whose turn the caller has; `nil` if the service itself takes the log
    ///     that `configuration` names, without waiting for another process.
    ///   - acceptingLoss: Whether to open a log that lacks durable events, and record the loss.
    ///   - clock: The time of the house; by default the system's.
    ///   - steady: The milliseconds of a clock that cannot be set; `clock` if only that is given, as in a simulation.
    /// - Throws: ``LogError``, ``GazetteerError`` or ``ConfigurationError``, each one sentence for an operator.
    package init(
        directory: DataDirectory, configuration: ServiceConfiguration, gazetteerPath: String?,
        logServer: LogServer? = nil, acceptingLoss: Bool = false, clock: (@Sendable () -> Timestamp)? = nil,
        steady: (@Sendable () -> Int64)? = nil
    ) throws {
        let steady = steady ?? clock.map { clock in { @Sendable in clock().milliseconds } } ?? QuestionClock.system
        let clock = clock ?? { @Sendable in Timestamp.now }
        self.directory = directory
        // First, because on a full disk opening the files needs the space of the reserve.
        let room = Room(directory: directory.path)
        let taken = try (logServer ?? Self.server(configuration))?.take(for: directory, acceptingLoss: acceptingLoss)
        let keyEncryptionKey = try directory.keyEncryptionKey(isCopy: taken != nil)
        let keys = try directory.openKeys(under: keyEncryptionKey, record: taken?.keyRecord)
        if let taken { try keys.copy(taken.keys) }
        try Self.refuseMissingLog(directory)
        let secretBoxes = try Self.secretBoxes(configuration)
        let gazetteer = try gazetteerPath.map { try Gazetteer(path: $0, worldview: configuration.worldview) }
        let log = try EventLog(
            path: directory.log, keys: keys, savedStanding: StandingFile(directory: directory.projections),
            identities: .init(folder: directory.fixIdentities), server: taken?.engine, acceptingLoss: acceptingLoss,
            room: room, clock: clock, steady: steady)
        try Self.checkPlace(of: log, isOnServer: taken != nil)
        try Self.checkShard(of: log, configuration.sharding)
        try Self.settlePushes(log)
        let host = try ProjectionHost(
            log: log, directory: directory.projections, catalogPath: directory.catalog, kinds: ProjectionKind.all)
        self.host = host
        // One reader for each thread, opened here so that a fault appears at the start and not with the first question.
        let readers = Mutex(try (0..<AnswerPool.threads).map { _ in UncheckedBox(try LogReader.opened(log)) })
        answers = AnswerPool {
            let reader = readers.withLock { $0.removeLast() }
            return AnswerContext(host: host, reader: reader.value, gazetteer: gazetteer)
        }
        decisions = Decisions(
            log: log, clock: clock, knownReferences: KnownReferences(under: keyEncryptionKey),
            shards: configuration.sharding?.shards ?? [])
        let seal = HouseSeal(
            publicURL: configuration.publicURL, log: log.id, epoch: log.epoch, mark: log.withStanding { $0.mark },
            under: keyEncryptionKey)
        let receipts = Receipts(decisions: decisions, seal: seal, answers: answers)
        let views = Views(
            gate: Gate(decisions: decisions, receipts: receipts, host: host), host: host, timeZones: TimeZoneDatabase())
        let deviceContacts = DeviceContacts()
        let sources = FeedSources(views: views, deviceContacts: deviceContacts, gazetteer: gazetteer)
        waitingRoom = WaitingRoom(log: log, clock: clock)
        let backups = BackupKeeper(directory, log)
        reactors = try RunningReactors(
            configuration, log: log, clock: clock, steady: steady, whenKeysDestroyed: { backups.settleLater() })
        let houseLog = HouseLog(views, seal: seal)
        let personLogs = PersonLogs(
            views, seal: seal, houseLog: houseLog,
            cosigning: reactors.witnesses.map { rounds -> PersonLogs.Cosigning in rounds.cosign })
        let shipper = try configuration.shipping.map { target throws(LogError) in
            try Shipper(ShippingTarget(target), directory: directory, log: log, clock: clock)
        }
        background = (FingerprintChecker(host: host), SelfCheck(host: host, log: log, clock: clock), shipper)
        operatorToken = try Self.adminToken(directory, log)
        backups.settleLater()
        let requestFigures = RequestFigures(shards: decisions.shards)
        let callers = Callers(decisions)
        let page = PageRoutes(
            views: views, callers: callers, seal: seal, geocodingBudgets: geocodingBudgets,
            publicURL: configuration.publicURL, isDemo: configuration.isDemo, gazetteerPath: gazetteerPath,
            dataDirectory: directory.path, onlineTiles: configuration.onlineTiles.map(OnlineTiles.init))
        let description = APIDescription()
        let houseOperations = HouseOperations.all(
            views: views, houseLog: houseLog, answers: answers, directory: directory, backups: backups,
            backupMaker: BackupMaker(directory: directory, log: log, clock: clock),
            deviceContacts: deviceContacts, geocodingBudgets: geocodingBudgets, requestFigures: requestFigures,
            verificationProgress: verificationProgress, apps: reactors.apps, webhooks: reactors.webhooks,
            witnesses: reactors.witnesses, shipper: shipper, serverCounters: { [server] in server.counters })
        let operations =
            ReportOperations.all(views: views, answers: answers, secretBoxes: secretBoxes)
            + PersonOperations.all(
                views: views, personLogs: personLogs, answers: answers, waitingRoom: waitingRoom,
                deliverer: reactors.deliverer, sources: sources, webhooks: reactors.webhooks,
                hasTrackers: configuration.mqtt?.discoveryPrefix != nil,
                spoolRoom: SpoolRoom(directory: directory.path), others: houseOperations)
            + houseOperations + description.operations + page.operations
        description.describe(operations)
        let parts = try ShardingParts(configuration.sharding, decisions, answers, requestFigures.shards)
        let others =
            Self.recording(for: taken, decisions, receipts, requestFigures, under: keyEncryptionKey) + parts.routes
        let door = Door(
            decisions: decisions, routes: RouteTable(operations, pages: page.routes(over: operations) + others),
            answers: answers, callers: callers, requestKeys: RequestKeys(under: keyEncryptionKey),
            crossOrigin: CrossOrigin(origins: configuration.allowedOrigins), requestFigures: requestFigures,
            deviceContacts: deviceContacts, publicURL: configuration.publicURL,
            pageOfNothing: page.nothing(at:))
        let sharding = parts.start(
            configuration.sharding, door, decisions, answers, houseLog, requestFigures.shards,
            whenErased: { backups.settleLater(isNew: true) })
        entry = (door, sharding)
        try reactors.start(
            configuration, decisions, sources: sources, personLogs: personLogs, secretBoxes: secretBoxes)
    }

    /// Whether the pool answers a request within a time, however many wait. For a health check: it asks `/healthz`.
    package func isAnswering(milliseconds: Int) -> Bool {
        RunningServer.isAnswering(milliseconds: milliseconds) { handle($0, respond: $1) }
    }

    /// The fault that stopped the log; `nil` while the log takes commands.
    package var failure: LogError? { log.failure }

    /// Calls `body` once after a fault has stopped the log and every waiting caller has its error. The process can only
    /// be restarted then.
    package func whenLogFails(_ body: @escaping @Sendable () -> Void) { log.notifyOfFailure(body) }

    /// Answers a request that came without a socket, exactly once, on any thread.
    package func handle(_ request: HTTPRequest, respond: @escaping @Sendable (HTTPResponse) -> Void) {
        if let sharding { sharding.handle(request, respond: respond) } else { door.handle(request, respond: respond) }
    }

    /// Listens for requests until ``stop(_:)``; returns the port, which the system chooses if `port` is 0. The lock file
    /// then has the address.
    package func listen(host name: String, port: Int) throws(HTTPServerError) -> Int {
        try server.listen(
            host: name, port: port, announcingIn: directory, bodyLimit: { [door] in door.routes.bodyLimit($0, $1) },
            handle: { [entry] in
                if let sharding = entry.sharding {
                    sharding.handle($0, respond: $1)
                } else {
                    entry.door.handle($0, respond: $1)
                }
            })
    }

    /// Ends the wait of every request, answers the accepted ones, then stops thread after thread. Acknowledged events
    /// are durable, and recorded requests are answered.
    ///
    /// - Parameter patience: How long to wait for threads that are still working.
    /// - Returns: `false` if a thread is still working that neither the log nor an answer needs, for example one that
    ///   connects to a broker or verifies a long log. The process may end nevertheless.
    @discardableResult
    package func stop(_ patience: Patience = .untilQuiet) -> Bool {
        waitingRoom.close()
        log.releaseCallers()
        host.releaseCallers()
        sharding?.stop()
        let server = self.server.take()
        // No new connections from here on.
        server?.beginStopping()
        background.checker.stop()
        background.selfCheck.stop()
        var isQuiet = reactors.stop(brokerMilliseconds: patience.brokerMilliseconds)
        server?.stop { [log, answers] in
            // No request is recorded after this, and every recorded one has its answer.
            log.stop()
            answers.stop(milliseconds: patience.answersMilliseconds)
        }
        // Answers need their commands to be durable, so they end before the log.
        isQuiet = answers.stop(milliseconds: patience.answersMilliseconds) && isQuiet
        log.stop()
        // All events are durable now.
        isQuiet = shipper?.stop(milliseconds: patience.shipperMilliseconds) ?? true && isQuiet
        return host.stop(milliseconds: patience.projectionsMilliseconds) && isQuiet
    }

    /// How long ``stop(_:)`` waits for threads that are still working. A thread that is left behind keeps the lock of
    /// the data directory until the process ends.
    package struct Patience: Sendable {
        /// The bounds for the broker's thread, for the answering threads, for the shipper and for the thread of
        /// projections.
        let brokerMilliseconds, answersMilliseconds, shipperMilliseconds, projectionsMilliseconds: Int

        /// For a process that ends next: with the requests' three seconds, it has ended within 5 s of SIGTERM.
        package static let untilSIGKILL = Patience(
            brokerMilliseconds: 500, answersMilliseconds: 500, shipperMilliseconds: 500, projectionsMilliseconds: 500)
        /// For a process that goes on and may open the data directory again: a minute for most kinds of thread.
        package static let untilQuiet = Patience(
            brokerMilliseconds: 60_000, answersMilliseconds: 60_000, shipperMilliseconds: 10_000,
            projectionsMilliseconds: 60_000)
    }

    /// Records the pushes that were under way when the last process ended, before anything else is recorded.
    private static func settlePushes(_ log: EventLog) throws(LogError) {
        while log.withStanding({ $0.hasPushesToSettle }) {
            do throws(AppendFailure) {
                _ = try log.appendAndWait(.settlePushes, by: .house, correlation: .random())
            } catch {
                if case .fault(let fault) = error { throw fault }
                throw .stopped
            }
        }
    }

    /// The operator's token from `admin.token`, and whether it is new. A file that does not hold a valid token is
    /// replaced; the former tokens stay valid until they are revoked.
    private static func adminToken(_ directory: DataDirectory, _ log: EventLog) throws(LogError) -> (String, Bool) {
        if let bytes = DataDirectory.read(directory.adminToken, atMost: 256) {
            let text = String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }
            let hash = Hash256(SHA256().hash(Array(text.utf8)))
            if log.withStanding({ $0.tokens.hashed(hash) != nil }) { return (text, false) }
        }
        let secret = Secret(prefix: "wo_", randomBytes(32))
        do throws(AppendFailure) {
            _ = try log.appendAndWait(
                .issueToken(
                    for: .operator, scopes: [.query, .audit, .manage, .operate], hash: secret.hash, until: nil),
                by: .house, correlation: .random())
        } catch {
            if case .fault(let fault) = error { throw fault }
            throw .stopped
        }
        try DataDirectory.writePrivate(Array((secret.text + "\n").utf8), to: directory.adminToken)
        return (secret.text, true)
    }
}

extension Service {
    /// The keys of devices that encrypt in the app, by the device's handle.
    private static func secretBoxes(_ configuration: ServiceConfiguration) throws -> [Handle: SecretBox] {
        try configuration.ownTracksKeys.mapValues { path throws(LogError) in
            guard let phrase = DataDirectory.read(path, atMost: 4096) else { throw .file(path: path, errno: errno) }
            return SecretBox(passPhrase: phrase.last == UInt8(ascii: "\n") ? phrase.dropLast() : phrase[...])
        }
    }
}

extension OnlineTiles {
    /// The server of `config.json`.
    fileprivate init(_ configured: ServiceConfiguration.OnlineTiles) {
        self.init(
            address: configured.address, origin: "\(configured.origin)", attribution: configured.attribution,
            maxZoom: configured.maxZoom)
    }
}

extension ShippingTarget {
    /// The target of `config.json`.
    init(_ configured: ServiceConfiguration.Shipping) {
        self =
            switch configured {
            case .directory(let path): .directory(path)
            case .command(let words): .command(words)
            }
    }
}
