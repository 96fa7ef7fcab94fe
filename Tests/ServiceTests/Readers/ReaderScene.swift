import Cryptography
import HTTPServer
import JSON
import Synchronization
import TestProcesses
import TestSupport
import Testing
import Threading
import Whereabouts

@testable import Answers
@testable import HTTPInterface
@testable import Log
@testable import PostgreSQL
@testable import PostgreSQLLog
@testable import Posting
@testable import Reactors
@testable import Readers
@testable import Service

/// A house whose log is in a database: a process that writes it, and readers.
final class ReaderScene {
    let clock = HouseClock.standing
    /// The server on which the log is written.
    let primary: PostgreSQLServer
    /// The name of the house's database.
    let database: String
    /// A session of the tests on the primary.
    let admin: Session
    let writer: ServiceUnderTest
    /// Where the process that writes the log listens.
    let port: Int
    private var readers: [ReaderUnderTest] = []

    init(_ given: PostgreSQLServer? = nil) throws {
        primary = try given ?? PostgreSQLServer.shared()
        database = primary.newName()
        try Session(primary.connection()).run("CREATE DATABASE \(database)")
        admin = try Session(primary.connection(database))
        let connection = try ConnectionString(primary.connection(database))
        writer = try ServiceUnderTest(clock: clock) { $0.database = Self.written(connection) }
        port = try writer.listen()
    }

    deinit {
        for reader in readers { reader.stop() }
        writer.stop()
    }

    /// The settings of a process that writes the log.
    static func written(_ connection: ConnectionString) -> ServiceConfiguration.Database {
        ServiceConfiguration.Database(
            connection: connection, needsQuorum: false, writers: [], writersCAFile: nil)
    }

    /// A reader of the house.
    ///
    /// - Parameters:
    ///   - server: The server that it follows; the primary by default.
    ///   - ports: Where it looks for the process that writes the log.
    func reader(on server: PostgreSQLServer? = nil, writers ports: [Int]? = nil) throws -> ReaderUnderTest {
        let reader = try ReaderUnderTest(
            connection: (server ?? primary).connection(database), kek: writer.directory + "/kek",
            writers: ports ?? [port], clock: clock)
        readers.append(reader)
        return reader
    }

    /// Waits until a reader and its projections have every event of the log.
    func settle(_ reader: ReaderUnderTest) throws {
        let head = writer.service.log.head
        try #require(reader.service.wait(for: head, milliseconds: patienceMilliseconds))
        try eventually("the reader to know that it is not behind") { reader.service.figures.state.isFresh }
    }

    /// The event that records a request's read, in the database; `nil` if there is none.
    func record(of answer: Answer) throws -> LocationRead? {
        guard let text = answer.header("Whereabouts-Request"), let id = RequestID(text) else { return nil }
        return try writer.events().first { $0.correlation == id }.flatMap { event in
            let rows = try admin.run("SELECT 1 FROM whereabouts.event WHERE number = $1", [event.number])
            guard rows.count == 1, case .locationRead(let read) = event.event else { return nil }
            return read
        }
    }

    /// The number of events in the database.
    func count() throws -> Int64 { try admin.run("SELECT count(*) FROM whereabouts.event").int(0, 0) }

    /// Anna's day: two hours at one place, a way, two hours at another one inside a region of hers. Returns her token.
    func fill() throws -> String {
        let anna = try writer.addPerson("anna")
        let phone = try writer.addDevice("annas-phone", of: "anna")
        writer.manage(
            "POST", "/v1/people/anna/regions",
            #"{"id":"work","circle":{"latitude":48.3,"longitude":16.4,"radiusMeters":300}}"#)
        for minute in 0..<150 {
            clock.advance(seconds: 120)
            let (latitude, longitude) =
                switch minute {
                case ..<60: (48.2, 16.3)
                case ..<90: (48.2 + 0.1 * Double(minute - 59) / 31, 16.3 + 0.1 * Double(minute - 59) / 31)
                default: (48.3, 16.4)
                }
            let answer = writer.send(
                "POST", "/v1/fixes", as: phone,
                #"{"timestamp":\#(clock.seconds),"latitude":\#(latitude),"longitude":\#(longitude),"horizontalAccuracy":8}"#
            )
            try #require(answer.status < 300, "\(answer.text)")
        }
        return anna
    }
}

/// A reader in its own data directory, called in process.
final class ReaderUnderTest {
    private let folder = TemporaryFolder()
    private let configuration: ServiceConfiguration
    private let clock: HouseClock
    private var running: ReaderService?

    init(connection: String, kek: String, writers ports: [Int], clock: HouseClock) throws {
        self.clock = clock
        var configuration = ServiceConfiguration()
        configuration.database = ServiceConfiguration.Database(
            connection: try ConnectionString(connection), needsQuorum: false,
            writers: ports.compactMap { Origin("http://127.0.0.1:\($0)") }, writersCAFile: nil)
        self.configuration = configuration
        try TestSupport.copy(kek, to: folder.path + "/kek")
        try start()
    }

    deinit { stop() }

    var path: String { folder.path }

    var service: ReaderService {
        guard let running else { preconditionFailure("The reader was stopped.") }
        return running
    }

    func start() throws {
        let clock = clock
        let directory = try DataDirectory(path: folder.path)
        guard let database = configuration.database else { return }
        let followed = try FollowedLog(LogServerSettings(database), in: directory)
        running = try ReaderService(
            directory: directory, configuration: configuration, gazetteerPath: ServiceUnderTest.gazetteer,
            following: followed, clock: { clock.now }, steady: { clock.steady })
    }

    func stop() {
        running?.stop()
        running = nil
    }

    /// Asks without a socket. Numbers in the target are written as they are sent.
    @discardableResult
    func send(
        _ method: String, _ target: String, as token: String?, _ body: String = "",
        headers: [(String, String)] = []
    ) -> Answer {
        let given = Monitor<HTTPResponse?>(nil)
        let parts = target.split(separator: "?", maxSplits: 1)
        let query = (parts.count > 1 ? parts[1] : "").split(separator: "&").map { pair in
            let sides = pair.split(separator: "=", maxSplits: 1)
            return (name: String(sides[0]), value: sides.count > 1 ? String(sides[1]) : "")
        }
        service.handle(
            HTTPRequest(
                method: method, path: String(parts[0]), query: query,
                headers: headers + (token.map { [("Authorization", "Bearer \($0)")] } ?? []), body: Array(body.utf8))
        ) { response in
            given.change { $0 = response }
        }
        guard let response = given.wait(milliseconds: patienceMilliseconds, for: { $0 }) else {
            waitedInVain(for: "the reader's answer to \(method) \(target)")
        }
        return Answer(response)
    }

    /// How the reader's reads ended.
    var counts: ReaderFigures.Counts { service.figures.counts }
}
