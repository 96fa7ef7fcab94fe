import Cryptography
import Glibc
import LogVerifying
import SQLite
import Synchronization
import TestProcesses
import TestSupport
import Testing
import Threading
import Transparency
import Whereabouts

@testable import Log
@testable import LogTests
@testable import Maintenance
@testable import PostgreSQL
@testable import PostgreSQLLog

/// A log in a PostgreSQL database, and the machines that take it one after the other.
@Suite(.enabled(if: PostgreSQLServer.programs != nil, "PostgreSQL is not installed."))
struct ServedLogTests {
    @Test func `another machine goes on with every event and every key`() throws {
        let scene = try ServedScene()
        let (first, second) = (scene.machine(), scene.machine())
        try first.start()
        let phone = try first.addPerson("anna")
        try first.report(1...50, by: phone)
        let (head, term) = (try #require(first.log).head, try scene.row().term)
        first.stop()
        let log = try second.start()
        #expect(try log.head == head && log.id == scene.row().id)
        #expect(try scene.row().term == term + 1)
        #expect(try second.fixes().seconds == Array(1...50))
        try second.report(51...60, by: phone)
        let (events, root) = try scene.events()
        #expect(events.map(\.header.number) == Array(1...(head + 10)))
        #expect(root.hex == (try scene.row().root))
        second.stop()
        let copy = try LogVerifier.verify(try DataDirectory(path: second.path)) { _, _ in }
        #expect(copy.problem == nil && copy.root == root && copy.lostParts == 0)
        // The first machine comes back and follows.
        try #expect(first.start().head == head + 10)
        #expect(try first.fixes().seconds == Array(1...60))
    }

    @Test func `a process whose term is over commits nothing, and nobody is told that it did`() throws {
        let scene = try ServedScene()
        let first = scene.machine()
        let log = try first.start()
        let phone = try first.addPerson("anna")
        try first.report(1...5, by: phone)
        let size = try scene.row().size
        // What a process that takes the log does first. The old process is alive, and its session too.
        try scene.admin.run("UPDATE whereabouts.log SET term = term + 1")
        let failure = #expect(throws: AppendFailure.self) { try first.report(6...6, by: phone) }
        guard case .fault(.fenced)? = failure else { return #expect(Bool(false), "\(String(describing: failure))") }
        #expect(log.failure != nil && log.head == size)
        #expect(try scene.events().events.count == Int(size))
        // Its keys are not taken either.
        let keys = PostgreSQLKeys(try Session(scene.connection.text), term: try scene.row().term - 1)
        let count = try scene.admin.run("SELECT count(*) FROM whereabouts.key").int(0, 0)
        #expect(throws: LogError.self) {
            try keys.insert([KeyRow(id: 999, person: 2, keyClass: 0, period: 1, wrapped: [1])])
        }
        #expect(throws: LogError.self) { try keys.destroy(nil, of: PersonID(rawValue: 2)) }
        #expect(try scene.admin.run("SELECT count(*) FROM whereabouts.key").int(0, 0) == count)
    }

    @Test func `a process without work stops when its term is over, or its session`() throws {
        for end in [
            "UPDATE whereabouts.log SET term = term + 1",
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
        ] {
            let scene = try ServedScene()
            let machine = scene.machine()
            let log = try machine.start()
            _ = try machine.addPerson("anna")
            try scene.admin.run(end)
            try eventually("the log to stop") { log.failure != nil }
        }
    }

    @Test func `while a process has the log, another one gets no turn`() throws {
        let scene = try ServedScene()
        let (first, second) = (scene.machine(), scene.machine())
        try first.start()
        let phone = try first.addPerson("anna")
        try first.report(1...20, by: phone)
        let waiting = try LogServer(scene.settings)
        #expect(try !waiting.takeTurn())
        // Meanwhile its directory follows, without a key.
        let directory = try DataDirectory(path: second.path)
        let place = try #require(try waiting.follow(for: directory))
        // The newest transaction is left out.
        let head = try #require(first.log).head
        #expect(place.copy == place.log && place.copy < head && place.copy >= head - 20)
        first.stop()
        try eventually("the turn") { try waiting.takeTurn() }
    }

    /// A machine whose database has lost the last 20 events of `head`.
    private static func shortened() throws -> (ServedScene, Machine, head: Int64) {
        let scene = try ServedScene()
        let machine = scene.machine()
        try machine.start()
        let phone = try machine.addPerson("anna")
        try machine.report(1...50, by: phone)
        let head = try #require(machine.log).head
        machine.stop()
        try scene.loseEvents(after: head - 20)
        return (scene, machine, head)
    }

    @Test func `a database that lost events is refused with both numbers`() throws {
        let (scene, machine, head) = try Self.shortened()
        for _ in 0..<2 {
            let error = #expect(throws: LogError.self) { try machine.start() }
            let sentence = "\(try #require(error))"
            #expect(sentence.contains("ends at event \(head - 20)") && sentence.contains("event \(head) was durable"))
        }
        // A waiting process refuses too, before it is its turn.
        let directory = try DataDirectory(path: machine.path)
        #expect(throws: LogError.self) { try LogServer(scene.settings).follow(for: directory) }
        #expect(try scene.row().epoch == 1)
    }

    @Test func `a loss that the operator accepts is an event, under a higher epoch`() throws {
        let (scene, machine, head) = try Self.shortened()
        let log = try machine.start(acceptingLoss: true)
        #expect(log.epoch == 2)
        try #expect(scene.row().epoch == 2)
        let last = try #require(try log.reader().event(log.head)).event.event
        guard case .lossAccepted(head - 19, head, 2, _) = last else { return #expect(Bool(false), "\(last)") }
        machine.stop()
        #expect(try LogVerifier.verify(try DataDirectory(path: machine.path)) { _, _ in }.problem == nil)
    }

    @Test func `an event of another log under the newest number is noticed`() throws {
        let scene = try ServedScene()
        let machine = scene.machine()
        try machine.start()
        let phone = try machine.addPerson("anna")
        try machine.report(1...5, by: phone)
        let head = try #require(machine.log).head
        machine.stop()
        try scene.admin.run("ALTER TABLE whereabouts.event DISABLE TRIGGER ALL")
        var parameters: Parameters = [head]
        parameters.append([UInt8](repeating: 7, count: 32))
        try scene.admin.run("UPDATE whereabouts.event SET leaf = $2 WHERE number = $1", parameters)
        let error = #expect(throws: LogError.self) { try machine.start() }
        #expect("\(try #require(error))".contains("Event \(head) of the log"))
    }

    @Test func `events cannot be changed or deleted by a mistake`() throws {
        let scene = try ServedScene()
        try scene.machine().start()
        for statement in [
            "DELETE FROM whereabouts.event", "UPDATE whereabouts.event SET actor = 3", "TRUNCATE whereabouts.event",
        ] {
            let error = #expect(throws: PostgreSQLError.self) { try scene.admin.run(statement) }
            #expect(error?.message == "events are never changed or deleted")
            scene.admin.rollBack()
        }
    }

    @Test func `an erased person's keys are gone from the database and from every machine that takes the log`() throws {
        let scene = try ServedScene()
        let (first, second) = (scene.machine(), scene.machine())
        try first.start()
        let anna = try first.addPerson("anna")
        let ben = try first.addPerson("ben")
        try first.report(1...10, by: anna)
        try first.report(11...15, by: ben)
        first.stop()
        try second.start()
        #expect(try second.fixes().closed == 0)
        let person = try #require(second.log?.withStanding { $0.persons.named(LogScene.handle("anna")) })
        let ids = try scene.admin.run("SELECT id FROM whereabouts.key WHERE person = $1", [person.rawValue])
        try second.append(.erasePerson(LogScene.handle("anna")), by: try second.admin())
        #expect(ids.count >= 2)
        #expect(try scene.admin.run("SELECT 1 FROM whereabouts.key WHERE person = $1", [person.rawValue]).count == 0)
        let destroyed = try scene.admin.run("SELECT id FROM whereabouts.destroyed ORDER BY id")
        #expect(
            Set((0..<ids.count).map { ids.int($0, 0) })
                .isSubset(of: Set((0..<destroyed.count).map { destroyed.int($0, 0) })))
        second.stop()
        // The first machine's file still has them, until it takes the log.
        try first.start()
        #expect(try first.fixes().seconds == Array(11...15) && first.fixes().closed == 10)
        first.stop()
        let found = try LogVerifier.verify(try DataDirectory(path: first.path)) { _, _ in }
        #expect(found.lostParts == 0 && found.erasedParts > 0)
    }

    @Test func `while a machine waits, the keys of an erased person are destroyed in its file too`() throws {
        let scene = try ServedScene()
        let (first, second) = (scene.machine(), scene.machine())
        try first.start()
        try first.report(1...10, by: try first.addPerson("anna"))
        first.stop()
        try second.start()
        let directory = try DataDirectory(path: first.path)
        let server = try LogServer(scene.settings)
        var copy = WaitingCopy(in: directory)
        #expect(try copy.follow(server))
        let wrapped = try scene.admin.run("SELECT wrapped FROM whereabouts.key WHERE person > 2 OR person = 2")
        let keys = (0..<wrapped.count).map { wrapped.bytes($0, 0) }
        #expect(keys.count >= 2 && keys.allSatisfy { Self.holds($0, first.path) })
        try second.append(.erasePerson(LogScene.handle("anna")), by: try second.admin())
        #expect(try copy.follow(server))
        #expect(keys.allSatisfy { !Self.holds($0, first.path) })
    }

    /// Whether a file of the directory's keys has these bytes.
    private static func holds(_ bytes: [UInt8], _ path: String) -> Bool {
        ["", "-wal"].contains { suffix in
            guard let file = DataDirectory.read(path + "/keys.sqlite" + suffix, atMost: 1 << 26) else { return false }
            return file.indices.contains { file[$0...].starts(with: bytes) }
        }
    }

    @Test func `a destroyed key leaves no bytes in the file of its table`() throws {
        let scene = try ServedScene()
        let machine = scene.machine()
        try machine.start()
        for name in ["anna", "ben"] { try machine.report(1...3, by: try machine.addPerson(name)) }
        let file = try scene.admin.run(
            "SELECT current_setting('data_directory') || '/' || pg_relation_filepath('whereabouts.key')"
        ).text(0, 0)
        let newest = try scene.admin.run("SELECT wrapped FROM whereabouts.key ORDER BY id DESC LIMIT 1").bytes(0, 0)
        try scene.admin.run("CHECKPOINT")
        #expect(try #require(DataDirectory.read(file, atMost: 1 << 20)).firstRange(of: newest) != nil)
        // A query that began earlier, as a backup's or a reader's may, can still see what is deleted.
        let earlier = try Session(scene.connection.text)
        try earlier.run("BEGIN ISOLATION LEVEL REPEATABLE READ")
        _ = try earlier.run("SELECT count(*) FROM pg_class")
        try machine.append(.erasePerson(LogScene.handle("ben")), by: try machine.admin())
        try scene.admin.run("CHECKPOINT")
        let later = try scene.admin.run(
            "SELECT current_setting('data_directory') || '/' || pg_relation_filepath('whereabouts.key')"
        ).text(0, 0)
        for file in [file, later] {
            #expect(DataDirectory.read(file, atMost: 1 << 20)?.firstRange(of: newest) == nil)
        }
        #expect(try scene.admin.run("SELECT count(*) FROM whereabouts.key").int(0, 0) > 0)
        try earlier.run("COMMIT")
    }

    @Test func `another key-encryption key is refused before the log is changed`() throws {
        let scene = try ServedScene()
        let first = scene.machine()
        try first.start()
        try first.report(1...3, by: try first.addPerson("anna"))
        first.stop()
        let stranger = Machine(scene.settings)
        let size = try scene.row().size
        let missing = #expect(throws: LogError.self) { try stranger.start() }
        #expect("\(try #require(missing))".contains("has no kek"))
        try DataDirectory.writePrivate(randomBytes(32), to: stranger.path + "/kek")
        let wrong = #expect(throws: LogError.self) { try stranger.start() }
        #expect("\(try #require(wrong))".contains("kek does not open the keys"))
        #expect(try scene.row().size == size)
        try first.start()
        #expect(try first.fixes().seconds == [1, 2, 3])
    }

    @Test func `a damaged copy is made again`() throws {
        let scene = try ServedScene()
        let machine = scene.machine()
        try machine.start()
        try machine.report(1...30, by: try machine.addPerson("anna"))
        machine.stop()
        for suffix in ["-wal", "-shm"] { remove(machine.path + "/log.sqlite" + suffix) }
        #expect(truncate(machine.path + "/log.sqlite", 8192) == 0)
        try machine.start()
        #expect(try machine.fixes().seconds == Array(1...30))
    }

    @Test func `a server without a standby is refused where a quorum is promised`() throws {
        let scene = try ServedScene()
        let server = try LogServer(LogServerSettings(scene.connection, needsQuorum: true))
        let fault = try #require(try server.fault())
        #expect(fault.contains("synchronous_standby_names"))
        let directory = try DataDirectory(path: scene.machine().path)
        #expect(throws: LogError.self) { try server.take(for: directory) }
        #expect(try LogServer(scene.settings).fault() == nil)
    }
}

/// Servers whose settings could lose what they acknowledge.
@Suite(.enabled(if: PostgreSQLServer.programs != nil, "PostgreSQL is not installed."))
struct UnsafeServerTests {
    @Test(arguments: ["fsync", "full_page_writes"])
    func `a server that may lose acknowledged events is refused by the name of the setting`(setting: String) throws {
        let scene = try ServedScene(try PostgreSQLServer(settings: ["\(setting) = off"]))
        let error = #expect(throws: LogError.self) { try scene.machine().start() }
        #expect("\(try #require(error))".contains(setting))
    }

    @Test func `a session that would not wait for the disk waits for it all the same`() throws {
        let scene = try ServedScene(try PostgreSQLServer(settings: ["synchronous_commit = off"]))
        let session = try LogServer.connect(scene.settings)
        #expect(try session.run("SELECT current_setting('synchronous_commit')").text(0, 0) == "on")
    }
}

/// Commits that wait for a standby that does not come.
@Suite(.enabled(if: PostgreSQLServer.programs != nil, "PostgreSQL is not installed."))
struct WaitingCommitTests {
    /// The way in which a wait ends.
    enum End: String, CaseIterable { case cancelled, terminated }

    @Test(arguments: End.allCases)
    func `a wait for the standbys that is ended from outside is not taken for a commit`(end: End) throws {
        let server = try PostgreSQLServer()
        let scene = try ServedScene(server)
        let machine = scene.machine()
        let log = try machine.start()
        let phone = try machine.addPerson("anna")
        try machine.report(1...3, by: phone)
        let head = log.head
        try scene.admin.run("ALTER SYSTEM SET synchronous_standby_names = 'absent'")
        try scene.admin.run("SELECT pg_reload_conf()")
        let outcome = Monitor<Result<Receipt, AppendFailure>?>(nil)
        // The setting reaches the other session in its own time: commits go through until it does.
        var second: Int64 = 100
        try eventually("a commit to wait") {
            second += 1
            let fix = try LogScene().fix(second)
            log.submit(.reportFixes(device: .caller, [.fix(fix, answering: nil)]), by: phone, correlation: .random()) {
                result in outcome.change { $0 = result }
            }
            _ = outcome.wait(milliseconds: 300) { $0 }
            defer { outcome.change { if case .success? = $0 { $0 = nil } } }
            return try Self.waiting(scene).count > 0
        }
        let known = log.head
        let process = try #require(try Self.waiting(scene).first)
        let function = end == .cancelled ? "pg_cancel_backend" : "pg_terminate_backend"
        try scene.admin.run("SELECT \(function)(\(process))")
        let result = try #require(outcome.wait(milliseconds: 60_000) { $0 })
        guard case .failure(.fault(.commitUnknown)) = result else { return #expect(Bool(false), "\(result)") }
        try eventually("the log to stop") { log.failure != nil }
        #expect(log.head == known && known >= head)
        // The event is on the primary, and no caller was told so. The next start reads it there.
        try scene.admin.run("ALTER SYSTEM RESET synchronous_standby_names")
        try scene.admin.run("SELECT pg_reload_conf()")
        machine.stop()
        #expect(try scene.row().size == known + 1)
        try eventually("the log to be free") { try LogServer(scene.settings).takeTurn() }
        try #expect(machine.start().head == known + 1)
        #expect(try scene.events().events.count == Int(known + 1))
    }

    /// The processes of the server that wait for a standby.
    private static func waiting(_ scene: ServedScene) throws -> [Int64] {
        let rows = try scene.admin.run(
            "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND pid <> pg_backend_pid()")
        return (0..<rows.count).map { rows.int($0, 0) }
    }
}
