import Cryptography
import Glibc
import JSON
import SQLite
import TestSupport
import Testing
import Threading
import Whereabouts

@testable import Log
@testable import LogTests
@testable import Maintenance
@testable import Projections
@testable import ProjectionsTests
@testable import Service

/// A destroyed key is gone from every file and every memory, and from the backups that are being made.
@Suite struct ErasedKeyTests {
    /// The wrapped keys of a person.
    private static func wrapped(of person: PersonID, in path: String) throws -> [[UInt8]] {
        let connection = try Connection(path: path, access: .readOnly)
        return try connection.cached("SELECT wrapped FROM key WHERE person = ?") {
            (statement) throws(SQLiteError) -> [[UInt8]] in
            try statement.bind(person.rawValue, at: 1)
            var keys: [[UInt8]] = []
            while try statement.step() { keys.append(statement.bytes(at: 0)) }
            return keys
        }
    }

    /// The files of a folder and below that hold sixteen bytes in a row of one of these keys: the rest of a freed cell
    /// may lack its beginning or its end.
    private static func holders(of keys: [[UInt8]], in folder: String) -> Set<String> {
        var holders: Set<String> = []
        for name in names(in: folder) {
            let path = "\(folder)/\(name)"
            guard let bytes = DataDirectory.read(path, atMost: 1 << 28) else {
                holders.formUnion(Self.holders(of: keys, in: path).map { "\(name)/\($0)" })
                continue
            }
            let isThere = keys.contains { key in
                stride(from: 0, through: key.count - 16, by: 11).contains { begin in
                    contains(bytes, key[begin..<begin + 16])
                }
            }
            if isThere { holders.insert(name) }
        }
        return holders
    }

    static func contains(_ bytes: [UInt8], _ piece: ArraySlice<UInt8>) -> Bool {
        bytes.withUnsafeBytes { bytes in
            piece.withUnsafeBytes { piece in
                guard var start = bytes.baseAddress, let wanted = piece.baseAddress else { return false }
                let end = start + bytes.count
                while end - start >= piece.count,
                    let next = memchr(start, Int32(piece[0]), end - start - piece.count + 1)
                {
                    if memcmp(next, wanted, piece.count) == 0 { return true }
                    start = UnsafeRawPointer(next) + 1
                }
                return false
            }
        }
    }

    private static func id(_ handle: String, _ log: EventLog) throws -> PersonID {
        try #require(log.withStanding { $0.person(LogScene.handle(handle)) })
    }

    /// Keys of many people and months: some pages hold only the walker's keys, others are shared.
    @Test(arguments: [1, 60]) func `no file holds a piece of a wrapped key after an erasure`(months: Int64) throws {
        let scene = LogScene.withStandingFile()
        let (admin, phone) = try scene.people()
        let log = try scene.open()
        for month in 0..<months {
            let second = month * 31 * 86_400
            scene.clock.now = TestClock.start.adding(seconds: second)
            #expect(try scene.report([try scene.fix(second)], by: phone) == [.new])
            for other in 0..<3 {
                _ = try log.appendAndWait(
                    .addPerson(LogScene.handle("other-\(month)-\(other)")), by: admin, correlation: .random())
            }
        }
        let walker = try Self.id("walker", log)
        let keys = try Self.wrapped(of: walker, in: scene.path + "/keys.sqlite")
        // One of the track for each month, one of the rest, and that of the person's own log.
        #expect(keys.count == Int(months) + 2 && keys.allSatisfy { $0.count == 60 })
        #expect(!Self.holders(of: keys, in: scene.path).isEmpty)
        let other = try Self.wrapped(of: Self.id("other-0-0", log), in: scene.path + "/keys.sqlite")
        _ = try log.appendAndWait(.erasePerson(LogScene.handle("walker")), by: admin, correlation: .random())
        #expect(Self.holders(of: keys, in: scene.path) == [])
        scene.stop()
        #expect(Self.holders(of: keys, in: scene.path) == [])
        #expect(Self.holders(of: other, in: scene.path) == ["keys.sqlite"])
    }

    @Test func `nothing is sealed under a destroyed key, and other people's keys stay in use`() throws {
        let folder = TemporaryFolder()
        let path = folder.path + "/keys.sqlite"
        let wrapping = SymmetricKey.random()
        let ring = try KeyRing(path: path, keyEncryptionKey: wrapping)
        var sealing = SealingKeys(ring)
        let (walker, friend) = (PersonID(rawValue: 5), PersonID(rawValue: 7))
        func key(of person: PersonID) throws -> Int64 {
            let event = Event.personAdded(person, handle: .open(LogScene.handle("someone")))
            sealing.begin()
            var facts = FactWriter()
            let encoded = facts.write(event, in: .audit(person), at: nil)
            try sealing.find(for: facts.parts(of: encoded), at: TestClock.start)
            try ring.makeDurable()
            return try #require(sealing.take(1).first).id
        }
        let (old, others) = (try key(of: walker), try key(of: friend))
        #expect(try key(of: walker) == old)
        try ring.destroyKeys(of: walker)
        let new = try key(of: walker)
        #expect(new != old)
        #expect(try key(of: friend) == others)
        for ring in [ring, try KeyRing(path: path, keyEncryptionKey: wrapping)] {
            guard case .destroyed = try ring.key(old), case .key = try ring.key(new), case .key = try ring.key(others)
            else {
                Issue.record("A key is not as it should be.")
                continue
            }
        }
    }

    /// Whichever is first, the backup or the erasure: when both are over, no file has a key of the person.
    @Test func `a backup that is made while a person is erased holds none of their keys`() throws {
        let house = try ServiceUnderTest()
        let temporary = TemporaryFolder()
        var overlaps = 0
        for round in 0..<10 {
            _ = try house.addPerson("walker\(round)")
            let phone = try house.addDevice("phone\(round)", of: "walker\(round)")
            let fixes = (0..<50).map {
                #"{"timestamp":\#(house.clock.seconds - Int64($0)),"latitude":48,"longitude":16}"#
            }
            house.send("POST", "/v1/fixes", as: phone, #"{"fixes":[\#(fixes.joined(separator: ","))]}"#)
            let walker = try Self.id("walker\(round)", house.service.log)
            let keys = try Self.wrapped(of: walker, in: house.directory + "/keys.sqlite")
            // Of the track, of the rest, and of the person's own log.
            #expect(keys.count == 3)
            let isOver = Monitor(false)
            let backup = WorkerThread {
                house.manage("POST", "/v1/backups")
                isOver.change { $0 = true }
            }
            usleep(UInt32(round) * 2500)
            let isDuring = !isOver.read { $0 }
            let erased = house.manage("DELETE", "/v1/people/walker\(round)")
            if isDuring { overlaps += 1 }
            backup.join()
            #expect(erased["backupsLeft"]?.int ?? 0 == 0, "\(erased.text)")
            let moved = "\(temporary.path)/\(round)"
            mkdir(moved, 0o700)
            try Backup.move(outOf: house.directory, to: moved)
            #expect(Self.holders(of: keys, in: moved) == [], "round \(round)")
            #expect(Self.holders(of: keys, in: house.directory) == [], "round \(round)")
        }
        #expect(overlaps > 0, "No erasure came while a backup was made.")
    }

    /// Each part of the copied log has its key in the copy, although people with new keys come all the time.
    @Test func `a backup that is made while people come has the keys of all it has of them`() throws {
        let house = try ServiceUnderTest()
        let isOver = Monitor(false)
        let writer = WorkerThread {
            var number = 0
            while !isOver.read({ $0 }) {
                let parts = (0..<20).map { index in
                    #"{"person":"p\#(number + index)","device":"d\#(number + index)","fixes":[{"timestamp":1700000000,"#
                        + #""latitude":48,"longitude":16}]}"#
                }
                house.manage(
                    "POST", "/v1/imports/6b1c4f6e-3f60-4cb9-9d1f-2f5f1a1f7a03/batches",
                    #"{"devices":[\#(parts.joined(separator: ","))]}"#)
                number += 20
            }
        }
        defer {
            isOver.change { $0 = true }
            writer.join()
        }
        // On a busy computer a round may pass in which no caller comes while the backup is made.
        var races = 0
        for _ in 0..<40 where races < 6 {
            let before = house.service.log.head
            _ = house.service.log.waitForHead(after: before, milliseconds: 20_000)
            // It fails unless each part of the copied log opens by the copied keys.
            let made = house.manage("POST", "/v1/backups")
            let after = house.service.log.head
            let events = try #require(made["events"]?.int)
            #expect(events <= after)
            if before < events, events < after { races += 1 }
        }
        #expect(races > 0, "Nobody came while a backup was made.")
    }
}
