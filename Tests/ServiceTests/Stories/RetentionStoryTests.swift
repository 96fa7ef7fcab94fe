import Cryptography
import Glibc
import JSON
import LogVerifying
import SQLite
import TestSupport
import Testing
import Threading

@testable import Log
@testable import Maintenance
@testable import Projections
@testable import Service
@testable import Whereabouts

/// Old reports become unreadable by the rule, in every file, and everything else goes on.
@Suite struct RetentionStoryTests {
    private static let day: Int64 = 86_400

    /// A walker who is at another place each day, and a neighbour.
    private final class Scene {
        let house: ServiceUnderTest
        let walker: String
        private let phone: String
        private let tablet: String
        private var days: Int64 = 0

        init() throws {
            house = try ServiceUnderTest()
            walker = try house.addPerson("walker")
            _ = try house.addPerson("neighbour")
            phone = try house.addDevice("phone", of: "walker")
            tablet = try house.addDevice("tablet", of: "neighbour")
        }

        /// The latitude of a day, and the longitude is the same: 31.1234567 on the first.
        static func degrees(_ day: Int64) -> Double { 31.1234567 + Double(day) }

        /// Both stay for two hours at the place of the day, then the next day begins.
        func live() {
            let degrees = Self.degrees(days)
            for (key, degrees) in [(phone, degrees), (tablet, degrees + 30)] {
                let fixes = (0..<24).map { index in
                    #"{"timestamp":\#(house.clock.seconds - 7200 + Int64(index) * 300),"latitude":\#(degrees),"#
                        + #""longitude":\#(degrees),"horizontalAccuracy":10}"#
                }
                let answer = house.send("POST", "/v1/fixes", as: key, #"{"fixes":[\#(fixes.joined(separator: ","))]}"#)
                #expect(answer.status == 200, "\(answer.text)")
            }
            days += 1
            house.clock.advance(seconds: RetentionStoryTests.day)
        }

        /// Waits until the timekeeper has applied the rule of today and the tables have followed.
        func settle() throws {
            let log = house.service.log
            let person = try self.person()
            let end = monotonicSeconds() + patienceSeconds
            while true {
                let now = house.clock.now
                let due = log.withStanding { $0.retention.due(of: person, at: now, through: $0.place) }
                let keys = try log.keys.periods(of: .track)[person] ?? []
                let isDue = keys.contains { due?.isOver($0.period) ?? false }
                if !isDue, house.service.host.waitErased(log.head, milliseconds: 5000) { return }
                if monotonicSeconds() > end { waitedInVain(for: "the rule to be applied") }
                usleep(20_000)
            }
        }

        func person(_ handle: String = "walker") throws -> PersonID {
            let handle = try #require(Handle(handle))
            return try #require(house.service.log.withStanding { $0.person(handle) })
        }

        /// The files that contain the walker's place of a day in one of the forms in which numbers are stored.
        func holders(of day: Int64) -> [String] {
            let degrees = Self.degrees(day)
            let whole = Int32((degrees * 1e7).rounded())
            var forms = [Array("\(degrees)".utf8), Array("\(whole)".utf8)]
            forms.append(withUnsafeBytes(of: whole.bigEndian) { Array($0) })
            forms.append(withUnsafeBytes(of: whole.littleEndian) { Array($0) })
            forms.append(withUnsafeBytes(of: degrees.bitPattern.bigEndian) { Array($0) })
            forms.append(withUnsafeBytes(of: degrees.bitPattern.littleEndian) { Array($0) })
            return Self.files(in: house.directory).filter { path in
                guard let bytes = DataDirectory.read(path, atMost: 1 << 28) else { return false }
                return forms.contains { ErasedKeyTests.contains(bytes, $0[...]) }
            }
        }

        static func files(in folder: String) -> [String] {
            names(in: folder).flatMap { name -> [String] in
                let path = "\(folder)/\(name)"
                var status = stat()
                guard stat(path, &status) == 0 else { return [] }
                return status.st_mode & S_IFMT == S_IFDIR ? files(in: path) : [path]
            }
        }

        /// The walker's fixes by whether they can be opened, one for each day.
        func isOpen() throws -> [Bool] {
            let log = house.service.log
            let (reader, person) = (try log.reader(), try person())
            return try reader.events(after: 0, limit: .max).compactMap { recorded, _ -> Bool? in
                guard recorded.stream.person == person, case .fixReported(_, _, let fix) = recorded.event else {
                    return nil
                }
                return fix.content != nil
            }.chunked(by: 24)
        }
    }

    @Test func `what is older than the rule is gone from every file, and the rest is as before`() throws {
        let scene = try Scene()
        for _ in 0..<4 { scene.live() }
        let head = scene.house.service.log.head
        _ = scene.house.manage("GET", "/v1/people/walker/track?at-least=\(head)")
        // The search finds what is there.
        #expect(!scene.holders(of: 0).isEmpty)
        let neighbours = scene.house.manage("GET", "/v1/people/neighbour/visits").text
        let set = scene.house.send("PUT", "/v1/people/walker/retention", as: scene.walker, #"{"trackDays":2}"#)
        #expect(set.status == 200, "\(set.text)")
        // Until the end of the month, or until its last report is two days old, the month's key stays.
        try scene.settle()
        #expect(try scene.isOpen() == [true, true, true, true])
        for _ in 0..<4 { scene.live() }
        try scene.settle()
        // Today is day 8, so that days 6 and 7 are kept.
        #expect(try scene.isOpen() == [false, false, false, false, false, false, true, true])
        for day: Int64 in 0..<6 { #expect(scene.holders(of: day) == [], "day \(day)") }
        #expect(!scene.holders(of: 7).isEmpty)
        let track = scene.house.manage("GET", "/v1/people/walker/track?at-least=\(scene.house.service.log.head)")
        #expect(track.items.count == 48)
        #expect(scene.house.manage("GET", "/v1/people/neighbour/visits").items.count >= 7)
        #expect(neighbours.contains("61.12"))
        let verified = scene.house.manage("GET", "/v1/verify")
        #expect(verified["ok"]?.bool ?? verified["log"]?["ok"]?.bool == true, "\(verified.text)")
        #expect(verified["keys"]?["lost"]?.int == 0)
        // The person sees it in the audit, and the person's own log can still be proven.
        let audit = scene.house.send("GET", "/v1/people/walker/audit", as: scene.walker)
        #expect(audit.text.contains("RetentionSet") && audit.text.contains("RetentionApplied"), "\(audit.text)")
        #expect(scene.house.send("GET", "/v1/people/walker/proof", as: scene.walker).status == 200)
        let shown = scene.house.send("GET", "/v1/people/walker/retention", as: scene.walker).items.first
        #expect(shown?["trackDays"]?.int == 2 && shown?["goneBefore"] != nil)
    }

    @Test func `who keeps nothing beyond today has a history of today`() throws {
        let scene = try Scene()
        _ = scene.house.send("PUT", "/v1/people/walker/retention", as: scene.walker, #"{"trackDays":0}"#)
        for day: Int64 in 0..<3 {
            scene.live()
            try scene.settle()
            #expect(scene.holders(of: day) == [], "day \(day)")
        }
        #expect(try scene.isOpen() == [false, false, false])
        let visits = scene.house.manage("GET", "/v1/people/walker/visits?at-least=\(scene.house.service.log.head)")
        #expect(visits.status == 200 && visits.items.isEmpty, "\(visits.text)")
    }

    @Test func `the saved standing and every table are what a refold gives`() throws {
        let scene = try Scene()
        _ = scene.house.send("PUT", "/v1/people/walker/retention", as: scene.walker, #"{"trackDays":3}"#)
        for _ in 0..<7 {
            scene.live()
            try scene.settle()
        }
        let live = scene.house.service.log.standingCopy()
        func fingerprints() -> [String: Fingerprint] {
            Dictionary(
                scene.house.service.host.status.map { ($0.generation.name, $0.fingerprint) }, uniquingKeysWith: { $1 })
        }
        let before = fingerprints()
        try scene.house.restart {
            for name in names(in: scene.house.directory + "/projections") {
                unlink("\(scene.house.directory)/projections/\(name)")
            }
            for suffix in ["", "-wal", "-shm"] { unlink(scene.house.directory + "/catalog.sqlite" + suffix) }
        }
        let refolded = scene.house.service.log.standingCopy()
        #expect(live.persons[try scene.person()] == refolded.persons[try scene.person()])
        #expect(live.retention == refolded.retention)
        #expect(live.devices == refolded.devices)
        let log = scene.house.service.log
        let generations = scene.house.service.host.status.map(\.generation.name)
        #expect(scene.house.service.host.wait(for: live.place, in: generations, milliseconds: 20_000))
        #expect(log.head >= live.place)
        #expect(fingerprints() == before)
    }

    @Test func `a crash between the event and the destruction is made good at the next start`() throws {
        let scene = try Scene()
        _ = scene.house.send("PUT", "/v1/people/walker/retention", as: scene.walker, #"{"trackDays":1}"#)
        for _ in 0..<2 { scene.live() }
        try scene.settle()
        let kept = TemporaryFolder()
        let keys = scene.house.directory + "/keys.sqlite"
        for suffix in ["", "-wal"] { _ = system("cp '\(keys)\(suffix)' '\(kept.path)/keys.sqlite\(suffix)'") }
        scene.live()
        try scene.settle()
        #expect(try scene.isOpen() == [false, false, true])
        // As the file was before: it still has the key of the second day. The key of the third was made when the rule was
        // applied on that day, for what the event keeps.
        try scene.house.restart {
            for suffix in ["", "-wal", "-shm"] { unlink(keys + suffix) }
            for suffix in ["", "-wal"] { _ = system("cp '\(kept.path)/keys.sqlite\(suffix)' '\(keys)\(suffix)'") }
        }
        let open = try scene.isOpen()
        #expect(open == [false, false, true], "\(open)")
        let ring = scene.house.service.log.keys
        let destroyed = scene.house.service.log.withStanding { $0.retention.last.values.flatMap(\.keys) }
        #expect(!destroyed.isEmpty)
        for id in destroyed {
            guard case .destroyed = try ring.key(id) else {
                Issue.record("The key \(id) is there.")
                continue
            }
        }
    }

    @Test func `a backup loses the keys too, and restoring it brings nothing back and erases no one`() throws {
        let scene = try Scene()
        _ = scene.house.send("PUT", "/v1/people/walker/retention", as: scene.walker, #"{"trackDays":1}"#)
        for _ in 0..<2 { scene.live() }
        try scene.settle()
        let (moved, apart) = (TemporaryFolder(), TemporaryFolder())
        #expect(scene.house.manage("POST", "/v1/backups").status == 201)
        try Backup.move(outOf: scene.house.directory, to: moved.path)
        // A copy that the service does not know.
        _ = system("cp '\(moved.path)'/* '\(apart.path)'")
        for _ in 0..<2 { scene.live() }
        try scene.settle()
        let gone = try KeyRing.destroyedKeys(in: scene.house.directory + "/keys.sqlite")
        let end = monotonicSeconds() + patienceSeconds
        while try !KeyRing.destroyedKeys(in: moved.path + "/keys.sqlite").isSuperset(of: gone) {
            if monotonicSeconds() > end { waitedInVain(for: "the backup's keys to be destroyed") }
            usleep(20_000)
        }
        for (folder, newer) in [(moved.path, nil), (apart.path, scene.house.directory + "/keys.sqlite")]
            as [(String, String?)]
        {
            let target = TemporaryFolder()
            let outcome = try Restore.restore(
                from: folder, to: target.path + "/data", kek: scene.house.directory + "/kek", newerKeys: newer)
            #expect(outcome.erased == 0)
            let keys = try Connection(path: target.path + "/data/keys.sqlite", access: .readOnly)
            let left = try keys.cached("SELECT id FROM key") { (statement) throws(SQLiteError) -> Set<Int64> in
                var ids: Set<Int64> = []
                while try statement.step() { ids.insert(statement.int(at: 0)) }
                return ids
            }
            #expect(left.isDisjoint(with: gone) && !left.isEmpty)
            let verified = try LogVerifier.verify(try DataDirectory(path: target.path + "/data")) { _, _ in }
            #expect(verified.problem == nil && verified.lostParts == 0)
        }
    }
}

extension [Bool] {
    /// Whether all of each so many elements hold; a mixed piece is an issue.
    fileprivate func chunked(by count: Int) -> [Bool] {
        stride(from: 0, to: self.count, by: count).map { start in
            let piece = self[start..<Swift.min(start + count, self.count)]
            if Set(piece).count != 1 { Issue.record("Some reports of one day can be opened and others not.") }
            return piece.allSatisfy { $0 }
        }
    }
}
