import Cryptography
import Geodesy
import Glibc
import LogVerifying
import SQLite
import Synchronization
import TestSupport
import Whereabouts

@testable import Log

/// A data directory with a log, and the callers of most tests.
final class LogScene {
    private let folder = TemporaryFolder()
    var path: String { folder.path }
    let clock = TestClock()
    private let configure: (inout FixIdentities.Settings) -> Void
    /// Makes the store of the standing between two starts; by default there is none.
    var savedStanding: (DataDirectory) -> any SavedStanding = { _ in NoSavedStanding() }
    /// The engine in which events become durable before the file has them.
    var server: (any LogEngine)?
    private(set) var directory: DataDirectory?
    private var log: EventLog?

    /// - Parameter configure: The index of fix identities.
    init(configure: @escaping (inout FixIdentities.Settings) -> Void = { _ in }) { self.configure = configure }

    deinit { stop() }

    /// The log, opened if it is not.
    func open(room: Room? = nil) throws -> EventLog {
        if let log { return log }
        let directory = try DataDirectory(path: path)
        var identities = FixIdentities.Settings(folder: directory.fixIdentities)
        configure(&identities)
        let keys = try directory.openKeys()
        let log = try EventLog(
            path: directory.log, keys: keys, savedStanding: savedStanding(directory),
            identities: identities, server: server, room: room, clock: { [clock] in clock.now })
        (self.directory, self.log) = (directory, log)
        return log
    }

    func stop() {
        log?.stop()
        (log, directory) = (nil, nil)
    }

    /// Everything that was verified, from the files alone.
    func verify() throws -> LogVerification {
        stop()
        return try LogVerifier.verify(try DataDirectory(path: path)) { _, _ in }
    }

    // MARK: Callers

    static func handle(_ text: String) -> Handle { Handle(text) ?? { preconditionFailure("\(text) is no handle.") }() }

    func caller(_ holder: TokenHolder, _ scopes: Scopes, by caller: Caller = .house) throws -> Caller {
        try open().caller(holder, scopes, by: caller, at: clock.now)
    }

    /// The operator, and the phone of a person made for it.
    func people(_ person: String = "walker", phone: String = "phone") throws -> (admin: Caller, phone: Caller) {
        try open().people(person, phone: phone, at: clock.now)
    }

    func fix(_ second: Int64, latitude: Double = 52.5211557, longitude: Double = 13.4038584) throws -> Fix {
        var fix = Fix(
            timestamp: TestClock.start.adding(seconds: second),
            coordinate: try Coordinate(latitude: latitude, longitude: longitude), horizontalAccuracy: 5)
        fix.altitude = 34.5
        return fix
    }

    func report(_ fixes: [Fix], by phone: Caller) throws -> [FixOutcome] {
        let reports = fixes.map { DeviceReport.fix($0, answering: nil) }
        let receipt = try open().appendAndWait(
            .reportFixes(device: .caller, reports), by: phone, correlation: .random())
        guard case .fixes(let outcomes) = receipt.reply else { return [] }
        return outcomes
    }

    /// All events the log gives back.
    func events() throws -> [RecordedEvent] {
        let log = try open()
        return try log.reader().events(after: 0, limit: .max).map(\.event)
    }

    /// Opens the log's database without its guards against changes, as a person who tampers with it would.
    func tampering(_ body: (borrowing Connection) throws -> Void) throws {
        stop()
        let connection = try Connection(path: path + "/log.sqlite", access: .readWrite)
        try connection.execute(
            "DROP TRIGGER IF EXISTS event_is_final_update; DROP TRIGGER IF EXISTS event_is_final_delete")
        try body(connection)
        try connection.execute(LogSchema.triggers)
        _ = try connection.checkpoint(.truncate)
    }

    /// Every file of the directory, with its content.
    func files() -> [(name: String, bytes: [UInt8])] {
        var files: [(String, [UInt8])] = []
        for folder in ["", "/projections"] {
            for name in names(in: path + folder) {
                if let bytes = DataDirectory.read("\(path)\(folder)/\(name)", atMost: 1 << 28) {
                    files.append(("\(folder)/\(name)", bytes))
                }
            }
        }
        return files
    }

    struct Missing: Error {}
}

extension EventLog {
    /// A caller with a new token.
    func caller(
        _ holder: TokenHolder, _ scopes: Scopes, by caller: Caller = .house, at now: Timestamp = .now
    ) throws -> Caller {
        let hash = Hash256(SHA256().hash(randomBytes(32)))
        _ = try appendAndWait(
            .issueToken(for: holder, scopes: scopes, hash: hash, until: nil), by: caller, correlation: .random())
        return try withStanding { $0.caller(tokenHash: hash, at: now) } ?? { throw LogScene.Missing() }()
    }

    /// The operator, and the phone of a person made for it.
    func people(
        _ person: String, phone: String, at now: Timestamp = .now
    ) throws -> (admin: Caller, phone: Caller) {
        let admin = try caller(.operator, [.query, .audit, .manage, .operate], at: now)
        for command: Command in [
            .addPerson(LogScene.handle(person)), .addDevice(LogScene.handle(phone), of: LogScene.handle(person)),
        ] {
            _ = try appendAndWait(command, by: admin, correlation: .random())
        }
        return (admin, try caller(.device(LogScene.handle(phone)), .report, by: admin, at: now))
    }
}

/// Keeps no standing: every start folds the log from zero.
struct NoSavedStanding: SavedStanding {
    func witnesses() -> [LogWitness] { [] }

    func load(log: LogIdentity, reader: LogReader) throws(LogError) -> (Standing, heads: StreamHeads) {
        (Standing(), [:])
    }

    func save(_ standing: Standing, _ heads: StreamHeads, log: LogIdentity) throws(LogError) {}

    func remove() -> Bool { true }
}

/// A clock that moves only when the test sets it.
final class TestClock: Sendable {
    static let start = Timestamp(milliseconds: 1_767_225_600_000)
    private let milliseconds = Atomic<Int64>(TestClock.start.milliseconds)

    var now: Timestamp {
        get { Timestamp(milliseconds: milliseconds.load(ordering: .acquiring)) }
        set { milliseconds.store(newValue.milliseconds, ordering: .releasing) }
    }

    func advance(seconds: Int64) { milliseconds.add(seconds * 1000, ordering: .acquiringAndReleasing) }
}

/// Lets one thread wait until another says so.
final class Gate: @unchecked Sendable {
    // A semaphore may be used from any thread; it lives as long as the gate.
    private let semaphore: UnsafeMutablePointer<sem_t>

    init() {
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func open() { sem_post(semaphore) }
    func wait(file: StaticString = #fileID, line: Int = #line) {
        var latest = timespec()
        clock_gettime(CLOCK_REALTIME, &latest)
        latest.tv_sec += Int(patienceSeconds)
        while sem_timedwait(semaphore, &latest) != 0 {
            if errno == ETIMEDOUT { waitedInVain(for: "a gate to open", file: file, line: line) }
        }
    }
}
