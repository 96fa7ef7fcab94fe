import Glibc
import SQLite
import TestSupport
import Testing

@Suite struct ConnectionTests {
    let folder = TemporaryFolder()

    @Test func `a new database and its companions are readable by their owner only`() throws {
        let connection = try Connection(path: folder.file("a.sqlite"), access: .readWrite)
        try connection.execute("PRAGMA journal_mode=WAL; CREATE TABLE t(a INTEGER) STRICT;")
        #expect(folder.names == ["a.sqlite", "a.sqlite-shm", "a.sqlite-wal"])
        for name in folder.names {
            #expect(folder.status(name)?.mode == 0o600)
        }
    }

    @Test func `an existing file keeps its mode and its rows`() throws {
        do {
            let connection = try Connection(path: folder.file("a.sqlite"), access: .readWrite)
            try connection.execute("CREATE TABLE t(a INTEGER) STRICT; INSERT INTO t VALUES (7);")
        }
        chmod(folder.file("a.sqlite"), 0o640)
        let connection = try Connection(path: folder.file("a.sqlite"), access: .readWrite)
        #expect(try connection.integers("SELECT a FROM t") == [7])
        #expect(folder.status("a.sqlite")?.mode == 0o640)
    }

    @Test(arguments: ["a?mode=memory", "b#c", "d%20e", "file:f", ":memory:g", "h ö 🙂"])
    func `a name is a name, whatever letters it has`(name: String) throws {
        let connection = try Connection(path: folder.file(name), access: .readWrite)
        try connection.execute("CREATE TABLE t(a INTEGER) STRICT")
        #expect(folder.names == [name])
    }

    @Test(arguments: ["plain.sqlite", "file:relative.sqlite?mode=ro", ":colon.sqlite"])
    func `relative paths start at the working directory`(name: String) throws {
        // The process has one working directory and tests run side by side: go to the folder from where we are.
        let buffer = try #require(getcwd(nil, 0))
        defer { free(buffer) }
        let here = String(cString: buffer)
        let up = here.split(separator: "/").map { _ in ".." }.joined(separator: "/")
        let connection = try Connection(path: up + folder.file(name), access: .readWrite)
        try connection.execute("CREATE TABLE t(a INTEGER) STRICT")
        #expect(folder.names == [name])
        #expect(failure { () throws(SQLiteError) in _ = try Connection(path: name, access: .readOnly) }?.code == 14)
    }

    @Test(arguments: ["", "/", "/nowhere/at/all.sqlite"])
    func `what cannot be a database file is refused at once`(path: String) {
        for access in [Connection.Access.readWrite, .readOnly] {
            let error = failure { () throws(SQLiteError) in _ = try Connection(path: path, access: access) }
            #expect(error?.code == 14)  // SQLITE_CANTOPEN
        }
    }

    @Test func `a path is not cut at a NUL character`() {
        let error = failure { () throws(SQLiteError) in
            _ = try Connection(path: folder.file("a\0b"), access: .readWrite)
        }
        #expect(error?.code == 14)
        #expect(folder.names == [])
    }

    @Test func `reading does not make a file`() {
        let error = failure { () throws(SQLiteError) in
            _ = try Connection(path: folder.file("a.sqlite"), access: .readOnly)
        }
        #expect(error?.code == 14)
        #expect(folder.names == [])
    }

    @Test func `a reading connection cannot write`() throws {
        let writer = try Connection(path: folder.file("a.sqlite"), access: .readWrite)
        try writer.execute("PRAGMA journal_mode=WAL; CREATE TABLE t(a INTEGER) STRICT; INSERT INTO t VALUES (1);")
        let reader = try Connection(path: folder.file("a.sqlite"), access: .readOnly)
        for sql: StaticString in ["INSERT INTO t VALUES (2)", "DROP TABLE t", "CREATE TABLE u(a)", "VACUUM"] {
            let error = failure { () throws(SQLiteError) in try reader.execute(sql) }
            #expect(error?.code == 8)  // SQLITE_READONLY
        }
        #expect(try reader.integers("SELECT a FROM t") == [1])
        // Even with the pragma lifted, the file is open for reading only.
        try reader.execute("PRAGMA query_only=OFF")
        #expect(failure { () throws(SQLiteError) in try reader.execute("INSERT INTO t VALUES (2)") }?.code == 8)
        #expect(failure { () throws(SQLiteError) in _ = try reader.checkpoint(.truncate) } != nil)
    }

    @Test func `each connection is set up as the design asks`() throws {
        let writer = try Connection(path: folder.file("a.sqlite"), access: .readWrite)
        try writer.execute("PRAGMA journal_mode=WAL; CREATE TABLE t(a INTEGER) STRICT;")
        let reader = try Connection(path: folder.file("a.sqlite"), access: .readOnly)
        #expect(try writer.integers("PRAGMA busy_timeout") == [5000])
        #expect(try writer.integers("PRAGMA trusted_schema") == [0])
        #expect(try writer.integers("PRAGMA cell_size_check") == [1])
        #expect(try writer.integers("PRAGMA mmap_size") == [0])
        #expect(try writer.integers("PRAGMA query_only") == [0])
        #expect(try writer.integers("PRAGMA wal_autocheckpoint") == [1000])
        #expect(try reader.integers("PRAGMA busy_timeout") == [5000])
        #expect(try reader.integers("PRAGMA trusted_schema") == [0])
        #expect(try reader.integers("PRAGMA cell_size_check") == [1])
        #expect(try reader.integers("PRAGMA mmap_size") == [0])
        #expect(try reader.integers("PRAGMA query_only") == [1])
        #expect(try reader.integers("PRAGMA wal_autocheckpoint") == [0])
    }

    @Test func `a reader that closes last leaves the WAL to the writer`() throws {
        let size = try {
            let reader: Connection
            do {
                let writer = try Connection(path: folder.file("a.sqlite"), access: .readWrite)
                try writer.execute(
                    "PRAGMA journal_mode=WAL; CREATE TABLE t(a INTEGER) STRICT; INSERT INTO t VALUES (1);")
                reader = try Connection(path: folder.file("a.sqlite"), access: .readOnly)
                #expect(try reader.integers("SELECT a FROM t") == [1])
            }
            let size = folder.status("a.sqlite-wal")?.size
            #expect(try reader.integers("SELECT a FROM t") == [1])
            return size
        }()
        #expect(try #require(size) > 0)
        #expect(folder.status("a.sqlite-wal")?.size == size)
    }

    @Test func `checkpoints count frames and can cut the WAL`() throws {
        let connection = try Connection(path: folder.file("a.sqlite"), access: .readWrite)
        #expect(try connection.checkpoint(.passive) == (-1, -1))
        try connection.execute("PRAGMA journal_mode=WAL; CREATE TABLE t(a INTEGER) STRICT; INSERT INTO t VALUES (1);")
        let passive = try connection.checkpoint(.passive)
        // A frame is a page of 4096 bytes and a header of 24; the WAL has a header of 32 (sqlite.org/fileformat2.html).
        let frames = (try #require(folder.status("a.sqlite-wal")).size - 32) / (4096 + 24)
        #expect(passive == (frames, frames))
        #expect(try connection.checkpoint(.truncate) == (0, 0))
        #expect(folder.status("a.sqlite-wal")?.size == 0)
    }

    @Test func `a checkpoint that a reader holds back copies what it can`() throws {
        let writer = try Connection(path: folder.file("a.sqlite"), access: .readWrite)
        try writer.execute("PRAGMA journal_mode=WAL; CREATE TABLE t(a INTEGER) STRICT; INSERT INTO t VALUES (1);")
        let reader = try Connection(path: folder.file("a.sqlite"), access: .readOnly)
        try reader.snapshot { () throws(SQLiteError) in
            #expect(try reader.integers("SELECT a FROM t") == [1])
            try writer.execute("INSERT INTO t VALUES (2); INSERT INTO t VALUES (3);")
            let (frames, copied) = try writer.checkpoint(.passive)
            #expect(copied < frames)
            try writer.execute("PRAGMA busy_timeout=1")
            #expect(failure { () throws(SQLiteError) in _ = try writer.checkpoint(.truncate) }?.isBusy == true)
            #expect(try reader.integers("SELECT a FROM t") == [1])
        }
        #expect(try reader.integers("SELECT a FROM t") == [1, 2, 3])
    }

    @Test func `a database in memory leaves no file`() throws {
        let connection = try Connection(path: ":memory:", access: .readWrite)
        try connection.execute("CREATE TABLE t(a INTEGER) STRICT; INSERT INTO t VALUES (1);")
        #expect(try connection.integers("SELECT a FROM t") == [1])
        #expect(access(":memory:", F_OK) != 0)
    }

    @Test func `the plan of a query can be read`() throws {
        let connection = try Connection(path: ":memory:", access: .readWrite)
        try connection.execute("CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT) STRICT")
        let search = try connection.explainQueryPlan("SELECT b FROM t WHERE a = ?1")
        #expect(search == ["SEARCH t USING INTEGER PRIMARY KEY (rowid=?)"])
        #expect(try connection.explainQueryPlan("SELECT a FROM t WHERE b = ?1") == ["SCAN t"])
    }

    @Test func `inserts tell their row id and how many rows changed`() throws {
        let connection = try Connection(path: ":memory:", access: .readWrite)
        try connection.execute("CREATE TABLE t(a INTEGER PRIMARY KEY) STRICT; INSERT INTO t VALUES (41), (42);")
        let (rowID, changes) = (connection.lastInsertRowID, connection.changes)
        #expect(rowID == 42)
        #expect(changes == 2)
    }

    @Test func `a class can keep a connection and a statement in constants`() throws {
        final class Table {
            let connection: Connection
            let insert: Statement

            init() throws(SQLiteError) {
                connection = try Connection(path: ":memory:", access: .readWrite)
                try connection.execute("CREATE TABLE t(a INTEGER) STRICT")
                insert = try connection.prepare("INSERT INTO t VALUES (?1)")
            }

            func store(_ values: [Int]) throws(SQLiteError) {
                try connection.transaction { () throws(SQLiteError) in
                    for value in values {
                        try insert.bind(value, at: 1)
                        try insert.run()
                    }
                }
            }
        }
        let table = try Table()
        try table.store([1, 2, 3])
        #expect(try table.connection.integers("SELECT a FROM t") == [1, 2, 3])
    }

    @Test func `a file on read-only media is read without another file beside it, whatever its name`() throws {
        let path = folder.path + "/a file?mode=rw#100%25 é.sqlite"
        do {
            let connection = try Connection(path: path, access: .readWrite)
            try connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (7)")
        }
        for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
        let connection = try Connection(path: path, access: .immutable)
        let found = try connection.cached("SELECT a FROM t") { (statement) throws(SQLiteError) in
            try statement.step() ? statement.int(at: 0) : 0
        }
        #expect(found == 7)
        #expect(throws: SQLiteError.self) { try connection.execute("DELETE FROM t") }
        #expect(folder.names == ["a file?mode=rw#100%25 é.sqlite"])
    }
}
