import SQLite
import TestSupport
import Testing

@Suite struct CorruptionTests {
    let folder = TemporaryFolder()

    private func makeDatabase() throws {
        let connection = try Connection(path: folder.file("a.sqlite"), access: .readWrite)
        try connection.execute(
            """
            CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT) STRICT;
            INSERT INTO t
            SELECT value, hex(randomblob(100))
            FROM (WITH RECURSIVE c(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM c LIMIT 1000) SELECT value FROM c);
            """)
        #expect(try connection.quickCheck() == [])
    }

    @Test func `a file that is no database is called that`() throws {
        folder.overwrite("a.sqlite", at: 0, with: Array(repeating: 0x41, count: 8192))
        for access in [Connection.Access.readWrite, .readOnly] {
            let error = failure { () throws(SQLiteError) in
                let connection = try Connection(path: folder.file("a.sqlite"), access: access)
                _ = try connection.integers("SELECT count(*) FROM sqlite_schema")
            }
            #expect(error?.code == 26)  // SQLITE_NOTADB
            #expect(error?.isCorruption == true)
        }
    }

    @Test func `a damaged page is noticed on reading and by the check`() throws {
        try makeDatabase()
        // Page 2 is the root of the table's tree: from byte 4096 (sqlite.org/fileformat2.html, 1.6).
        folder.overwrite("a.sqlite", at: 4096, with: Array(repeating: 0xFF, count: 512))
        let connection = try Connection(path: folder.file("a.sqlite"), access: .readOnly)
        let error = failure { () throws(SQLiteError) in _ = try connection.integers("SELECT count(b) FROM t") }
        #expect(error?.code == 11)  // SQLITE_CORRUPT
        #expect(error?.isCorruption == true)
        #expect(try !connection.quickCheck().isEmpty)
    }

    @Test func `a cut file is noticed`() throws {
        try makeDatabase()
        folder.truncate("a.sqlite", to: 3 * 4096)
        let connection = try Connection(path: folder.file("a.sqlite"), access: .readOnly)
        let error = failure { () throws(SQLiteError) in _ = try connection.integers("SELECT count(b) FROM t") }
        #expect(error?.isCorruption == true)
    }
}
