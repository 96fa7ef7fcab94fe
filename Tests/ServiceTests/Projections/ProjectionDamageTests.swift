import Glibc
import JSON
import SQLite
import TestSupport
import Testing
import Whereabouts

@testable import Log
@testable import Projections
@testable import Service
@testable import Tables

/// Files of projections that are lost, damaged or another's: folded again without a hand, and nothing wrong is
/// answered.
@Suite struct ProjectionDamageTests {
    /// A village whose answers are known, stopped.
    private final class Damaged {
        let village: Village
        let house: ServiceUnderTest
        private let fingerprints: [String: Fingerprint]
        private let visits: String

        init() throws {
            village = try Village()
            house = village.house
            fingerprints = house.fingerprints()
            visits = Self.visits(of: village)
        }

        private static func visits(of village: Village) -> String {
            let answer = village.house.manage("GET", "/v1/people/walker/visits")
            return answer.items.map { "\($0["id"]?.string ?? "") \($0["place"]?.string ?? "")" }.joined(separator: "\n")
        }

        func path(_ name: String, _ suffix: String = "") -> String {
            let generation = house.service.host.status.first {
                $0.generation.name == name && $0.generation.role == .active
            }
            return "\(house.directory)/projections/\(generation?.generation.fileName ?? "")\(suffix)"
        }

        /// Restarts with `damage` done, waits until it has been repaired, and compares.
        func expectHealed(_ what: String, _ damage: () throws -> Void) throws {
            try house.restart(damage)
            house.service.checker.waitUntilDone()
            let healed = house.settled()
            for (name, status) in healed {
                guard let kind = ProjectionKind.named(name) else { continue }
                let problem = FingerprintChecker.problem(
                    kind, path: "\(house.directory)/projections/\(status.generation.fileName)")
                #expect(problem == nil, "\(what): \(name)")
            }
            for name in ["current", "timeline"] {
                #expect(healed[name]?.fingerprint == fingerprints[name], "\(what): \(name)")
            }
            #expect(Self.visits(of: village) == visits, "\(what)")
        }
    }

    @Test func `a lost file comes back`() throws {
        let damaged = try Damaged()
        for kind in ProjectionKind.all {
            let path = damaged.path(kind.name)
            try damaged.expectHealed("lost \(kind.name)") {
                for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
            }
        }
        #expect(damaged.house.manage("GET", "/v1/verify")["ok"]?.bool == true)
    }

    @Test func `a file that is no database is folded again`() throws {
        let damaged = try Damaged()
        for kind in ProjectionKind.all {
            let path = damaged.path(kind.name)
            try damaged.expectHealed("header of \(kind.name)") { try Self.overwrite(path, at: 0, count: 100) }
            let again = damaged.path(kind.name)
            try damaged.expectHealed("half of \(kind.name)") {
                truncate(again, off_t((DataDirectory.read(again, atMost: 64 << 20)?.count ?? 0) / 2 + 7))
            }
        }
    }

    @Test func `bytes flipped anywhere in a file do not survive the check after the start`() throws {
        let damaged = try Damaged()
        var dice = SplitMix(7)
        for round in 0..<24 {
            let kind = ProjectionKind.all[round % ProjectionKind.all.count]
            let path = damaged.path(kind.name)
            let offsets = (0..<3).map { _ in Double.random(in: 0..<1, using: &dice) }
            try damaged.expectHealed("flip \(round) of \(kind.name) at \(offsets)") {
                let size = DataDirectory.read(path, atMost: 64 << 20)?.count ?? 1
                for offset in offsets { try Self.overwrite(path, at: Int(offset * Double(size)), count: 1) }
            }
        }
    }

    @Test func `the file of another log is not believed`() throws {
        let (damaged, other) = (try Damaged(), try Damaged())
        for name in ["timeline", "current"] {
            let (path, foreign) = (damaged.path(name), other.path(name))
            other.house.stop()
            let bytes = try #require(DataDirectory.read(foreign, atMost: 64 << 20))
            try damaged.expectHealed("another log's \(name)") {
                for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
                try DataDirectory.writePrivate(bytes, to: path)
            }
            try other.house.start()
        }
    }

    @Test(
        arguments: [
            "UPDATE place SET version = version + 100", "UPDATE place SET number = number + 1",
            "UPDATE place SET form = zeroblob(32)",
            "UPDATE visit SET latitude_degrees = latitude_degrees + 0.01", "DELETE FROM visit",
            "ALTER TABLE visit RENAME TO visits", "DROP TABLE place",
        ] as [StaticString])
    func `a file that was changed by hand is folded again`(sql: StaticString) throws {
        let damaged = try Damaged()
        do {
            let path = damaged.path("timeline")
            try damaged.expectHealed("\(sql)") {
                let connection = try Connection(path: path, access: .readWrite)
                try connection.execute(sql)
                _ = try connection.checkpoint(.truncate)
            }
        }
    }

    /// The tables of an older program, whose timeline kept circles in separate columns and whose files did not record
    /// the form of their tables.
    @Test func `files whose tables are of an older form are folded again at the opening`() throws {
        let damaged = try Damaged()
        let house = damaged.house
        let paths = ProjectionKind.all.map { damaged.path($0.name) }
        try damaged.expectHealed("older tables") {
            for path in paths {
                let connection = try Connection(path: path, access: .readWrite)
                try connection.execute("ALTER TABLE place DROP COLUMN form; CREATE TABLE older (number INTEGER)")
                if path == paths[1] {
                    try connection.execute(
                        """
                        DROP TABLE region;
                        CREATE TABLE region (
                            person INTEGER NOT NULL, region INTEGER NOT NULL, identifier TEXT NOT NULL,
                            latitude_degrees REAL NOT NULL, longitude_degrees REAL NOT NULL,
                            radius_meters REAL NOT NULL, removed_at_ms INTEGER, PRIMARY KEY (person, region)
                        ) STRICT, WITHOUT ROWID;
                        """)
                }
                _ = try connection.checkpoint(.truncate)
            }
        }
        for kind in ProjectionKind.all {
            let connection = try Connection(path: damaged.path(kind.name), access: .readOnly)
            let isOld = try connection.cached("SELECT 1 FROM sqlite_schema WHERE name = 'older'") {
                (statement) throws(SQLiteError) in try statement.step()
            }
            #expect(!isOld, "\(kind.name) was used as it was.")
        }
        #expect(house.manage("GET", "/v1/people/walker/regions").items.count == 1)
        #expect(house.manage("GET", "/v1/verify")["ok"]?.bool == true)
    }

    @Test func `damage that only a late fix comes upon is healed when one does`() throws {
        let damaged = try Damaged()
        let (house, path) = (damaged.house, damaged.path("timeline"))
        try house.restart {
            let connection = try Connection(path: path, access: .readWrite)
            try connection.execute("DROP TABLE restart")
            _ = try connection.checkpoint(.truncate)
        }
        let count = house.manage("GET", "/v1/people/walker/track").items.count
        let report = house.send(
            "POST", "/v1/fixes", as: damaged.village.phoneKey,
            #"{"timestamp":\#(house.clock.seconds - 3 * 3600 + 7),"latitude":48.2021,"longitude":16.3481}"#)
        #expect(report["new"]?.int == 1)
        #expect(
            house.manage("GET", "/v1/people/walker/track?at-least=\(house.service.log.head)").items.count == count + 1)
    }

    @Test func `a file deleted under a running service comes back`() throws {
        let damaged = try Damaged()
        let house = damaged.house
        let path = damaged.path("timeline")
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
        // The next reader that opens the file finds that it is gone.
        house.manage("POST", "/v1/projections/prune")
        var answer = house.send("GET", "/v1/people/walker/visits", as: house.operatorToken)
        while answer.status == 503 {
            _ = house.settled()
            answer = house.send("GET", "/v1/people/walker/visits", as: house.operatorToken)
        }
        #expect(answer.items.count >= 2)
        #expect(access(damaged.path("timeline"), R_OK) == 0)
    }

    @Test func `a lost, half-written or garbled catalog loses nothing but time`() throws {
        let damaged = try Damaged()
        let catalog = "\(damaged.house.directory)/catalog.sqlite"
        try damaged.expectHealed("no catalog") { for suffix in ["", "-wal", "-shm"] { unlink(catalog + suffix) } }
        try damaged.expectHealed("empty catalog") {
            for suffix in ["-wal", "-shm"] { unlink(catalog + suffix) }
            truncate(catalog, 0)
        }
        try damaged.expectHealed("half a catalog") {
            for suffix in ["-wal", "-shm"] { unlink(catalog + suffix) }
            truncate(catalog, 6000)
        }
        try damaged.expectHealed("garbled catalog") { try Self.overwrite(catalog, at: 0, count: 8192) }
    }

    @Test func `a file garbled under a running service answers 503 until it is right again`() throws {
        let damaged = try Damaged()
        let (house, village) = (damaged.house, damaged.village)
        let before = house.manage("GET", "/v1/people/walker/track").items.count
        let path = damaged.path("timeline")
        let size = try #require(DataDirectory.read(path, atMost: 64 << 20)).count
        try Self.overwrite(path, at: 0, count: size)
        village.reportNow()
        try eventually("the rebuilt track") {
            let answer = house.send(
                "GET", "/v1/people/walker/track?at-least=\(house.service.log.head)", as: house.operatorToken)
            try #require([200, 503].contains(answer.status), "\(answer.text)")
            if answer.status == 503 {
                #expect(answer.header("Retry-After") != nil)
                #expect(!village.holdsSecrets(answer))
                return false
            }
            #expect(answer.items.count == before + 1)
            return true
        }
    }

    /// Changes every byte of a stretch.
    private static func overwrite(_ path: String, at offset: Int, count: Int) throws {
        let descriptor = open(path, O_RDWR)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: count)
        let got = pread(descriptor, &bytes, count, off_t(offset))
        for index in bytes.indices { bytes[index] ^= 0x5A }
        pwrite(descriptor, bytes, max(got, 0), off_t(offset))
    }
}
