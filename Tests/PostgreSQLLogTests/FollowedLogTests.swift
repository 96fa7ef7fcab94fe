import Cryptography
import TestProcesses
import TestSupport
import Testing
import Whereabouts

@testable import Log
@testable import LogTests
@testable import Maintenance
@testable import PostgreSQL
@testable import PostgreSQLLog

/// A log in a database as a reader follows it.
@Suite(.enabled(if: PostgreSQLServer.programs != nil, "PostgreSQL is not installed."))
struct FollowedLogTests {
    /// A machine that has the log, and the directory of a reader.
    private struct Scene {
        let served: ServedScene
        let machine: Machine
        let phone: Caller
        private let folder = TemporaryFolder()
        let directory: DataDirectory

        init() throws {
            served = try ServedScene()
            machine = served.machine()
            try machine.start()
            phone = try machine.addPerson("anna")
            try machine.report(1...20, by: phone)
            directory = try DataDirectory(path: folder.path + "/reader")
            try TestSupport.copy(machine.path + "/kek", to: directory.kek)
        }

        var head: Int64 { machine.log?.head ?? 0 }

        /// The log and the keys, as a reader opens them.
        func follow() throws -> (FollowedLog, KeyRing) {
            let followed = try FollowedLog(served.settings, in: directory)
            let keys = try directory.openKeys(under: try directory.keyEncryptionKey(isCopy: true))
            try followed.copyKeys(to: keys)
            return (followed, keys)
        }

        /// How many reported fixes of the copy can be opened.
        func opened(_ keys: KeyRing) throws -> Int {
            try LogReader(path: directory.log, keys: keys).events(after: 0, limit: 10_000).count { event, _ in
                if case .fixReported(_, _, let part) = event.event { part.content != nil } else { false }
            }
        }
    }

    @Test func `the newest transaction is left out until the process that writes says that it is durable`() throws {
        let scene = try Scene()
        let (followed, keys) = try scene.follow()
        let place = try followed.follow(addingKeysTo: keys, acknowledged: 0)
        #expect(place.copy < scene.head && place.server == scene.head)
        #expect(try followed.follow(addingKeysTo: keys, acknowledged: scene.head).copy == scene.head)
        #expect(try followed.follow(addingKeysTo: keys, acknowledged: scene.head + 1000).copy == scene.head)
        #expect(try scene.opened(keys) == 20)
        // A later transaction vouches for the one before it.
        try scene.machine.report(21...30, by: scene.phone)
        try scene.machine.report(31...31, by: scene.phone)
        #expect(try followed.follow(addingKeysTo: keys, acknowledged: 0).copy == scene.head - 1)
        #expect(try scene.opened(keys) == 30)
    }

    @Test func `keys come with their events, and a destroyed one does not come back`() throws {
        let scene = try Scene()
        let (followed, keys) = try scene.follow()
        let ben = try scene.machine.addPerson("ben")
        try scene.machine.report(1...5, by: ben)
        _ = try followed.follow(addingKeysTo: keys, acknowledged: scene.head)
        #expect(try scene.opened(keys) == 25)
        let handle = try #require(Handle("anna"))
        let log = try #require(scene.machine.log)
        let anna = try #require(log.withStanding { $0.person(handle) })
        try keys.destroyKeys(of: anna)
        try scene.machine.report(6...9, by: ben)
        try scene.machine.report(21...22, by: scene.phone)
        _ = try followed.follow(addingKeysTo: keys, acknowledged: scene.head)
        #expect(try scene.opened(keys) == 9)
        #expect(try !KeyRing.holders(in: scene.directory.keys).contains(anna))
    }

    @Test func `another history stops a reader, and the next start takes it`() throws {
        let scene = try Scene()
        do {
            let (followed, keys) = try scene.follow()
            _ = try followed.follow(addingKeysTo: keys, acknowledged: scene.head)
            try scene.served.admin.run("UPDATE whereabouts.log SET epoch = epoch + 1")
            let error = #expect(throws: LogError.self) {
                try followed.follow(addingKeysTo: keys, acknowledged: scene.head)
            }
            guard case .copyBehind? = error else { return #expect(Bool(false), "\(String(describing: error))") }
        }
        let (_, keys) = try scene.follow()
        #expect(try LogReader(path: scene.directory.log, keys: keys).identity().epoch == 2)
    }

    @Test func `a primary that lacks events of the copy is refused`() throws {
        let scene = try Scene()
        do {
            let (followed, keys) = try scene.follow()
            _ = try followed.follow(addingKeysTo: keys, acknowledged: scene.head)
        }
        let head = scene.head
        scene.machine.stop()
        try scene.served.loseEvents(after: head - 5)
        let error = #expect(throws: LogError.self) { try scene.follow() }
        guard case .lost(let loss)? = error else { return #expect(Bool(false), "\(String(describing: error))") }
        #expect(loss.known == head)
    }

    @Test func `nothing is written to the server, so the right to read is enough`() throws {
        let scene = try Scene()
        let name = scene.served.connection.text.split(separator: "dbname=").last.map(String.init) ?? ""
        let role = "reader_\(name)"
        try scene.served.admin.run("CREATE ROLE \(role) LOGIN")
        try scene.served.admin.run("GRANT USAGE ON SCHEMA whereabouts TO \(role)")
        try scene.served.admin.run("GRANT SELECT ON ALL TABLES IN SCHEMA whereabouts TO \(role)")
        let text = scene.served.connection.text.replacing("user=whereabouts", with: "user=\(role)")
        let settings = LogServerSettings(try ConnectionString(text), needsQuorum: false)
        let followed = try FollowedLog(settings, in: scene.directory)
        let keys = try scene.directory.openKeys(under: try scene.directory.keyEncryptionKey(isCopy: true))
        try followed.copyKeys(to: keys)
        #expect(try followed.follow(addingKeysTo: keys, acknowledged: scene.head).copy == scene.head)
        #expect(try scene.opened(keys) == 20)
    }
}
