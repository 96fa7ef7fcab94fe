import Cryptography
import Glibc
import LogVerifying
import SQLite
import TestSupport
import Testing
import Whereabouts

@testable import Log
@testable import LogTests
@testable import Projections

/// A log with other keys than it was written under: the parts that no key opens are lost and counted, and everything else
/// works.
@Suite struct LostKeyTests {
    private static func copy(_ from: String, to: String) throws {
        unlink(to)
        try TestSupport.copy(from, to: to)
    }

    /// Puts `keys.sqlite` back as it was when the copy was made.
    private static func putBack(_ copy: String, in scene: LogScene) throws {
        scene.stop()
        for suffix in ["-wal", "-shm"] { unlink(scene.path + "/keys.sqlite" + suffix) }
        try Self.copy(copy, to: scene.path + "/keys.sqlite")
    }

    private static func lostParts(in events: [RecordedEvent]) -> Int {
        events.count { recorded in
            switch recorded.event {
            case .fixReported(_, _, .keyLost), .personAdded(_, .keyLost), .deviceAdded(_, _, .keyLost): true
            default: false
            }
        }
    }

    /// A log of two people; the second was added after a copy of the keys was made.
    private static func arranged() throws -> (scene: LogScene, copy: String, admin: Caller, phone: Caller) {
        let scene = LogScene.withStandingFile()
        let (admin, phone) = try scene.people()
        _ = try scene.report([try scene.fix(1)], by: phone)
        scene.stop()
        let copy = scene.path + "/projections/older-keys"
        try Self.copy(scene.path + "/keys.sqlite", to: copy)
        let log = try scene.open()
        for command: Command in [
            .addPerson(LogScene.handle("friend")), .addDevice(LogScene.handle("tablet"), of: LogScene.handle("friend")),
        ] {
            _ = try log.appendAndWait(command, by: admin, correlation: .random())
        }
        let tablet = try scene.caller(.device(LogScene.handle("tablet")), .report, by: admin)
        for second in 1...3 { _ = try scene.report([try scene.fix(Int64(second))], by: tablet) }
        return (scene, copy, admin, phone)
    }

    @Test(arguments: [false, true])
    func `an older keys.sqlite loses later parts, and no key id is used twice`(isStandingLost: Bool) throws {
        let (scene, copy, admin, phone) = try Self.arranged()
        let used = try Self.keyIDs(of: scene)
        try Self.putBack(copy, in: scene)
        if isStandingLost {
            TestSupport.remove(scene.path + "/projections/standing-v\(StandingFile.version)-1.sqlite")
        }
        let log = try scene.open()
        _ = try log.appendAndWait(.addPerson(LogScene.handle("third")), by: admin, correlation: .random())
        _ = try scene.report([try scene.fix(9)], by: phone)
        let events = try scene.events()
        // The friend, the tablet, and three fixes.
        #expect(Self.lostParts(in: events) == 5)
        guard case .personAdded(_, .open(let handle)) = events[events.count - 2].event else {
            Issue.record("who came later cannot be read")
            return
        }
        #expect(handle == LogScene.handle("third"))
        #expect(try Self.keyIDs(of: scene).subtracting(used).allSatisfy { $0 > (used.max() ?? 0) })
        let found = try scene.verify()
        #expect(found.problem == nil && found.lostParts == 5 && found.erasedParts == 0)
    }

    /// In earlier versions, one id could mean two keys.
    @Test func `a part under another key of the same id is lost, and does not stop a fold`() throws {
        let (scene, copy, _, _) = try Self.arranged()
        try Self.putBack(copy, in: scene)
        // Another person's key under each id in the friend's events.
        let directory = try DataDirectory(path: scene.path)
        let keys = try directory.openKeys()
        for person: Int64 in 900...902 {
            _ = try keys.sealingKey(for: PersonID(rawValue: person), .track, at: scene.clock.now)
        }
        try keys.makeDurable()
        let found = try LogVerifier(path: directory.log, keys: keys).verify()
        #expect(found.problem == nil && found.lostParts == 5)
        let events = try LogReader(path: directory.log, keys: keys).events(after: 0, limit: 1000).map(\.event)
        #expect(Self.lostParts(in: events) == 5)
    }

    @Test func `a changed ciphertext is damage, not a lost key`() throws {
        let (scene, _, _, _) = try Self.arranged()
        let fixed = try #require(try scene.events().last { if case .fixReported = $0.event { true } else { false } })
        try scene.tampering { connection in
            try connection.cached(
                """
                UPDATE event SET body = CAST(substr(body, 1, length(body) - 1)
                || iif(substr(body, -1) = x'00', x'01', x'00') AS BLOB) WHERE number = ?
                """
            ) { (statement) throws(SQLiteError) in
                try statement.bind(fixed.number, at: 1)
                try statement.run()
            }
        }
        let directory = try DataDirectory(path: scene.path)
        let reader = try LogReader(path: directory.log, keys: try directory.openKeys())
        do {
            _ = try reader.event(fixed.number)
            Issue.record("a changed event was read")
        } catch {
            #expect("\(error)".hasPrefix("Event \(fixed.number) is damaged"))
        }
    }

    @Test func `one person's damaged key does not affect others`() throws {
        let (scene, _, admin, phone) = try Self.arranged()
        scene.stop()
        try Connection(path: scene.path + "/keys.sqlite", access: .readWrite).execute(
            "UPDATE key SET wrapped = zeroblob(60) WHERE class = 0 AND person = (SELECT min(person) FROM key)")
        let log = try scene.open()
        do {
            _ = try scene.report([try scene.fix(20)], by: phone)
            Issue.record("a fix was taken whose key cannot be read")
        } catch AppendFailure.fault(let fault) {
            #expect("\(fault)".contains("in keys.sqlite is damaged"))
        }
        let head = log.head
        _ = try log.appendAndWait(.addPerson(LogScene.handle("third")), by: admin, correlation: .random())
        #expect(log.head == head + 1 && log.failure == nil)
        #expect(try scene.verify().problem == nil)
    }

    @Test func `a log without its file of keys is refused, and an empty file is accepted`() throws {
        let (scene, _, _, _) = try Self.arranged()
        scene.stop()
        for suffix in ["", "-wal", "-shm"] { unlink(scene.path + "/keys.sqlite" + suffix) }
        do {
            _ = try scene.open()
            Issue.record("a log was opened without its keys")
        } catch {
            #expect("\(error)".contains("keys.sqlite is missing"))
        }
        #expect(access(scene.path + "/keys.sqlite", F_OK) != 0)
        try DataDirectory.writePrivate([], to: scene.path + "/keys.sqlite")
        let found = try scene.verify()
        #expect(found.problem == nil && found.lostParts == 8)
    }

    /// The ids of the keys of all sealed parts.
    private static func keyIDs(of scene: LogScene) throws -> Set<Int64> {
        var ids: Set<Int64> = []
        for stored in try scene.open().reader().storedEvents(after: 0, limit: 1000) {
            stored.body.withUnsafeBytes { body in
                var reader = CBORReader(body)
                guard let items = try? reader.array(), (try? reader.skip()) != nil else { return }
                for _ in 1..<items {
                    guard (try? reader.array()) == 3, let id = try? reader.integer(), (try? reader.skip()) != nil,
                        (try? reader.skip()) != nil
                    else { return }
                    ids.insert(id)
                }
            }
        }
        return ids
    }
}
