import Cryptography
import FixRuns
import Geodesy
import Glibc
import LogVerifying
import Synchronization
import TestSupport
import Testing
import Whereabouts

@testable import Log

/// The log's index of fixes: no damage of its files changes the log.
@Suite struct FixIdentitiesTests {
    /// Files of a handful of events, so that short logs have many of them.
    private static func small(_ settings: inout FixIdentities.Settings) {
        settings.eventsPerRun = 5
        settings.eventsPerFold = 7
        settings.eventsReadAtStart = 3
        settings.fewEvents = 1
        settings.pauseSeconds = 0.05
    }

    /// Repeats a report until the index can look it up; other failures are thrown.
    private static func report(_ fixes: [Fix], by phone: Caller, _ scene: LogScene) throws -> [FixOutcome] {
        try eventually("the index to look fixes up", pauseMilliseconds: 3) {
            do { return try scene.report(fixes, by: phone) } catch let failure as AppendFailure {
                guard case .notYet(let sentence, let seconds) = failure else { throw failure }
                #expect(seconds > 0 && sentence.contains("Send these fixes again"))
                return nil
            }
        }
    }

    /// Times, places and other members from few, so that many are equal.
    private static func fixes(_ scene: LogScene, _ random: inout some RandomNumberGenerator) throws -> [Fix] {
        try (0..<Int.random(in: 1...6, using: &random)).map { _ in
            var fix = try scene.fix(
                .random(in: 0...20, using: &random),
                latitude: [52.5, 52.6, -0.0, 0.0].randomElement(using: &random) ?? 0)
            if Bool.random(using: &random) { fix.speed = [0, 2].randomElement(using: &random) }
            if Int.random(in: 0..<4, using: &random) == 0 { fix.floor = -1 }
            if Bool.random(using: &random) { fix.clientID = "sent again" }
            return fix
        }
    }

    /// The same decisions by a list in memory.
    private struct Reference {
        private(set) var kept: [Fix] = []

        mutating func take(_ fixes: [Fix]) -> [FixOutcome] {
            fixes.map { fix in
                let content = fix.content
                if kept.contains(where: { $0.content == content }) { return .duplicate }
                let isTwin = kept.contains {
                    $0.timestamp == fix.timestamp && $0.coordinate.latitude == fix.coordinate.latitude
                        && $0.coordinate.longitude == fix.coordinate.longitude
                }
                kept.append(fix)
                return isTwin ? .twin : .new
            }
        }
    }

    private static func names(_ folder: String) -> [String] {
        TestSupport.names(in: folder).filter { $0.hasSuffix(".run") }.sorted()
    }

    private static func copy(_ folder: String, to copy: String) throws {
        try copyAll(folder, to: copy) { $0.hasSuffix(".run") }
    }

    private static func copyAll(
        _ folder: String, to copy: String, where isCopied: (String) -> Bool = { $0.contains(".run") }
    ) throws {
        TestSupport.remove(copy)
        try DataDirectory.makeDirectory(copy)
        for name in TestSupport.names(in: folder) where isCopied(name) {
            try TestSupport.copy("\(folder)/\(name)", to: "\(copy)/\(name)")
        }
    }

    @Test(arguments: 0..<12)
    func `the log is the same whatever state its index is in`(seed: Int) throws {
        var random = SplitMix(UInt64(seed) + 1)
        let scene = LogScene { Self.small(&$0) }
        let temporary = TemporaryFolder()
        let (_, phone) = try scene.people()
        let folder = "\(scene.path)/fix-identities"
        let old = temporary.file("old")
        var reference = Reference()
        var hadRuns = false
        for round in 0..<40 {
            let fixes = try Self.fixes(scene, &random)
            #expect(try Self.report(fixes, by: phone, scene) == reference.take(fixes), "round \(round)")
            guard Int.random(in: 0..<3, using: &random) == 0 else { continue }
            scene.stop()
            let names = Self.names(folder)
            hadRuns = hadRuns || !names.isEmpty
            switch Int.random(in: 0..<7, using: &random) {
            case 0: break
            case 1: TestSupport.remove(folder)
            case 2:
                guard let name = names.randomElement(using: &random) else { break }
                unlink("\(folder)/\(name)")
            case 3, 4:
                guard let name = names.randomElement(using: &random),
                    var bytes = DataDirectory.read("\(folder)/\(name)", atMost: 1 << 20), !bytes.isEmpty
                else { break }
                bytes[Int.random(in: bytes.indices, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                try DataDirectory.writePrivate(bytes, to: "\(folder)/\(name)")
            case 5: try Self.copy(folder, to: old)
            default:
                guard access(old, F_OK) == 0 else { break }
                for name in Self.names(old) where access("\(folder)/\(name)", F_OK) != 0 {
                    try TestSupport.copy("\(old)/\(name)", to: "\(folder)/\(name)")
                }
            }
        }
        let kept = try scene.events().compactMap { event -> Fix? in
            if case .fixReported(_, _, .open(let fix)) = event.event { fix } else { nil }
        }
        #expect(kept == reference.kept)
        #expect(hadRuns)
        let log = try scene.open()
        // The last damage may not have been read since; it is found and repaired here.
        _ = try log.differenceOfFixIdentities()
        #expect(log.waitForFixIdentities(milliseconds: patienceMilliseconds))
        #expect(try log.differenceOfFixIdentities() == nil)
        #expect(try scene.verify().problem == nil)
    }

    /// In files that are opened with the flip, and in files that are open already.
    @Test func `flip a bit of a file of the index, and the log goes on as without the flip`() throws {
        let scene = LogScene { Self.small(&$0) }
        let (_, phone) = try scene.people()
        let folder = "\(scene.path)/fix-identities"
        // Every fourth second, so that others are older and not known.
        var fixes = try (0..<60).map { try scene.fix(4 * Int64($0)) }
        for start in stride(from: 0, to: fixes.count, by: 6) {
            _ = try scene.report(Array(fixes[start..<start + 6]), by: phone)
        }
        scene.stop()
        var older: [Fix] = []
        for index in 0..<400 {
            let second = Int64(4 * (index % 60) + 1 + index / 60 % 3)
            older.append(try scene.fix(second, latitude: 51 + Double(index) / 1000))
        }
        var flips = 0
        for offset in stride(from: 0, to: 3 * 1024, by: 41) {
            let isOpen = flips % 2 == 0
            if isOpen {
                #expect(try scene.open().waitForFixIdentities(milliseconds: patienceMilliseconds))
            } else {
                scene.stop()
            }
            for name in Self.names(folder) {
                // A file may have been merged with others since it was listed.
                guard var bytes = DataDirectory.read("\(folder)/\(name)", atMost: 1 << 20), offset < bytes.count
                else { continue }
                bytes[offset] ^= 1 << UInt8(offset % 8)
                let file = open("\(folder)/\(name)", O_WRONLY)
                guard file >= 0 else { continue }
                defer { close(file) }
                try #require(bytes.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, 0) } == bytes.count)
                flips += 1
            }
            let new = older.removeLast()
            #expect(try Self.report([new], by: phone, scene) == [.new], "byte \(offset)")
            fixes.append(new)
            #expect(try Self.report(fixes, by: phone, scene) == fixes.map { _ in .duplicate }, "byte \(offset)")
        }
        #expect(flips > 75)
        let kept = try scene.events().compactMap { event -> Fix? in
            if case .fixReported(_, _, .open(let fix)) = event.event { fix } else { nil }
        }
        #expect(kept == fixes)
        #expect(try scene.verify().problem == nil)
    }

    @Test func `a mark that names another event swallows nothing`() throws {
        let scene = LogScene { Self.small(&$0) }
        let (_, phone) = try scene.people()
        #expect(try scene.report([try scene.fix(50)], by: phone) == [.new])
        let log = try scene.open()
        let (id, epoch, head) = (log.id, log.epoch, log.head)
        let leaf = try #require(try log.reader().event(head)?.leaf)
        let device = try #require(log.withStanding { $0.devices.all.keys.first })
        let lied = try (0..<4).map { try scene.fix($0) }
        let marks = lied.map {
            FixMark(hash: log.index.hash(of: $0, device: device), number: head, person: PersonID(rawValue: 2))
        }
        let secret = log.keys.secret(for: "whereabouts fix identities \(id)")
        scene.stop()
        let folder = "\(scene.path)/fix-identities"
        for name in Self.names(folder) { unlink("\(folder)/\(name)") }
        var writer = try FixRun.Writer(
            folder: folder,
            FixRun.Header(log: id, epoch: epoch, from: 0, to: head, leaf: leaf, erased: 0, marks: 0),
            key: SipHash(key: secret[16...]))
        for mark in marks.sorted() { try writer.append(mark) }
        _ = try writer.finish()
        // None of them was reported, and the one that was is not among the marks: it is kept twice, and nothing is
        // lost.
        #expect(try scene.report(lied, by: phone) == lied.map { _ in .new })
        #expect(try scene.report([try scene.fix(50)], by: phone) == [.new])
        let open = try scene.open()
        #expect(try open.index.check(try open.reader()).problem?.contains("differs from the log") == true)
        #expect(open.index.waitUntilComplete(milliseconds: patienceMilliseconds))
        #expect(try open.index.check(try open.reader()).problem == nil)
    }

    @Test func `a run of another log, another epoch or another course of events is not believed`() throws {
        let (scene, other) = (LogScene { Self.small(&$0) }, LogScene { Self.small(&$0) })
        for scene in [scene, other] {
            let (_, phone) = try scene.people()
            _ = try scene.report(try (0..<30).map { try scene.fix($0) }, by: phone)
            scene.stop()
        }
        let folder = "\(scene.path)/fix-identities"
        #expect(!Self.names(folder).isEmpty)
        for name in Self.names(folder) { unlink("\(folder)/\(name)") }
        for name in Self.names("\(other.path)/fix-identities") {
            try TestSupport.copy("\(other.path)/fix-identities/\(name)", to: "\(folder)/\(name)")
        }
        let log = try scene.open()
        #expect(log.index.waitUntilComplete(milliseconds: patienceMilliseconds))
        #expect(try log.index.check(try log.reader()).problem == nil)
        scene.stop()
        let made = Self.names(folder)
        try SQLiteLogEngine.raiseEpoch(path: "\(scene.path)/log.sqlite")
        let raised = try scene.open()
        #expect(raised.index.waitUntilComplete(milliseconds: patienceMilliseconds))
        #expect(try raised.index.check(try raised.reader()).problem == nil)
        #expect(!made.isEmpty)
    }

    @Test func `while the files cannot be written newer fixes are taken, and older ones as long as memory lasts`()
        throws
    {
        let scene = LogScene {
            Self.small(&$0)
            $0.marksInMemory = 40
        }
        let (_, phone) = try scene.people()
        scene.stop()
        let folder = "\(scene.path)/fix-identities"
        TestSupport.remove(folder)
        // A file where the folder should be: nothing can be made in it.
        try DataDirectory.writePrivate([1], to: folder)
        var all: [Fix] = []
        func take(_ count: Int) throws {
            for _ in 0..<count {
                let fix = try scene.fix(Int64(10 * all.count))
                all.append(fix)
                #expect(try scene.report([fix], by: phone) == [.new])
            }
        }
        // Fixes already in the log must be read at the start, and they are few.
        try take(30)
        #expect(try Self.report(Array(all[10..<20]), by: phone, scene) == (0..<10).map { _ in .duplicate })
        try take(60)
        let failure = #expect(throws: AppendFailure.self) { try scene.report([all[3]], by: phone) }
        guard case .notYet(let sentence, _)? = failure else {
            return #expect(Bool(false), "\(String(describing: failure))")
        }
        #expect(sentence.contains("Newer fixes are accepted"))
        try take(1)
        unlink(folder)
        #expect(try Self.report(all, by: phone, scene) == all.map { _ in .duplicate })
        let log = try scene.open()
        #expect(try log.index.check(try log.reader()).problem == nil)
    }

    @Test func `nothing of an erased person is in any file, nor in an old one that is put back`() throws {
        let scene = LogScene { Self.small(&$0) }
        let (admin, phone) = try scene.people()
        let (_, other) = try scene.people("friend", phone: "tablet")
        _ = try scene.report(try (0..<30).map { try scene.fix($0) }, by: phone)
        _ = try scene.report(try (0..<30).map { try scene.fix($0) }, by: other)
        let person = try #require(try scene.open().withStanding { $0.person(LogScene.handle("walker")) })
        scene.stop()
        let folder = "\(scene.path)/fix-identities"
        let temporary = TemporaryFolder()
        let key = { () throws -> SipHash in
            let log = try scene.open()
            return SipHash(key: log.keys.secret(for: "whereabouts fix identities \(log.id)")[16...])
        }
        func persons() throws -> Set<PersonID> {
            var persons: Set<PersonID> = []
            for name in Self.names(folder) {
                var cursor = try FixRun.Cursor(try FixRun(path: "\(folder)/\(name)", key: try key()))
                while let mark = cursor.mark {
                    persons.insert(mark.person)
                    try cursor.advance()
                }
            }
            return persons
        }
        #expect(try persons().contains(person))
        try Self.copy(folder, to: temporary.file("old"))
        let log = try scene.open()
        _ = try log.appendAndWait(.erasePerson(LogScene.handle("walker")), by: admin, correlation: .random())
        #expect(log.index.waitUntilErased(milliseconds: patienceMilliseconds))
        let left = try persons()
        #expect(!left.contains(person) && left.count == 1)
        #expect(try log.index.check(try log.reader()).problem == nil)
        scene.stop()
        TestSupport.remove(folder)
        try Self.copy(temporary.file("old"), to: folder)
        #expect(try scene.open().index.waitUntilErased(milliseconds: patienceMilliseconds))
        #expect(try !persons().contains(person))
        #expect(try Self.report([try scene.fix(3)], by: other, scene) == [.duplicate])
    }

    @Test func `a fix whose key is lost makes the index neither wrong nor incomplete`() throws {
        let scene = LogScene { Self.small(&$0) }
        let (_, phone) = try scene.people()
        let (_, other) = try scene.people("friend", phone: "tablet")
        for start in stride(from: Int64(0), to: 30, by: 3) {
            for phone in [phone, other] {
                _ = try scene.report(try (start..<start + 3).map { try scene.fix($0) }, by: phone)
            }
        }
        let log = try scene.open()
        let friend = try #require(log.withStanding { $0.person(LogScene.handle("friend")) })
        try log.keys.destroyKeys(of: friend)
        #expect(log.waitForFixIdentities(milliseconds: patienceMilliseconds))
        #expect(try log.differenceOfFixIdentities() == nil)
        scene.stop()
        TestSupport.remove("\(scene.path)/fix-identities")
        let again = try scene.open()
        #expect(again.waitForFixIdentities(milliseconds: patienceMilliseconds))
        #expect(try again.differenceOfFixIdentities() == nil)
        // The other person's fixes are found, and those that cannot be read any more are kept once more.
        #expect(try Self.report([try scene.fix(3)], by: phone, scene) == [.duplicate])
        #expect(try Self.report([try scene.fix(3)], by: other, scene) == [.new])
    }

    /// Copies of the folder, made file by file while the index writes and merges, include every state that a kill can
    /// leave.
    @Test func `whatever a kill leaves of a folder in the midst of a merge, every fix is found`() throws {
        let scene = LogScene { Self.small(&$0) }
        let temporary = TemporaryFolder()
        let (_, phone) = try scene.people()
        let folder = "\(scene.path)/fix-identities"
        var fixes: [Fix] = []
        var copies: [String] = []
        var halfWritten = 0
        for round in 0..<200 {
            let more = try (0..<3).map { try scene.fix(Int64(3 * round + $0)) }
            _ = try scene.report(more, by: phone)
            fixes += more
            guard round % 16 == 15 else { continue }
            let copy = temporary.file("copy-\(round)")
            try DataDirectory.makeDirectory(copy)
            // Some of the listed files are gone when their turn comes.
            for name in TestSupport.names(in: folder) where name.contains(".run") {
                guard let bytes = DataDirectory.read("\(folder)/\(name)", atMost: 1 << 20) else { continue }
                try DataDirectory.writePrivate(bytes, to: "\(copy)/\(name)")
            }
            // An unfinished merge, and one that has not removed its input files.
            let names = Self.names(copy)
            if let first = names.first, let bytes = DataDirectory.read("\(copy)/\(first)", atMost: 1 << 20) {
                try DataDirectory.writePrivate(Array(bytes.prefix(1500)), to: "\(copy)/\(first).new")
                halfWritten += 1
            }
            if let last = copies.last {
                for name in Self.names(last) where round % 32 == 15 && access("\(copy)/\(name)", F_OK) != 0 {
                    try TestSupport.copy("\(last)/\(name)", to: "\(copy)/\(name)")
                }
            }
            copies.append(copy)
        }
        #expect(halfWritten > 5)
        for copy in copies {
            scene.stop()
            TestSupport.remove(folder)
            try Self.copyAll(copy, to: folder)
            #expect(try Self.report(fixes, by: phone, scene) == fixes.map { _ in .duplicate })
            let log = try scene.open()
            #expect(log.waitForFixIdentities(milliseconds: patienceMilliseconds))
            #expect(try log.differenceOfFixIdentities() == nil)
            scene.stop()
            #expect(!TestSupport.names(in: folder).contains { $0.hasSuffix(".new") })
        }
    }

    @Test func `a disk with little room gets no file of the index, and the intake goes on`() throws {
        let scene = LogScene { Self.small(&$0) }
        let free = Atomic<Int64>(Room.spareBytes - 1)
        let directory = TemporaryFolder()
        // Enough for the reserve at first, so that the intake is open.
        let room = Room(directory: directory.path) { free.load(ordering: .relaxed) + (1 << 30) }
        #expect(!room.isShort && room.allows(1 << 20) && !room.allows(1 << 30))
        let full = Room(directory: directory.path) { free.load(ordering: .relaxed) }
        #expect(!full.isShort && !full.allows(0))
        let (_, phone) = try scene.people()
        scene.stop()
        TestSupport.remove("\(scene.path)/fix-identities")
        let log = try scene.open(room: full)
        for second in 0..<30 { #expect(try scene.report([try scene.fix(Int64(second))], by: phone) == [.new]) }
        try eventually("the full disk to be noticed") { log.index.trouble != nil }
        #expect(Self.names("\(scene.path)/fix-identities").isEmpty)
        #expect(try Self.report([try scene.fix(3)], by: phone, scene) == [.duplicate])
        free.store(1 << 30, ordering: .relaxed)
        try eventually("files of the index") { !Self.names("\(scene.path)/fix-identities").isEmpty }
        #expect(try Self.report([try scene.fix(3)], by: phone, scene) == [.duplicate])
        #expect(try log.differenceOfFixIdentities() == nil)
    }

    @Test func `marks in many files are found, and the files stay few`() throws {
        let scene = LogScene { Self.small(&$0) }
        let (_, phone) = try scene.people()
        let fixes = try (0..<600).map { try scene.fix($0) }
        for start in stride(from: 0, to: fixes.count, by: 3) {
            _ = try scene.report(Array(fixes[start..<start + 3]), by: phone)
        }
        #expect(try Self.report(fixes, by: phone, scene) == fixes.map { _ in .duplicate })
        scene.stop()
        let log = try scene.open()
        // Without merging 120; with it about three of 5, 20, 80 and 320 each, as the batches came.
        try eventually("the files to be merged") {
            (1...24).contains(Self.names("\(scene.path)/fix-identities").count)
        }
        #expect(try log.index.check(try log.reader()).fixes >= 600 - 10)
        #expect(try Self.report(fixes.reversed(), by: phone, scene) == fixes.map { _ in .duplicate })
    }
}

extension EventLog {
    /// The index of a log that is written here.
    fileprivate var index: FixIdentities {
        guard let identities else { preconditionFailure("The log is followed.") }
        return identities
    }
}
