import Cryptography
import Glibc
import JSON
import LogVerifying
import Projections
import SQLite
import TestSupport
import Testing
import Threading
import Whereabouts

@testable import Answers
@testable import Log
@testable import Maintenance
@testable import Service

/// A backup is the log as of one moment, whole and sealed. Restoring it does not bring an erased person back.
@Suite struct BackupStoryTests {
    private static let latitude = 48.2

    /// A service with two people, one of whom will be erased, and a folder for its backups.
    private final class Scene: Sendable {
        let house: ServiceUnderTest
        let phone: String
        private let temporary = TemporaryFolder()
        var folder: String { temporary.path }

        init() throws {
            house = try ServiceUnderTest()
            _ = try house.addPerson("walker")
            _ = try house.addPerson("neighbour")
            phone = try house.addDevice("walker-phone", of: "walker")
            report(20)
        }

        var kek: String { house.directory + "/kek" }

        func report(_ count: Int) {
            for _ in 0..<count {
                house.clock.advance(seconds: 10)
                let answer = house.send(
                    "POST", "/v1/fixes", as: phone,
                    #"{"timestamp":\#(house.clock.seconds),"latitude":\#(latitude),"longitude":16.4}"#)
                #expect(answer.status == 200)
            }
        }

        /// Makes a backup and moves it to a folder of that name.
        func backup(_ name: String) throws -> (path: String, manifest: BackupManifest) {
            house.manage("POST", "/v1/backups")
            let path = folder + "/" + name
            mkdir(path, 0o700)
            try Backup.move(outOf: house.directory, to: path)
            return (path, try BackupManifest(folder: path))
        }

        func restore(_ backup: String, to name: String, kek: String? = nil, newerKeys: String? = nil) throws -> String {
            let path = folder + "/" + name
            _ = try Restore.restore(from: backup, to: path, kek: kek ?? self.kek, newerKeys: newerKeys)
            return path
        }
    }

    private static func events(in path: String) throws -> [RecordedEvent] {
        let log = try EventLog.alone(in: try DataDirectory(path: path))
        defer { log.stop() }
        return try log.reader().events(after: 0, limit: 10_000).map(\.event)
    }

    private static func fix(of event: Event) -> Part<Fix>? {
        if case .fixReported(_, _, let fix) = event { fix } else { nil }
    }

    /// Events appended during the backup are in the copy up to one number.
    @Test func `a backup made while fixes come in verifies, and goes on under the next epoch`() throws {
        let scene = try Scene()
        let house = scene.house
        let isOver = Monitor(false)
        let writer = WorkerThread {
            while !isOver.read({ $0 }) { scene.report(1) }
        }
        let (path, manifest) = try scene.backup("first")
        isOver.change { $0 = true }
        writer.join()
        #expect(manifest.epoch == 1 && manifest.events > 20)
        let original = try house.events().prefix(Int(manifest.events))

        let restored = try scene.restore(path, to: "again")
        let verified = try LogVerifier.verify(try DataDirectory(path: restored)) { _, _ in }
        #expect(verified.problem == nil && verified.lostParts == 0)
        let events = try Self.events(in: restored)
        #expect(events.dropLast().map(\.event) == original.map(\.event))
        #expect(events.last?.event.isRestore(epoch: 2) == true)
        #expect(verified.events == manifest.events + 1)
    }

    /// Each new person has a new key: the copy of the keys has it if the copy of the log has an event sealed under it.
    @Test func `a person who comes between the two copies of a backup is not in its log without a key`() throws {
        let scene = try Scene()
        let house = scene.house
        let service = house.service
        let maker = BackupMaker(
            directory: service.directory, log: service.log, clock: service.decisions.clock)
        let manifest = try maker.make {
            house.manage("POST", "/v1/people", #"{"handle":"guest"}"#)
        }
        #expect(house.service.log.head > manifest.events)
        let directory = house.service.directory
        let keys = try KeyRing(
            path: directory.backup + "/keys.sqlite", keyEncryptionKey: try directory.keyEncryptionKey())
        let verified = try LogVerifier(path: directory.backup + "/log.sqlite", keys: keys).verify()
        #expect(verified.problem == nil && verified.lostParts == 0 && verified.events == manifest.events)
    }

    @Test func `a backup holds nothing that can be read, and no key-encryption key`() throws {
        let scene = try Scene()
        let (path, _) = try scene.backup("first")
        let names = ["log.sqlite", "keys.sqlite", "backup.json"]
        for name in names {
            let bytes = try #require(DataDirectory.read("\(path)/\(name)", atMost: 1 << 24))
            #expect(!String(decoding: bytes, as: UTF8.self).contains("walker"), "\(name)")
        }
        let kek = try #require(DataDirectory.read(scene.kek, atMost: 64))
        for name in names {
            let bytes = try #require(DataDirectory.read("\(path)/\(name)", atMost: 1 << 24))
            #expect(bytes.firstRange(of: kek) == nil)
        }
        #expect(access(path + "/kek", F_OK) != 0)
        #expect(access(scene.house.directory + "/backup", F_OK) != 0)
    }

    @Test func `who was erased after the backup is erased again with the newer keys, and nobody else is`() throws {
        let scene = try Scene()
        let (known, manifest) = try scene.backup("before")
        // A copy that the service does not know of.
        let before = scene.folder + "/copied"
        #expect(system("cp -r '\(known)' '\(before)'") == 0)
        scene.house.manage("DELETE", "/v1/people/walker")
        let (after, _) = try scene.backup("after")

        let back = try Self.events(in: try scene.restore(before, to: "without")).compactMap { Self.fix(of: $0.event) }
        #expect(back.count == 20 && back.allSatisfy { $0.content != nil })

        let restored = try scene.restore(before, to: "with", newerKeys: after + "/keys.sqlite")
        let events = try Self.events(in: restored)
        let fixes = events.compactMap { Self.fix(of: $0.event) }
        #expect(fixes.count == 20 && fixes.allSatisfy { $0.content == nil })
        let added = events.dropFirst(Int(manifest.events)).map(\.event)
        #expect(added.count == 2 && added.first?.isRestore(epoch: 2) == true)
        guard case .personErased = added.last else {
            Issue.record("nobody was erased")
            return
        }
        let names = events.compactMap { recorded -> String? in
            if case .personAdded(_, let handle) = recorded.event { handle.content?.text } else { nil }
        }
        #expect(names == ["neighbour"])
        // A new key is none that the lost course of events can have listed.
        let directory = try DataDirectory(path: restored)
        let keys = try directory.openKeys()
        let made = try keys.sealingKey(for: PersonID(rawValue: 4711), .track, at: Timestamp(milliseconds: 0))
        #expect(made.id > 2 << 24)
    }

    @Test func `nothing is overwritten, and what is no backup or not as it was made is refused in words`() throws {
        let scene = try Scene()
        let (path, _) = try scene.backup("first")
        func sentence(_ body: () throws -> Void) -> String {
            do {
                try body()
                return ""
            } catch { return "\(error)" }
        }
        scene.house.stop()
        let before = try #require(DataDirectory.read(scene.house.directory + "/log.sqlite", atMost: 1 << 24))
        #expect(
            sentence { _ = try Restore.restore(from: path, to: scene.house.directory, kek: nil, newerKeys: nil) }
                .contains("restore overwrites nothing"))
        #expect(DataDirectory.read(scene.house.directory + "/log.sqlite", atMost: 1 << 24) == before)
        #expect(sentence { _ = try scene.restore(scene.folder, to: "a") }.contains("is not a complete backup"))
        #expect(
            sentence { _ = try Restore.restore(from: path, to: scene.folder + "/b", kek: nil, newerKeys: nil) }
                .contains("A backup does not contain the key-encryption key"))
        try DataDirectory.writePrivate(randomBytes(32), to: scene.folder + "/kek")
        #expect(
            sentence { _ = try scene.restore(path, to: "c", kek: scene.folder + "/kek") }
                .contains("does not open the keys"))
        try Connection(path: path + "/log.sqlite", access: .readWrite).execute(
            "DROP TRIGGER event_is_final_update; UPDATE event SET body = zeroblob(20) WHERE number = 7")
        #expect(sentence { _ = try scene.restore(path, to: "d") }.contains("has changed since it was made"))
        for name in ["a", "b", "c", "d"] { #expect(access("\(scene.folder)/\(name)/log.sqlite", F_OK) != 0) }
        try DataDirectory.writePrivate(Array(#"{"format":2}"#.utf8), to: path + "/backup.json")
        #expect(sentence { _ = try scene.restore(path, to: "e") }.contains("which a later version wrote"))
    }

    @Test func `a log with events of a later version is refused by their kind, and is not touched`() throws {
        let scene = try Scene()
        scene.house.stop()
        let path = scene.house.directory + "/log.sqlite"
        do {
            let connection = try Connection(path: path, access: .readWrite)
            try connection.execute(
                """
                DROP TRIGGER event_is_final_update;
                DROP TRIGGER event_is_final_delete;
                UPDATE event SET kind = 9999 WHERE number = 5
                """)
            try connection.execute(LogSchema.triggers)
        }
        TestSupport.remove(scene.house.directory + "/projections")
        let size = try LogVerifier.verify(try DataDirectory(path: scene.house.directory)) { _, _ in }.events
        do {
            try scene.house.start()
            Issue.record("It started.")
        } catch {
            #expect(
                "\(error)" == "Event 5 is of kind 9999, which a later version introduced. Install the later version.")
        }
        #expect(try LogVerifier.verify(try DataDirectory(path: scene.house.directory)) { _, _ in }.events == size)
    }

    // MARK: Erasure

    private static func keys(in folder: String) throws -> Int64 {
        try Connection(path: folder + "/keys.sqlite", access: .readOnly).cached("SELECT count(*) FROM key") {
            (statement) throws(SQLiteError) in try statement.step() ? statement.int(at: 0) : 0
        }
    }

    @Test func `an erasure destroys the person's keys in earlier backups, and no other keys`() throws {
        let scene = try Scene()
        let (first, _) = try scene.backup("first")
        let (second, manifest) = try scene.backup("second")
        scene.house.manage("POST", "/v1/backups")
        let folders = [first, second, scene.house.directory + "/backup"]
        let before = try folders.map(Self.keys)
        let answer = try #require(scene.house.manage("DELETE", "/v1/people/walker").json)
        #expect(answer["erased"]?.bool == true && answer["backupsLeft"]?.int == 0)
        // Of the name, of the fixes, and of the person's own log.
        #expect(try folders.map(Self.keys) == before.map { $0 - 3 })
        let states = try BackupList.beforeNewestErasure(in: scene.house.directory)
        #expect(states.map(\.folder) == [first, second] && states.allSatisfy(\.isSettled))

        let restored = try scene.restore(second, to: "restored")
        let events = try Self.events(in: restored)
        #expect(events.compactMap { Self.fix(of: $0.event) }.allSatisfy { $0.content == nil })
        let names = events.compactMap { recorded -> String? in
            if case .personAdded(_, let handle) = recorded.event { handle.content?.text } else { nil }
        }
        #expect(names == ["neighbour"])
        // The copy has no record of the erasure; the person whose keys are gone is erased in it.
        let added = events.dropFirst(Int(manifest.events)).map(\.event)
        guard added.count == 2, case .personErased = added.last else {
            Issue.record("\(added)")
            return
        }
        #expect(try LogVerifier.verify(try DataDirectory(path: restored)) { _, _ in }.lostParts == 0)
        #expect(try BackupList(of: restored).entries.map(\.folder) == [second])
    }

    @Test func `only the operator sees an unreachable backup, and it is settled when it is back`() throws {
        let scene = try Scene()
        let medium = scene.folder + "/medium"
        mkdir(medium, 0o700)
        let (path, _) = try scene.backup("medium/first")
        let (gone, _) = try scene.backup("gone")
        TestSupport.remove(gone)
        let before = try Self.keys(in: path)
        #expect(rename(medium, medium + "-away") == 0)
        let own = try scene.house.token(of: "neighbour")
        let erased = scene.house.send("DELETE", "/v1/people/neighbour", as: own)
        #expect(erased.json?["backupsLeft"]?.int == 1 && !erased.text.contains(medium))
        #expect(erased.json?["receipt"]?.string?.contains("\nbackups-left 1\n\n") == true)
        let answer = try #require(scene.house.manage("DELETE", "/v1/people/walker").json)
        #expect(answer["backupsNotReached"]?.array.map { $0.map(\.string) } == [path])
        let states = try BackupList.beforeNewestErasure(in: scene.house.directory)
        #expect(states.map(\.folder) == [path] && states.allSatisfy { !$0.isSettled })

        try scene.house.restart { #expect(rename(medium + "-away", medium) == 0) }
        try eventually("the erasure to reach the backup") {
            try BackupList.beforeNewestErasure(in: scene.house.directory).allSatisfy(\.isSettled)
        }
        // The walker's as above; the neighbour has no fixes.
        #expect(try Self.keys(in: path) == before - 5)
    }

    @Test func `a lost log is not replaced by an empty one`() throws {
        let scene = try Scene()
        let (log, aside) = (scene.house.directory + "/log.sqlite", scene.folder + "/aside")
        let events = try scene.house.events().count
        let error = #expect(throws: LogError.self) {
            try scene.house.restart { for suffix in ["", "-wal", "-shm"] { rename(log + suffix, aside + suffix) } }
        }
        #expect(error.map { "\($0)" }?.contains("log.sqlite is missing, and keys.sqlite has keys") == true)
        #expect(access(log, F_OK) != 0)
        for suffix in ["", "-wal", "-shm"] { rename(aside + suffix, log + suffix) }
        try scene.house.restart()
        #expect(try scene.house.events().count >= events)
    }

    /// A kill between the moves of the keys and of the log.
    @Test func `an interrupted restore can be repeated, and no key of another log is touched`() throws {
        let scene = try Scene()
        let (backup, _) = try scene.backup("first")
        let (target, kek) = (scene.folder + "/target", scene.house.directory + "/kek")
        func restore() throws -> Restore.Outcome {
            try Restore.restore(from: backup, to: target, kek: kek, newerKeys: nil)
        }
        mkdir(target, 0o700)
        // Keys that are not from a restore stay, and are named.
        try DataDirectory.writePrivate([1], to: target + "/keys.sqlite")
        #expect(throws: RestoreError.self) { try restore() }
        #expect(try contents(ofFile: target + "/keys.sqlite") == [1])
        unlink(target + "/keys.sqlite")

        // Each of the moments at which the process can end: after the mark, and after each move.
        for moved in 0...2 {
            let whole = try restore()
            #expect(rename(target + "/log.sqlite", target + "/aside") == 0)
            mkdir(target + "/restoring", 0o700)
            try DataDirectory.writePrivate([], to: target + "/restoring/moving")
            if moved < 2 { unlink(target + "/keys.sqlite") }
            if moved < 1 { unlink(target + "/kek") }
            unlink(target + "/aside")
            let again = try restore()
            #expect(again.manifest == whole.manifest)
            #expect(access(target + "/restoring", F_OK) != 0)
            let found = try LogVerifier.verify(try DataDirectory(path: target)) { _, _ in }
            #expect(found.problem == nil && found.lostParts == 0)
            #expect(try BackupList(of: target).entries.map(\.folder) == [backup])
            for name in ["kek", "keys.sqlite", "log.sqlite"] { unlink("\(target)/\(name)") }
        }
    }

    @Test func `a foreign list of backups is refused with a sentence, and the erasure reports it`() throws {
        let scene = try Scene()
        _ = try scene.backup("first")
        for text in ["", "{}", #"{"format":2,"backups":[]}"#, #"{"format":1,"backups":[{"folder":"relative"}]}"#] {
            try DataDirectory.writePrivate(Array(text.utf8), to: scene.house.directory + "/backups.json")
            #expect(throws: LogError.self) { try BackupList(of: scene.house.directory) }
        }
        #expect(scene.house.manage("DELETE", "/v1/people/walker").json?["backupsLeft"]?.int == 1)
    }

    @Test func `the list of backups drops deleted ones, and has a bound`() throws {
        let temporary = TemporaryFolder()
        var list = BackupList()
        for index in 0..<BackupList.most + 2 {
            let folder = "\(temporary.path)/\(index)"
            mkdir(folder, 0o700)
            try list.add(folder, madeAt: Timestamp(milliseconds: Int64(index) * 1000), destroyed: 0)
        }
        #expect(list.entries.count == BackupList.most && list.entries[0].folder.hasSuffix("/2"))
        try list.write(to: temporary.path)
        #expect(try BackupList(of: temporary.path) == list)
        for index in 0..<BackupList.most { rmdir("\(temporary.path)/\(index)") }
        try list.add(temporary.path, madeAt: Timestamp(milliseconds: 0), destroyed: 0)
        #expect(list.entries.count == 3)
    }
}

extension Event {
    /// Whether it is a restore to this epoch, with a mark.
    func isRestore(epoch: Int64) -> Bool {
        if case .logRestored(epoch, .some) = self { true } else { false }
    }

    /// Whether it is an accepted loss of these events, with a mark.
    func isLoss(from: Int64, to: Int64, epoch: Int64) -> Bool {
        if case .lossAccepted(from, to, epoch, .some) = self { true } else { false }
    }
}
