import SQLite
import Testing

@Suite struct StatementTests {
    private func connection() throws -> Connection {
        let connection = try Connection(path: ":memory:", access: .readWrite)
        try connection.execute("CREATE TABLE t(i INTEGER, r REAL, s TEXT, b BLOB) STRICT")
        return connection
    }

    @Test func `values of every type come back as they went in`() throws {
        let connection = try connection()
        let insert = try connection.prepare("INSERT INTO t VALUES (?1, ?2, ?3, ?4)")
        let every: [UInt8] = Array(0...255)
        let cases: [(Int64, Double, String, [UInt8])] = [
            (0, 0, "", []), (.max, .greatestFiniteMagnitude, "a\0b\0", every),
            (.min, .leastNonzeroMagnitude, "ö🙂", [0]),
            (-1, -.infinity, String(repeating: "long ", count: 1000), [0xC3, 0x28, 0, 0xFF]),
        ]
        for (i, r, s, b) in cases {
            try insert.bind(i, at: 1)
            try insert.bind(r, at: 2)
            try insert.bind(s, at: 3)
            try insert.bind(b, at: 4)
            try insert.run()
        }
        let select = try connection.prepare("SELECT i, r, s, b, typeof(i), typeof(r), typeof(s), typeof(b) FROM t")
        for (i, r, s, b) in cases {
            #expect(try select.step())
            let row = (select.int(at: 0), select.double(at: 1), select.text(at: 2), select.bytes(at: 3))
            #expect(row == (i, r, s, b))
            let lent = select.withBytes(at: 3) { [UInt8]($0) }
            #expect(lent == b)
            let asStored = (Int32(0)...3).map { [select.isInteger(at: $0), select.isBlob(at: $0)] }
            #expect(asStored == [[true, false], [false, false], [false, false], [false, true]])
            let types = (4...7).map { select.text(at: $0) }
            #expect(types == ["integer", "real", "text", "blob"])
        }
        #expect(try !select.step())
    }

    @Test func `nothing comes back as nothing`() throws {
        let connection = try connection()
        let insert = try connection.prepare("INSERT INTO t VALUES (?1, ?2, ?3, ?4)")
        try insert.bind(Int64?.none, at: 1)
        try insert.bind(Double?.none, at: 2)
        try insert.bind(String?.none, at: 3)
        try insert.bindNull(at: 4)
        try insert.run()
        try insert.bind(Int64?.some(1), at: 1)
        try insert.bind(Double?.some(2), at: 2)
        try insert.bind(String?.some(""), at: 3)
        try insert.bind([UInt8]?.some([]), at: 4)
        try insert.run()
        let select = try connection.prepare("SELECT i, r, s, b FROM t")
        #expect(try select.step())
        let absent = (
            select.optionalInt(at: 0), select.optionalDouble(at: 1), select.optionalText(at: 2),
            select.optionalBytes(at: 3)
        )
        #expect(absent == (nil, nil, nil, nil))
        let nulls = (Int32(0)...3).map { select.isNull(at: $0) }
        #expect(nulls == [true, true, true, true])
        #expect(try select.step())
        let present = (
            select.optionalInt(at: 0), select.optionalDouble(at: 1), select.optionalText(at: 2),
            select.optionalBytes(at: 3)
        )
        #expect(present == (1, 2, "", []))
    }

    @Test func `a number that is none is stored as nothing`() throws {
        let connection = try connection()
        let insert = try connection.prepare("INSERT INTO t(r) VALUES (?1)")
        try insert.bind(Double.nan, at: 1)
        try insert.run()
        #expect(try connection.integers("SELECT r IS NULL FROM t") == [1])
    }

    @Test func `bytes can be bound in place and copied`() throws {
        let connection = try connection()
        let insert = try connection.prepare("INSERT INTO t(b) VALUES (?1)")
        // Changed in place after the binding: copies keep the bound value, the buffer bound in place shows the change.
        var bytes: [UInt8] = [1, 0, 2]
        try bytes.withUnsafeMutableBytes { buffer in
            try insert.bind(UnsafeRawBufferPointer(buffer), at: 1)
            buffer[0] = 3
            try insert.run()
            try insert.bindUncopied(UnsafeRawBufferPointer(buffer), at: 1)
            buffer[0] = 4
            try insert.run()
        }
        try insert.bind(bytes, at: 1)
        bytes[0] = 5
        try insert.run()
        try insert.bindUncopied(UnsafeRawBufferPointer(start: nil, count: 0), at: 1)
        try insert.run()
        let select = try connection.prepare("SELECT b, typeof(b) FROM t")
        for expected: [UInt8] in [[1, 0, 2], [4, 0, 2], [4, 0, 2], []] {
            #expect(try select.step())
            let (bytes, type) = (select.bytes(at: 0), select.text(at: 1))
            #expect(bytes == expected)
            #expect(type == "blob")
        }
    }

    @Test func `text that is not UTF-8 is repaired, its bytes are not`() throws {
        let connection = try connection()
        try connection.execute("INSERT INTO t(s) VALUES (CAST(x'41C32842' AS TEXT))")
        let select = try connection.prepare("SELECT s FROM t")
        #expect(try select.step())
        let (text, bytes) = (select.text(at: 0), select.bytes(at: 0))
        #expect(text == "A\u{FFFD}(B")
        #expect(bytes == [0x41, 0xC3, 0x28, 0x42])
    }

    @Test func `a strict table refuses another type and says which`() throws {
        let connection = try connection()
        let insert = try connection.prepare("INSERT INTO t(i) VALUES (?1)")
        try insert.bind("forty", at: 1)
        let error = try #require(failure { () throws(SQLiteError) in try insert.run() })
        #expect(error.code == 19)  // SQLITE_CONSTRAINT
        #expect(error.extendedCode == 3091)  // SQLITE_CONSTRAINT_DATATYPE
        #expect(error.message == "cannot store TEXT value in INTEGER column t.i")
        #expect(error.sql == "INSERT INTO t(i) VALUES (?1)")
        #expect(!error.description.contains("forty"))
    }

    @Test func `errors tell code, extended code, sentence and SQL`() throws {
        let connection = try connection()
        try connection.execute("CREATE UNIQUE INDEX once ON t(i)")
        let sql: StaticString = "INSERT INTO t(i) VALUES (1), (1)"
        let twice = try #require(failure { () throws(SQLiteError) in try connection.execute(sql) })
        #expect(twice.code == 19)
        #expect(twice.extendedCode == 2067)  // SQLITE_CONSTRAINT_UNIQUE
        #expect(twice.message == "UNIQUE constraint failed: t.i")
        #expect(twice.sql == sql.description)
        #expect("\(twice)" == "SQLite 2067: UNIQUE constraint failed: t.i in: INSERT INTO t(i) VALUES (1), (1)")
        #expect(!twice.isBusy && !twice.isFull && !twice.isCorruption)

        let unknown = failure { () throws(SQLiteError) in _ = try connection.prepare("SELECT weight FROM t") }
        #expect(unknown?.code == 1)  // SQLITE_ERROR
        #expect(unknown?.message == "no such column: weight")

        let select = try connection.prepare("SELECT ?1")
        let range = failure { () throws(SQLiteError) in try select.bind(1, at: 2) }
        #expect(range?.code == 25)  // SQLITE_RANGE
    }

    @Test func `a failed statement can be used again`() throws {
        let connection = try connection()
        try connection.execute("CREATE UNIQUE INDEX once ON t(i)")
        let insert = try connection.prepare("INSERT INTO t(i) VALUES (?1)")
        for (value, stored) in [(1, true), (1, false), (2, true), (2, false), (3, true)] {
            try insert.bind(value, at: 1)
            let error = failure { () throws(SQLiteError) in try insert.run() }
            #expect((error == nil) == stored)
        }
        #expect(try connection.integers("SELECT i FROM t") == [1, 2, 3])
    }

    @Test func `a full database says so`() throws {
        let connection = try connection()
        try connection.execute("PRAGMA max_page_count=4")
        let insert = try connection.prepare("INSERT INTO t(b) VALUES (?1)")
        try insert.bind([UInt8](repeating: 0, count: 100_000), at: 1)
        let error = failure { () throws(SQLiteError) in try insert.run() }
        #expect(error?.isFull == true)
    }

    @Test func `a statement outlives its connection`() throws {
        let select = try { () throws in
            let connection = try connection()
            try connection.execute("INSERT INTO t(i) VALUES (7)")
            return try connection.prepare("SELECT i FROM t")
        }()
        #expect(try select.step())
        let value = select.int(at: 0)
        #expect(value == 7)
    }
}
