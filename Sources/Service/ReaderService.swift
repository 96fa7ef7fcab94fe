import Answers
import Gazetteer
import Glibc
package import HTTPInterface
package import HTTPServer
import HouseEndpoints
package import Log
import Maintenance
import PersonEndpoints
package import PostgreSQLLog
import Projections
package import Reactors
import Readers
import ReportEndpoints
import Synchronization
import Tables
import Threading
package import Whereabouts

/// A reader of a house: follows the log that another process writes, folds its own projections, and answers reads about
/// persons once that process has recorded them. Everything else is passed on.
///
/// It has the parts of ``Service`` that compute answers, and none that acts by itself: no pushes, deadlines, webhooks,
/// backups or checkpoints.
package final class ReaderService: Sendable {
    /// The files of the reader; the directory stays locked as long as the reader exists.
    private let directory: DataDirectory
    /// The thread that folds the log into projections.
    private let host: ProjectionHost
    /// The threads that compute answers.
    private let answers: AnswerPool
    /// The log that is followed.
    private let log: EventLog
    /// The way to the process that writes the log.
    private let link: WriterLink
    /// The entry of all requests.
    private let door: ReaderDoor
    /// Compares the projections' fingerprints with their rows after the start.
    private let checker: FingerprintChecker
    /// The HTTP server; `nil` before it listens and after the stop.
    private let server = RunningServer()
    /// How far the reader is behind, and what it has done.
    package let figures: ReaderFigures

    /// Opens the projections and starts the threads. Nothing listens yet.
    ///
    /// - Parameters:
    ///   - configuration: Names the addresses of the processes that may write the log.
    ///   - followed: The log, whose copy in the directory is complete; not used by the caller again.
    ///   - clock: The time of the house; by default the system's.
    /// - Throws: ``LogError``, ``GazetteerError`` or ``ConfigurationError``, each one sentence for an operator.
    package init(
        directory: DataDirectory, configuration: ServiceConfiguration, gazetteerPath: String?,
        following followed: sending FollowedLog, clock: @escaping @Sendable () -> Timestamp = { Timestamp.now },
        steady: @escaping @Sendable () -> Int64 = QuestionClock.system
    ) throws {
        self.directory = directory
        let requestFigures = RequestFigures()
        let figures = requestFigures.readers
        self.figures = figures
        guard let database = configuration.database, !database.writers.isEmpty else {
            throw LogError.otherLog("config.json names no \"writers\" in \"log\".")
        }
        guard directory.hasKeyEncryptionKey else {
            throw LogError.keyEncryptionKey(
                "\(directory.path) has no kek. Put the kek of a machine that writes the log here.")
        }
        let keyEncryptionKey = try directory.keyEncryptionKey(isCopy: true)
        let keys = try directory.openKeys(under: keyEncryptionKey)
        try followed.copyKeys(to: keys)
        let gazetteer = try gazetteerPath.map { try Gazetteer(path: $0, worldview: configuration.worldview) }
        let link = WriterLink(
            database.writers, trustFile: database.writersCAFile, seal: ReaderSeal(under: keyEncryptionKey),
            figures: figures, clock: clock)
        self.link = link
        let savedStanding = FollowersStanding(StandingFile(directory: directory.projections))
        let loop = FollowerLoop(.init(savedStanding: savedStanding, link: link, figures: figures))
        let box = UncheckedBox(followed)
        let log = try EventLog(
            following: directory.log, keys: keys, savedStanding: savedStanding, steady: steady
        ) { log, heads in loop.run(log, heads, box.value) }
        self.log = log
        let host = try ProjectionHost(
            log: log, directory: directory.projections, catalogPath: directory.catalog, kinds: ProjectionKind.all)
        self.host = host
        let readers = Mutex(try (0..<AnswerPool.threads).map { _ in UncheckedBox(try LogReader.opened(log)) })
        let answers = AnswerPool {
            let reader = readers.withLock { $0.removeLast() }
            return AnswerContext(host: host, reader: reader.value, gazetteer: gazetteer)
        }
        self.answers = answers
        checker = FingerprintChecker(host: host)
        let decisions = Decisions(log: log, clock: clock, knownReferences: KnownReferences(under: keyEncryptionKey))
        let seal = HouseSeal(
            publicURL: configuration.publicURL, log: log.id, epoch: log.epoch, mark: log.withStanding { $0.mark },
            under: keyEncryptionKey)
        let parts = ReaderOperations.Parts(
            decisions: decisions,
            views: Views(
                gate: Gate(
                    decisions: decisions, receipts: Receipts(decisions: decisions, seal: seal, answers: answers),
                    host: host), host: host, timeZones: TimeZoneDatabase()),
            seal: seal, answers: answers, directory: directory, gazetteer: gazetteer, requestFigures: requestFigures,
            counters: { [server] in server.counters })
        let local = Door(
            decisions: decisions, routes: RouteTable(ReaderOperations.all(parts)), answers: answers,
            callers: Callers(decisions), requestKeys: RequestKeys(under: keyEncryptionKey),
            crossOrigin: CrossOrigin(origins: configuration.allowedOrigins), requestFigures: requestFigures,
            deviceContacts: DeviceContacts(), publicURL: configuration.publicURL,
            pageOfNothing: { _ in nil })
        door = ReaderDoor(door: local, link: link, log: log, figures: figures)
    }

    /// Whether the pool answers a request within a time. For a health check: it asks `/healthz`.
    package func isAnswering(milliseconds: Int) -> Bool {
        RunningServer.isAnswering(milliseconds: milliseconds) { handle($0, respond: $1) }
    }

    /// The number of the newest event that the reader has.
    package var head: Int64 { log.head }

    /// Waits until the reader has an event, and every projection has folded it.
    package func wait(for number: Int64, milliseconds: Int) -> Bool {
        log.waitForHead(after: number - 1, milliseconds: milliseconds) >= number
            && host.wait(for: number, in: ProjectionKind.all.map(\.name), milliseconds: milliseconds)
    }

    /// The fault that stopped the reader; `nil` while it works.
    package var failure: LogError? { log.failure }

    /// Calls `body` once after a fault has stopped the reader. The process can only be started again then.
    package func whenLogFails(_ body: @escaping @Sendable () -> Void) { log.notifyOfFailure(body) }

    /// Answers a request that came without a socket, exactly once, on any thread.
    package func handle(_ request: HTTPRequest, respond: @escaping @Sendable (HTTPResponse) -> Void) {
        door.handle(request, respond: respond)
    }

    /// Listens for requests until ``stop(_:)``; returns the port, which the system chooses if `port` is 0.
    package func listen(host name: String, port: Int) throws(HTTPServerError) -> Int {
        try server.listen(
            host: name, port: port, announcingIn: directory, bodyLimit: { [door] in door.bodyLimit($0, $1) },
            handle: { [door] in door.handle($0, respond: $1) })
    }

    /// Answers the accepted requests, then stops thread after thread. Nothing is lost: every record is at the process that
    /// writes the log.
    ///
    /// - Returns: `false` if a thread is still working. The process may end nevertheless.
    @discardableResult
    package func stop(_ patience: Service.Patience = .untilQuiet) -> Bool {
        log.releaseCallers()
        host.releaseCallers()
        let server = self.server.take()
        server?.beginStopping()
        checker.stop()
        server?.stop { [link, log, answers] in
            link.stop()
            log.stop()
            answers.stop(milliseconds: patience.answersMilliseconds)
        }
        link.stop()
        let isQuiet = answers.stop(milliseconds: patience.answersMilliseconds)
        log.stop()
        return host.stop(milliseconds: patience.projectionsMilliseconds) && isQuiet
    }
}
