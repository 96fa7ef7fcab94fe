import Glibc
import JSON
import Service
import TestProcesses
import TestSupport
import Testing

@testable import WhereaboutsTool

/// `log move`, and what the other commands then do.
@Suite(.enabled(if: PostgreSQLServer.programs != nil, "PostgreSQL is not installed."))
struct LogMoveCommandTests {
    private let folder: TemporaryFolder
    private let connection: String
    private var data: String { folder.path + "/state" }

    /// Anna's two hours at one spot, and an empty database.
    init() throws {
        let server = try PostgreSQLServer.shared()
        let name = server.newName()
        #expect(
            Foreign.run("psql -q -h \(server.folder) -U whereabouts postgres -c 'CREATE DATABASE \(name)'").status == 0)
        connection = server.connection(name)
        folder = TemporaryFolder()
        let lines = (0..<120).map { minute in
            #"{"user":"anna","timestamp":\#(1_704_067_200 + 60 * minute),"latitude":30.0001,"longitude":-40.0001}"#
        }
        let file = try folder.write(lines.joined(separator: "\n") + "\n", to: "stay.jsonl")
        #expect(tool("import", "--format", "fixes", file).exitCode == 0)
    }

    private func tool(_ arguments: String..., data: String? = nil) -> (exitCode: Int32, results: String, notes: String)
    {
        let screen = Screen()
        let exitCode = Program.run(["--data", data ?? self.data] + arguments, console: screen.console)
        return (exitCode, screen.results, screen.notes)
    }

    private func configure(_ text: String, in data: String? = nil) throws {
        try write(text.utf8, to: (data ?? self.data) + "/config.json")
    }

    private func nameDatabase(in data: String? = nil) throws {
        try configure(#"{"log": {"postgresql": "\#(connection)"}}"#, in: data)
    }

    private func visits(_ data: String? = nil) throws -> [String] {
        let answer = try json(tool("visits", "--person", "anna", "--json", data: data ?? self.data))
        return (answer["visits"]?.array.map(Array.init) ?? []).map { $0.text("id") }
    }

    @Test func `a log moves there and back, and each start knows where it is`() throws {
        let before = try visits()
        #expect(before.count == 1)
        let moved = tool("log", "move", "--to", connection, "--json")
        #expect(moved.exitCode == 0)
        let events = try #require(try json(moved.results)["events"]?.int)
        // Without the key in config.json, the copy is not taken for the log.
        let refused = tool("visits", "--person", "anna")
        #expect(refused.exitCode == 3 && refused.notes.contains("log.sqlite is only a copy"))
        try nameDatabase()
        #expect(try visits() == before)
        #expect(tool("person", "add", "ben").exitCode == 0)
        #expect(tool("verify").exitCode == 0)
        // The database has what the tool wrote.
        let counted = Foreign.run("psql -At '\(connection)' -c 'SELECT size FROM whereabouts.log'")
        #expect(try #require(Int64(counted.output.filter(\.isNumber))) > events)

        let back = tool("log", "move", "--to", "sqlite")
        #expect(back.exitCode == 0 && back.results.contains("Remove \"log\" from config.json"))
        let stale = tool("person", "list")
        #expect(stale.exitCode == 3 && stale.notes.contains("remove \"log\" from config.json"))
        try configure("{}")
        #expect(try visits() == before)
        #expect(tool("person", "list").results.contains("ben"))
        #expect(tool("verify").exitCode == 0)
    }

    @Test func `another machine with the kek sees the same`() throws {
        let before = try visits()
        #expect(tool("log", "move", "--to", connection).exitCode == 0)
        let other = folder.path + "/other"
        #expect(mkdir(other, 0o700) == 0)
        try nameDatabase(in: other)
        let keyless = tool("visits", "--person", "anna", data: other)
        #expect(keyless.exitCode == 3 && keyless.notes.contains("has no kek"))
        #expect(Foreign.run("cp '\(data)/kek' '\(other)/kek'").status == 0)
        #expect(try visits(other) == before)
        #expect(tool("verify", data: other).exitCode == 0)
    }

    @Test func `a machine with the kek alone takes the log into its file`() throws {
        let before = try visits()
        #expect(tool("log", "move", "--to", connection).exitCode == 0)
        let other = folder.path + "/other"
        #expect(mkdir(other, 0o700) == 0)
        let nothing = tool("log", "move", "--to", "sqlite", data: other)
        #expect(nothing.exitCode == 3 && nothing.notes.contains("names no database"))
        try nameDatabase(in: other)
        #expect(Foreign.run("cp '\(data)/kek' '\(other)/kek'").status == 0)
        let back = tool("log", "move", "--to", "sqlite", data: other)
        #expect(back.exitCode == 0, "\(back.notes)")
        try configure("{}", in: other)
        #expect(try visits(other) == before)
        #expect(tool("verify", data: other).exitCode == 0)
    }

    @Test func `beside a running service the events are copied, and it stays in charge`() throws {
        func copied() throws -> (exitCode: Int32, results: String, notes: String) {
            let service = try House.open(data)
            defer { service.stop() }
            _ = try service.listen(host: "127.0.0.1", port: 0)
            return tool("log", "move", "--to", connection)
        }
        let first = try copied()
        #expect(first.exitCode == 0 && first.results.contains("stop it, and move again"))
        #expect(try visits().count == 1)
        let second = tool("log", "move", "--to", connection)
        #expect(second.exitCode == 0 && second.results.contains("config.json"))
    }

    @Test func `a restored backup of a moved log is a file again`() throws {
        #expect(tool("log", "move", "--to", connection).exitCode == 0)
        try nameDatabase()
        let before = try visits()
        #expect(tool("backup", folder.path + "/copy").exitCode == 0)
        let again = folder.path + "/again"
        #expect(tool("restore", folder.path + "/copy", "--kek", data + "/kek", data: again).exitCode == 0)
        try configure("{}", in: again)
        #expect(try visits(again) == before)
        // With the database it would be another log than the one there.
        try nameDatabase(in: again)
        let refused = tool("person", "list", data: again)
        #expect(refused.exitCode == 3 && refused.notes.contains("epoch 2"))
    }

    @Test(arguments: [
        (["log", "move"], "Give the new place with --to", Int32(2)),
        (["log", "move", "--to", "host=a password=b"], "no place for a password", 2),
        (["log", "move", "--to", "nonsense"], "no connection string", 2),
        (["log", "move", "--to", "sqlite"], "names no database", 3),
        (["log", "move", "--to", "host=/nonexistent user=x dbname=y"], "/nonexistent", 3),
    ])
    func `what cannot be done is refused with a sentence`(words: [String], sentence: String, exitCode: Int32) {
        let screen = Screen()
        #expect(Program.run(["--data", data] + words, console: screen.console) == exitCode)
        #expect(screen.notes.contains(sentence), "\(screen.notes)")
    }

    @Test func `doctor tells what the database promises`() throws {
        try nameDatabase()
        let empty = tool("doctor").results
        #expect(empty.contains("has no log yet") && empty.contains("promises none"))
        try configure(#"{"log": {"postgresql": "\#(connection)", "quorum": true}}"#)
        #expect(tool("doctor").results.contains("waits for no standby"))
    }
}
