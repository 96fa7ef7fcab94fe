import Glibc
import SQLite
import TestSupport
import Testing

@testable import Log
@testable import LogTests
@testable import Projections
@testable import ProjectionsTests
@testable import Service
@testable import Whereabouts

/// The saved standing, of which only changes are written.
@Suite struct StandingFileTests {
    /// A village in which everything happened that a standing knows of; its log.
    private static func village() throws -> (directory: String, village: Village) {
        let village = try Village()
        let house = village.house
        let subject = village.tokens[.subject]
        func walker(_ method: String, _ path: String, _ body: String = "", key: String? = nil) {
            let answer = house.send(
                method, "/v1/people/walker\(path)", as: subject, body,
                headers: key.map { [("Idempotency-Key", $0)] } ?? [])
            #expect((200..<300).contains(answer.status), "\(method) \(path): \(answer.text)")
        }
        village.reportNow()
        _ = try village.askAfterConsent()
        walker("POST", "/invitations", #"{"precision":"exact"}"#, key: "one")
        walker("POST", "/schedules", #"{"everySeconds":3600}"#)
        walker("POST", "/webhooks", #"{"url":"\#(Village.hooks)/x","topics":["change"]}"#)
        walker("POST", "/corrections", #"{"type":"split","at":1}"#)
        walker("DELETE", "/regions/garden-gate")
        walker("POST", "/pauses", "{}")
        walker("DELETE", "/pauses")
        house.send("GET", "/v1/people/walker/location", as: village.tokens[.oldFriend])
        house.send("GET", "/v1/people/walker/location", as: village.tokens[.stranger])
        house.send("POST", "/v1/account-invitations", as: subject, "{}")
        house.manage("DELETE", "/v1/devices/walker-phone")
        house.manage("DELETE", "/v1/people/stranger")
        house.clock.advance(seconds: 7200)
        house.manage("DELETE", "/v1/people/walker")
        house.manage("POST", "/v1/people", #"{"handle":"walker"}"#)
        house.stop()
        return (house.directory, village)
    }

    private static func entries(_ standing: Standing) -> [StandingEntry] {
        var entries: [StandingEntry] = []
        standing.forEachEntry { entries.append($0) }
        return entries.sorted { ($0.kind.rawValue, $0.id) < ($1.kind.rawValue, $1.id) }
    }

    /// After each of some thousand events, in steps of one and of many, the file has the same content as one written at
    /// once.
    @Test(arguments: [1, 7, 100]) func `what is written of changes only is the whole standing`(step: Int) throws {
        let (directory, village) = try Self.village()
        try withExtendedLifetime(village) {
            let data = try DataDirectory(path: directory)
            let keys = try data.openKeys()
            let reader = try LogReader(path: data.log, keys: keys)
            let identity = try reader.identity()
            let folder = TemporaryFolder()
            let whole = TemporaryFolder()
            let file = StandingFile(directory: folder.path)
            var standing = Standing()
            var heads = StreamHeads()
            var kinds: Set<StandingEntry.Kind> = []
            // Many steps of one event are slow to compare; so a few events are folded between the last of them.
            while standing.place < identity.size {
                let events = identity.size - standing.place > 120 && step == 1 ? 40 : Int64(step)
                let next = min(standing.place + events, identity.size)
                try EventLog.catchUp(&standing, &heads, to: next, reader)
                try file.save(standing, heads, log: identity)
                standing.forgetChanges()
                let (loaded, loadedHeads) = try StandingFile(directory: folder.path).load(log: identity, reader: reader)
                let expected = Self.entries(standing)
                #expect(loaded.place == next)
                #expect(Self.entries(loaded) == expected, "event \(next)")
                #expect(loadedHeads == heads)
                kinds.formUnion(expected.map(\.kind))
            }
            // Short-lived entries do not exist after every step.
            #expect(kinds.count >= (step == 1 ? 14 : 5), "\(kinds)")
            try StandingFile(directory: whole.path).save(standing, heads, log: identity)
            #expect(try Self.fingerprint(folder.path) == Self.fingerprint(whole.path))
        }
    }

    private static func fingerprint(_ directory: String) throws -> [UInt8] {
        let connection = try Connection(path: StandingFile(directory: directory).path, access: .readOnly)
        return try connection.cached("SELECT fingerprint FROM place") { (statement) throws(SQLiteError) in
            try statement.step() ? statement.bytes(at: 0) : []
        }
    }

    /// Another process, or another log's standing, may have come between.
    @Test func `a file that is not as it was left is written anew`() throws {
        let (directory, village) = try Self.village()
        try withExtendedLifetime(village) {
            let data = try DataDirectory(path: directory)
            let reader = try LogReader(path: data.log, keys: try data.openKeys())
            let identity = try reader.identity()
            for what in ["gone", "earlier", "emptied"] {
                let folder = TemporaryFolder()
                let file = StandingFile(directory: folder.path)
                var standing = Standing()
                var heads = StreamHeads()
                let half = identity.size / 2
                try EventLog.catchUp(&standing, &heads, to: half / 2, reader)
                if what == "earlier" {
                    try StandingFile(directory: folder.path).save(standing, heads, log: identity)
                }
                let kept = DataDirectory.read(file.path, atMost: 1 << 26)
                try EventLog.catchUp(&standing, &heads, to: half, reader)
                try file.save(standing, heads, log: identity)
                standing.forgetChanges()
                switch what {
                case "gone": unlink(file.path)
                case "earlier": try DataDirectory.writePrivate(try #require(kept), to: file.path)
                default: try Connection(path: file.path, access: .readWrite).execute("DELETE FROM place")
                }
                try EventLog.catchUp(&standing, &heads, to: identity.size, reader)
                try file.save(standing, heads, log: identity)
                let (loaded, _) = try StandingFile(directory: folder.path).load(log: identity, reader: reader)
                #expect(loaded.place == identity.size, "\(what)")
                #expect(Self.entries(loaded) == Self.entries(standing), "\(what)")
            }
        }
    }

    @Test func `the standing is the same whether it was saved or folded from the log`() throws {
        let scene = LogScene.withStandingFile()
        let (_, phone) = try scene.people()
        _ = try scene.report([try scene.fix(1)], by: phone)
        let live = rows(try scene.open().standingCopy())
        scene.stop()
        #expect(rows(try scene.open().standingCopy()) == live)
        scene.stop()
        _ = system("rm '\(scene.path)'/projections/standing*")
        #expect(rows(try scene.open().standingCopy()) == live)
    }

    @Test func `a standing of another log, or a damaged one, is folded again`() throws {
        let (scene, other) = (LogScene.withStandingFile(), LogScene.withStandingFile())
        _ = try scene.people()
        _ = try other.people("somebody", phone: "tablet")
        let live = rows(try scene.open().standingCopy())
        scene.stop()
        other.stop()
        _ = system("cp '\(other.path)'/projections/standing* '\(scene.path)/projections/'")
        #expect(rows(try scene.open().standingCopy()) == live)
        scene.stop()
        let file = "'\(scene.path)'/projections/standing-v\(StandingFile.version)-1.sqlite"
        _ = system("dd if=/dev/urandom of=\(file) bs=4096 count=2 2>/dev/null")
        #expect(rows(try scene.open().standingCopy()) == live)
    }

    private func rows(_ standing: Standing) -> Set<StandingEntry> {
        var entries: Set<StandingEntry> = []
        standing.forEachEntry { entries.insert($0) }
        return entries
    }
}
