import Cryptography
import Glibc
import LogVerifying
import SQLite
import TestSupport
import Testing
import Whereabouts

@testable import Log

@Suite struct LogVerifierTests {
    private static let hasPython = Foreign.hasPython(with: "sqlite3, hashlib")

    /// Two persons and fixes of both, 44 events in all.
    private static func arranged() throws -> LogScene {
        let scene = LogScene()
        let (admin, phone) = try scene.people()
        let log = try scene.open()
        for command: Command in [
            .addPerson(LogScene.handle("friend")), .addDevice(LogScene.handle("tablet"), of: LogScene.handle("friend")),
        ] {
            _ = try log.appendAndWait(command, by: admin, correlation: .random())
        }
        let tablet = try scene.caller(.device(LogScene.handle("tablet")), .report, by: admin)
        for second in 1...18 {
            _ = try scene.report([try scene.fix(Int64(second))], by: phone)
            _ = try scene.report([try scene.fix(Int64(second))], by: tablet)
        }
        _ = try log.appendAndWait(.addPerson(LogScene.handle("third")), by: admin, correlation: .random())
        return scene
    }

    @Test(.enabled(if: hasPython, "There is no Python 3 to compare with."))
    func `leaves and root are those of the independent verifier`() throws {
        let scene = try Self.arranged()
        let stored = try scene.open().reader().storedEvents(after: 0, limit: .max)
        let verification = try scene.verify()
        #expect(verification.problem == nil && verification.events == 44 && stored.count == 44)
        let lines = try Foreign.python(
            path: "\(Repository.root)/scripts/dev/verify_log.py", ["--leaves", "\(scene.path)/log.sqlite"]
        ).split(separator: "\n")
        #expect(lines.dropLast().map(String.init) == stored.map { "\($0.header.number) \($0.leaf.hex)" })
        #expect(lines.last.map(String.init) == "44 events, root \(verification.root.hex)")
    }

    @Test(arguments: [1, 5, 23, 44])
    func `a change of any column of an event is found and its number named`(number: Int64) throws {
        let scene = try Self.arranged()
        let changes: [StaticString] = [
            "UPDATE event SET number = number + 1000 WHERE number = ?",
            "UPDATE event SET stream = stream + 1 WHERE number = ?",
            "UPDATE event SET version = version + 1 WHERE number = ?",
            "UPDATE event SET kind = kind + 1 WHERE number = ?",
            "UPDATE event SET recorded_at_ms = recorded_at_ms - 1 WHERE number = ?",
            "UPDATE event SET actor = actor + 1 WHERE number = ?",
            "UPDATE event SET correlation = CAST(substr(correlation, 2) || x'00' AS BLOB) WHERE number = ?",
            "UPDATE event SET correlation = x'00' WHERE number = ?",
            "UPDATE event SET cause = cause + 1 WHERE number = ?",
            """
            UPDATE event SET body = CAST(substr(body, 1, length(body) - 1)
            || iif(substr(body, -1) = x'00', x'01', x'00') AS BLOB) WHERE number = ?
            """,
            "UPDATE event SET body = CAST(body || x'00' AS BLOB) WHERE number = ?",
            """
            UPDATE event SET leaf = CAST(iif(substr(leaf, 1, 1) = x'00', x'01', x'00')
            || substr(leaf, 2) AS BLOB) WHERE number = ?
            """,
            "UPDATE event SET leaf = x'' WHERE number = ?",
            "DELETE FROM event WHERE number = ?",
        ]
        for change in changes {
            let copy = LogScene()
            scene.stop()
            _ = system("cp -r '\(scene.path)'/* '\(copy.path)/'")
            try copy.tampering { connection in
                try connection.cached(change) { (statement) throws(SQLiteError) in
                    try statement.bind(number, at: 1)
                    try statement.run()
                }
            }
            let problem = try #require(try copy.verify().problem, "\(change)")
            #expect(problem.number == number, "\(change): \(problem.sentence)")
        }
    }

    @Test(
        arguments: [
            ("UPDATE log SET size = size - 1, compact_range = x''", 44), ("UPDATE log SET size = 45", 44),
            (
                "UPDATE log SET head = CAST(iif(substr(head, 1, 1) = x'00', x'01', x'00') || substr(head, 2) AS BLOB)",
                44
            ),
            (
                "UPDATE log SET compact_range = CAST(iif(substr(compact_range, 1, 1) = x'00', x'01', x'00') || substr(compact_range, 2) AS BLOB)",
                44
            ),
            ("DELETE FROM log", 44),
            (
                "INSERT INTO event SELECT 45, stream, 1, 1, 1, 1, correlation, 0, body, leaf FROM event WHERE number = 1",
                45
            ),
            (
                "INSERT INTO event SELECT 0, stream, 1, 1, 1, 1, correlation, 0, body, leaf FROM event WHERE number = 1",
                0
            ),
        ] as [(String, Int64)])
    func `a change of what the log says of itself is found`(change: String, number: Int64) throws {
        let scene = try Self.arranged()
        scene.stop()
        try scene.tampering { _ in }
        // The statement is a test's own text; the wrapper takes literals only.
        try #require(
            system(
                "\(Foreign.python) -c \"import sqlite3; c = sqlite3.connect('\(scene.path)/log.sqlite'); c.execute(\\\"\(change)\\\"); c.commit()\""
            ) == 0)
        let problem = try #require(try scene.verify().problem)
        #expect(problem.number == number, "\(problem.sentence)")
    }

    @Test func `a row put in the place of another, with all its own leaves right, is found`() throws {
        let scene = try Self.arranged()
        // Two events of one stream change places in every column but number and version.
        try scene.tampering { connection in
            try connection.execute(
                """
                CREATE TEMP TABLE other AS SELECT * FROM event WHERE number IN (9, 11);
                UPDATE event SET body = (SELECT body FROM other WHERE other.number = 11),
                    leaf = (SELECT leaf FROM other WHERE other.number = 11) WHERE number = 9;
                UPDATE event SET body = (SELECT body FROM other WHERE other.number = 9),
                    leaf = (SELECT leaf FROM other WHERE other.number = 9) WHERE number = 11;
                """)
        }
        #expect(try scene.verify().problem?.number == 9)
    }

    /// Bytes of the file itself, in rows, page heads, free space: every change that a reader can see is found at the
    /// first affected event.
    @Test func `a flipped byte anywhere in the file is found, or changes nothing`() throws {
        let scene = try Self.arranged()
        scene.stop()
        let path = scene.path + "/log.sqlite"
        let original = try #require(DataDirectory.read(path, atMost: 1 << 24))
        let rows = try #require(Self.rows(path))
        var random = SystemRandomNumberGenerator()
        var found = 0
        for _ in 0..<400 {
            var bytes = original
            let offset = Int.random(in: 0..<bytes.count, using: &random)
            bytes[offset] ^= UInt8.random(in: 1...255, using: &random)
            _ = system("rm -f '\(path)'-*")
            let file = try #require(fopen(path, "w"))
            fwrite(bytes, 1, bytes.count, file)
            fclose(file)
            guard let verification = try? scene.verify() else { continue }
            guard let now = Self.rows(path) else { continue }
            let first = zip(rows, now).prefix { $0 == $1 }.count
            if first < rows.count {
                #expect(verification.problem?.number == Int64(first + 1), "offset \(offset)")
                found += 1
            } else if let problem = verification.problem {
                // The log's own record, or a page without events.
                #expect(problem.number >= Int64(rows.count) || problem.number <= 1, "offset \(offset)")
            }
        }
        #expect(found > 20)
    }

    /// Every column of every event up to the first that cannot be read; `nil` when nothing can.
    private static func rows(_ path: String) -> [[String]]? {
        guard let connection = try? Connection(path: path, access: .readOnly) else { return nil }
        var rows: [[String]] = []
        do {
            try connection.cached(
                """
                SELECT number, quote(stream), quote(version), quote(kind), quote(recorded_at_ms), quote(actor),
                quote(correlation), quote(cause), quote(body), quote(leaf) FROM event WHERE number > 0 ORDER BY number
                """
            ) { (statement) throws(SQLiteError) in
                while try statement.step() { rows.append((Int32(0)..<10).map { statement.text(at: $0) }) }
            }
        } catch {
            if !error.isCorruption { return nil }
        }
        return rows
    }

    @Test func `progress is told, and an empty log is a good one`() throws {
        let scene = try Self.arranged()
        var told: [Int64] = []
        _ = try scene.open().verify { done, all in
            told.append(done)
            #expect(all == 44)
        }
        #expect(told == [44])
        let empty = LogScene()
        _ = try empty.open()
        let verification = try empty.verify()
        #expect(verification.problem == nil && verification.events == 0)
        // SHA-256 of nothing, RFC 9162 §2.1.1.
        #expect(verification.root.hex == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    }
}
