import Cryptography
import Projections
import SQLite
import TestProcesses
import TestSupport
import Transparency
import Whereabouts

@testable import Log
@testable import LogTests
@testable import Maintenance
@testable import PostgreSQL
@testable import PostgreSQLLog

/// A house whose log is in a database, with any number of machines.
final class ServedScene {
    let connection: ConnectionString
    private let server: PostgreSQLServer
    /// A session of the tests.
    let admin: Session
    private var machines: [Machine] = []

    init(_ given: PostgreSQLServer? = nil) throws {
        server = try given ?? PostgreSQLServer.shared()
        let name = server.newName()
        try Session(server.connection()).run("CREATE DATABASE \(name)")
        connection = try ConnectionString(server.connection(name))
        admin = try Session(connection.text)
    }

    var settings: LogServerSettings { LogServerSettings(connection, needsQuorum: false) }

    /// A machine with its own data directory and the house's key-encryption key.
    func machine() -> Machine {
        let machine = Machine(settings, keyFile: machines.first.map { $0.path + "/kek" })
        machines.append(machine)
        return machine
    }

    /// The row `log`.
    func row() throws -> LogRow { try LogRow.read(admin) ?? { throw LogScene.Missing() }() }

    /// The events of the database, and the root over them from their headers and bodies alone.
    func events() throws -> (events: [LogReader.StoredEvent], root: Digest) {
        let events = try LogCopy.events(after: 0, limit: 100_000, admin)
        var tree = RecomputedTree()
        for event in events { try tree.append(event) }
        return (events, tree.range.root(SHA256()))
    }

    /// Takes events away, as the promotion of a standby that lagged behind does.
    func loseEvents(after number: Int64) throws {
        var range = CompactRange()
        var head: Digest?
        for event in try LogCopy.events(after: 0, limit: number, admin) {
            range.append(event.leaf, SHA256())
            head = event.leaf
        }
        try admin.run("ALTER TABLE whereabouts.event DISABLE TRIGGER ALL")
        try admin.run("DELETE FROM whereabouts.event WHERE number > $1", [number])
        try admin.run("ALTER TABLE whereabouts.event ENABLE TRIGGER ALL")
        var parameters: Parameters = [number]
        parameters.append(range.bytes)
        parameters.append(head?.bytes ?? [])
        try admin.run("UPDATE whereabouts.log SET size = $1, compact_range = $2, head = $3", parameters)
    }
}

/// One machine of the house: a data directory, and at times a process that has the log.
final class Machine {
    private let folder = TemporaryFolder()
    private let settings: LogServerSettings
    /// The key-encryption key to begin with.
    private let keyFile: String?
    private(set) var log: EventLog?
    private var directory: DataDirectory?

    init(_ settings: LogServerSettings, keyFile: String? = nil) { (self.settings, self.keyFile) = (settings, keyFile) }

    deinit { stop() }

    var path: String { folder.path + "/data" }

    /// Takes the log, as a start of the service does.
    @discardableResult
    func start(acceptingLoss: Bool = false) throws -> EventLog {
        let directory = try DataDirectory(path: path)
        if let keyFile, !directory.hasKeyEncryptionKey {
            try TestSupport.copy(keyFile, to: directory.kek)
        }
        let taken = try LogServer(settings).take(for: directory, acceptingLoss: acceptingLoss)
        let log = try EventLog.alone(in: directory, taken: taken, acceptingLoss: acceptingLoss)
        (self.directory, self.log) = (directory, log)
        return log
    }

    func stop() {
        log?.stop()
        (log, directory) = (nil, nil)
    }

    @discardableResult
    func append(_ command: Command, by caller: Caller = .house) throws -> Receipt {
        guard let log else { throw LogScene.Missing() }
        return try log.appendAndWait(command, by: caller, correlation: .random())
    }

    /// A person with a phone; returns the phone.
    func addPerson(_ name: String) throws -> Caller {
        guard let log else { throw LogScene.Missing() }
        return try log.people(name, phone: name + "-phone").phone
    }

    /// An operator of the house.
    func admin() throws -> Caller {
        guard let log else { throw LogScene.Missing() }
        return try log.caller(.operator, [.query, .audit, .manage, .operate])
    }

    /// Reports fixes of these seconds.
    func report(_ seconds: ClosedRange<Int64>, by phone: Caller) throws {
        let scene = LogScene()
        try append(
            .reportFixes(device: .caller, try seconds.map { .fix(try scene.fix($0), answering: nil) }), by: phone)
    }

    /// The seconds of all fixes that can be opened, and the events that cannot.
    func fixes() throws -> (seconds: [Int64], closed: Int) {
        guard let log else { throw LogScene.Missing() }
        var (seconds, closed): ([Int64], Int) = ([], 0)
        for (event, _) in try log.reader().events(after: 0, limit: 100_000) {
            guard case .fixReported(_, _, let part) = event.event else { continue }
            if let fix = part.content {
                seconds.append((fix.timestamp.milliseconds - TestClock.start.milliseconds) / 1000)
            } else {
                closed += 1
            }
        }
        return (seconds, closed)
    }
}
