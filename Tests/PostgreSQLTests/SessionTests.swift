import TestProcesses
import TestSupport
import Testing

@testable import PostgreSQL

@Suite(.enabled(if: PostgreSQLServer.programs != nil, "PostgreSQL is not installed."))
struct SessionTests {
    private static func session() throws -> Session { try Session(try PostgreSQLServer.shared().connection()) }

    @Test func `values come back as they were sent`() throws {
        let session = try Self.session()
        var parameters: Parameters = [0, -1, Int64.min, Int64.max, 255, -256]
        let bytes = [[], [0], [0, 1, 255, 0], [UInt8](repeating: 0xAB, count: 100_000)]
        for value in bytes { parameters.append(value) }
        let sql =
            "SELECT " + (1...6).map { "$\($0)::bigint" }.joined(separator: ", ")
            + (7...10).map { ", $\($0)::bytea" }.joined() + ", true, 7::smallint, -7::integer, 'Wörter', NULL::bigint"
        let rows = try session.run(sql, parameters)
        #expect(rows.count == 1)
        #expect((0..<6).map { rows.int(0, $0) } == [0, -1, .min, .max, 255, -256])
        #expect((6..<10).map { rows.bytes(0, $0) } == bytes)
        #expect((10..<13).map { rows.int(0, $0) } == [1, 7, -7])
        #expect(rows.text(0, 13) == "Wörter")
        #expect(rows.isNull(0, 14) && !rows.isNull(0, 13))
    }

    @Test func `after an error, the rest of a pipeline changes nothing`() throws {
        let session = try Self.session()
        try session.run("CREATE TEMPORARY TABLE seen (number bigint PRIMARY KEY)")
        try session.prepare("insert", "INSERT INTO seen VALUES ($1)")
        try session.send("BEGIN")
        for number: Int64 in [1, 2, 2, 3] { try session.send(prepared: "insert", [number]) }
        try session.send("COMMIT")
        let error = #expect(throws: PostgreSQLError.self) { _ = try session.finish() }
        #expect(error?.state == "23505" && error?.isConstraint == true && error?.isConnectionLost == false)
        session.rollBack()
        #expect(try session.run("SELECT count(*) FROM seen").int(0, 0) == 0)
        try session.send("BEGIN")
        for number: Int64 in 1...3000 { try session.send(prepared: "insert", [number]) }
        try session.send("COMMIT")
        #expect(try session.finish().count == 3002)
        #expect(try session.run("SELECT count(*) FROM seen").int(0, 0) == 3000)
    }

    @Test func `an error names no value`() throws {
        let session = try Self.session()
        try session.run("CREATE TEMPORARY TABLE seen (number bigint PRIMARY KEY)")
        try session.run("INSERT INTO seen VALUES ($1)", [48_208_174])
        let error = #expect(throws: PostgreSQLError.self) {
            try session.run("INSERT INTO seen VALUES ($1)", [48_208_174])
        }
        #expect(error.map { "\($0)".contains("48208174") } == false)
    }

    @Test func `warnings are kept`() throws {
        let session = try Self.session()
        try session.run("DO $$ BEGIN RAISE WARNING 'careful' USING ERRCODE = '01000'; RAISE NOTICE 'not this'; END $$")
        #expect(session.takeWarnings().map(\.message) == ["careful"])
        #expect(session.takeWarnings().isEmpty)
    }

    @Test func `a session that the server ended is lost`() throws {
        let (session, other) = (try Self.session(), try Self.session())
        let process = try session.run("SELECT pg_backend_pid()").int(0, 0)
        try other.run("SELECT pg_terminate_backend($1::integer)", Self.text("\(process)"))
        let error = #expect(throws: PostgreSQLError.self) { try session.run("SELECT 1") }
        #expect(error?.isConnectionLost == true)
        #expect(throws: PostgreSQLError.self) { try session.run("SELECT 1") }
        session.rollBack()
    }

    /// `integer` has four bytes in binary form.
    private static func text(_ number: String) -> Parameters {
        var parameters = Parameters()
        let value = UInt32(number) ?? 0
        parameters.append(withUnsafeBytes(of: value.bigEndian) { Array($0) })
        return parameters
    }

    @Test func `a server that is not there is refused with libpq's sentence`() {
        let error = #expect(throws: PostgreSQLError.self) { try Session("host=/nonexistent user=nobody") }
        #expect(error.map { "\($0)".contains("/nonexistent") && !"\($0)".contains("\n") } == true)
        #expect(error?.isConnectionLost == true)
    }

    @Test(arguments: [
        ("host=a password=secret", true), ("postgresql://me:secret@host/db", true), ("host=a dbname=b", false),
        ("postgresql://me@host/db", false), ("service=whereabouts passfile=/etc/pass", false),
    ])
    func `a password in a connection string is refused`(text: String, hasPassword: Bool) {
        do throws(ConnectionString.Fault) {
            #expect(try ConnectionString(text).text == text && !hasPassword)
        } catch {
            if case .hasPassword = error { #expect(hasPassword) } else { Issue.record("\(text): \(error)") }
        }
    }

    @Test func `what is no connection string is refused with a sentence`() {
        do throws(ConnectionString.Fault) {
            _ = try ConnectionString("host")
            Issue.record("It was taken.")
        } catch {
            if case .malformed(let sentence) = error {
                #expect(sentence.contains("host"))
            } else {
                Issue.record("\(error)")
            }
        }
    }
}
