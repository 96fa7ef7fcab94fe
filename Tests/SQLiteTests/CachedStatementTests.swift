import SQLite
import Testing

@Suite struct CachedStatementTests {
    private struct Interruption: Error {}

    @Test func `a kept statement starts afresh after each use, also a failed one`() throws {
        let connection = try Connection(path: ":memory:", access: .readWrite)
        try connection.execute("CREATE TABLE t(a INTEGER NOT NULL) STRICT")

        func insert(_ value: Int64?) throws(SQLiteError) {
            try connection.cached("INSERT INTO t VALUES (?1)") { statement throws(SQLiteError) in
                if let value { try statement.bind(value, at: 1) }
                try statement.run()
            }
        }
        try insert(1)
        // The binding of the use before is gone: NULL, which the table refuses (SQLITE_CONSTRAINT_NOTNULL).
        #expect(failure { () throws(SQLiteError) in try insert(nil) }?.extendedCode == 1299)
        try insert(2)
        #expect(try connection.integers("SELECT a FROM t") == [1, 2])
    }

    @Test func `a use left in the middle of the rows holds no lock`() throws {
        let connection = try Connection(path: ":memory:", access: .readWrite)
        try connection.execute("CREATE TABLE t(a INTEGER) STRICT; INSERT INTO t VALUES (1), (2);")
        func first() throws(SQLiteError) -> Int64 {
            try connection.cached("SELECT a FROM t") { statement throws(SQLiteError) in
                _ = try statement.step()
                return statement.int(at: 0)
            }
        }
        #expect(try first() == 1)
        #expect(try first() == 1)
        let thrown = failure { () throws(SQLiteError) in
            try connection.cached("SELECT a FROM t") { statement throws(SQLiteError) in
                _ = try statement.step()
                try connection.execute("no SQL")
            }
        }
        #expect(thrown?.code == 1)
        // A table in use by a statement cannot be dropped (SQLITE_LOCKED).
        try connection.execute("DROP TABLE t")
    }

    @Test func `a statement can be used inside its own use`() throws {
        let connection = try Connection(path: ":memory:", access: .readWrite)
        try connection.execute("CREATE TABLE t(a INTEGER) STRICT; INSERT INTO t VALUES (1), (2), (3);")
        func sum(from start: Int64, depth: Int) throws(SQLiteError) -> Int64 {
            try connection.cached("SELECT a FROM t WHERE a > ?1 ORDER BY a") { statement throws(SQLiteError) in
                try statement.bind(start, at: 1)
                var total: Int64 = 0
                while try statement.step() {
                    total += statement.int(at: 0)
                    if depth > 0 { total += try sum(from: statement.int(at: 0), depth: depth - 1) }
                }
                return total
            }
        }
        // 1 + (2 + (3) + 3) + 2 + (3) + 3
        #expect(try sum(from: 0, depth: 2) == 17)
        #expect(try sum(from: 0, depth: 0) == 6)
    }
}
