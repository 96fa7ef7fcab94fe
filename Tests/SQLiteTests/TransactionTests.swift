import SQLite
import TestSupport
import Testing

@Suite struct TransactionTests {
    let folder = TemporaryFolder()

    private func writer() throws -> Connection {
        let connection = try Connection(path: folder.file("a.sqlite"), access: .readWrite)
        try connection.execute("PRAGMA journal_mode=WAL; CREATE TABLE IF NOT EXISTS t(a INTEGER UNIQUE) STRICT;")
        return connection
    }

    @Test func `a transaction that throws leaves nothing behind`() throws {
        let connection = try writer()
        let error = failure { () throws(SQLiteError) in
            try connection.transaction { () throws(SQLiteError) in
                try connection.execute("INSERT INTO t VALUES (1)")
                try connection.execute("INSERT INTO t VALUES (2), (2)")
            }
        }
        #expect(error?.extendedCode == 2067)  // SQLITE_CONSTRAINT_UNIQUE
        let isOpen = connection.isInTransaction
        #expect(!isOpen)
        #expect(try connection.integers("SELECT a FROM t") == [])
    }

    @Test func `a transaction that ends well is seen by others at once`() throws {
        let connection = try writer()
        let reader = try Connection(path: folder.file("a.sqlite"), access: .readOnly)
        let result = try connection.transaction { () throws(SQLiteError) in
            try connection.execute("INSERT INTO t VALUES (1)")
            #expect(try reader.integers("SELECT a FROM t") == [])
            return "done"
        }
        #expect(result == "done")
        #expect(try reader.integers("SELECT a FROM t") == [1])
    }

    @Test func `begin, commit and rollback can be called one by one`() throws {
        let connection = try writer()
        try connection.begin()
        try connection.execute("INSERT INTO t VALUES (1)")
        try connection.commit()
        try connection.begin()
        try connection.execute("INSERT INTO t VALUES (2)")
        try connection.rollback()
        try connection.rollback()
        #expect(try connection.integers("SELECT a FROM t") == [1])
        #expect(failure { () throws(SQLiteError) in try connection.commit() }?.code == 1)
    }

    @Test func `transactions do not nest, and the outer one is undone`() throws {
        let connection = try writer()
        let error = failure { () throws(SQLiteError) in
            try connection.transaction { () throws(SQLiteError) in
                try connection.execute("INSERT INTO t VALUES (1)")
                try connection.transaction { () throws(SQLiteError) in
                    try connection.execute("INSERT INTO t VALUES (2)")
                }
            }
        }
        #expect(error?.message == "cannot start a transaction within a transaction")
        #expect(try connection.integers("SELECT a FROM t") == [])
    }

    @Test func `a second writer is told that the database is busy`() throws {
        let first = try writer()
        let second = try writer()
        try second.execute("PRAGMA busy_timeout=1")
        try first.transaction { () throws(SQLiteError) in
            #expect(failure { () throws(SQLiteError) in try second.begin() }?.isBusy == true)
        }
    }

    @Test func `a snapshot does not see what is written meanwhile`() throws {
        let connection = try writer()
        try connection.execute("INSERT INTO t VALUES (1)")
        let reader = try Connection(path: folder.file("a.sqlite"), access: .readOnly)
        try reader.snapshot { () throws(SQLiteError) in
            #expect(try reader.integers("SELECT a FROM t") == [1])
            try connection.execute("INSERT INTO t VALUES (2)")
            #expect(try reader.integers("SELECT a FROM t") == [1])
        }
        #expect(try reader.integers("SELECT a FROM t") == [1, 2])
    }
}
