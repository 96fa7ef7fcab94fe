import SQLite
import TestSupport
import Testing

@Suite struct BackupTests {
    let folder = TemporaryFolder()

    /// 8 MiB in WAL mode, so that a backup takes several steps.
    private func writer() throws -> Connection {
        let connection = try Connection(path: folder.file("a.sqlite"), access: .readWrite)
        try connection.execute(
            """
            PRAGMA journal_mode=WAL;
            PRAGMA synchronous=OFF;
            CREATE TABLE t(a INTEGER PRIMARY KEY, b BLOB) STRICT;
            INSERT INTO t
            SELECT value, randomblob(4000)
            FROM (WITH RECURSIVE c(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM c LIMIT 2000) SELECT value FROM c);
            """)
        return connection
    }

    @Test func `a backup is of one moment, however much is written meanwhile`() throws {
        let writer = try writer()
        let reader = try Connection(path: folder.file("a.sqlite"), access: .readOnly)
        let before = try reader.integers("SELECT count(*) FROM t")
        var steps: [(remaining: Int, total: Int)] = []
        var writing: SQLiteError?
        try reader.backup(to: folder.file("copy.sqlite")) { remaining, total in
            steps.append((remaining, total))
            // A backup that started over with every commit would never end.
            if steps.count > 50 || writing != nil { return }
            writing = failure { () throws(SQLiteError) in
                try writer.execute("UPDATE t SET b = zeroblob(4000) WHERE a % 7 = 0; INSERT INTO t(b) VALUES (x'00');")
            }
        }
        #expect(writing == nil)
        #expect(steps.count > 5)
        #expect(steps.map(\.remaining) == steps.map(\.remaining).sorted(by: >))
        #expect(steps.last?.remaining == 0)
        #expect(folder.status("copy.sqlite")?.mode == 0o600)
        #expect(folder.status("copy.sqlite")?.size == (steps.last?.total ?? 0) * 4096)

        let copy = try Connection(path: folder.file("copy.sqlite"), access: .readOnly)
        #expect(try copy.quickCheck() == [])
        #expect(try copy.integers("SELECT count(*) FROM t") == before)
        #expect(try copy.integers("SELECT count(*) FROM t WHERE b = zeroblob(4000)") == [0])
        #expect(try reader.integers("SELECT count(*) FROM t") == [before[0] + Int64(steps.count)])
    }

    @Test func `a backup overwrites nothing`() throws {
        let writer = try writer()
        folder.overwrite("precious", at: 0, with: [1, 2, 3])
        let error = failure { () throws(SQLiteError) in try writer.backup(to: folder.file("precious")) { _, _ in } }
        #expect(error?.code == 14)
        #expect(folder.status("precious")?.size == 3)
    }

    @Test func `a failed backup leaves no half file`() throws {
        do {
            let writer = try writer()
            _ = try writer.checkpoint(.truncate)
        }
        // The header stays intact and counts pages that are no longer in the file.
        folder.truncate("a.sqlite", to: 3 << 20)
        let reader = try Connection(path: folder.file("a.sqlite"), access: .readOnly)
        let error = failure { () throws(SQLiteError) in try reader.backup(to: folder.file("copy.sqlite")) { _, _ in } }
        #expect(error?.isCorruption == true)
        #expect(folder.status("copy.sqlite") == nil)
        let isOpen = reader.isInTransaction
        #expect(!isOpen)
    }
}
