import Cryptography
import Glibc
import LogVerifying
import TestProcesses
import TestSupport
import Testing
import Whereabouts

@testable import Log
@testable import LogTests
@testable import Maintenance
@testable import PostgreSQL
@testable import PostgreSQLLog
@testable import Projections
@testable import Tables

/// Moves of a log into a database and back.
@Suite(.enabled(if: PostgreSQLServer.programs != nil, "PostgreSQL is not installed."))
struct LogMoveTests {
    /// A data directory with a log of some thousand events in its file.
    private final class House {
        let folder = TemporaryFolder()
        var path: String { folder.path + "/data" }

        init(fixes: Int64) throws {
            let log = try EventLog.alone(in: try directory())
            defer { log.stop() }
            let phone = try log.people("anna", phone: "anna-phone").phone
            let scene = LogScene()
            for first in stride(from: 0, to: fixes, by: 500) {
                let reports = try (first..<min(first + 500, fixes)).map { second in
                    DeviceReport.fix(try scene.fix(second), answering: nil)
                }
                _ = try log.appendAndWait(
                    .reportFixes(device: .caller, reports), by: phone, correlation: .random())
            }
        }

        func directory() throws -> DataDirectory { try DataDirectory(path: path) }

        func verified() throws -> LogVerification { try LogVerifier.verify(try directory()) { _, _ in } }

        /// The fingerprints of the folded projections.
        func fingerprints() throws -> [String: Fingerprint] {
            let directory = try directory()
            let log = try EventLog.alone(in: directory)
            let host = try ProjectionHost(
                log: log, directory: directory.projections, catalogPath: directory.catalog, kinds: ProjectionKind.all)
            defer {
                log.stop()
                host.stop(milliseconds: 60_000)
            }
            let names = ProjectionKind.all.map(\.name)
            #expect(host.wait(for: log.head, in: names, milliseconds: patienceMilliseconds))
            return Dictionary(
                host.status.filter { $0.generation.role == .active }.map { ($0.generation.name, $0.fingerprint) }
            ) { first, _ in first }
        }
    }

    @Test func `a log is the same in the database and back in its file`() throws {
        let (scene, house) = (try ServedScene(), try House(fixes: 4500))
        let (before, fingerprints) = (try house.verified(), try house.fingerprints())
        let moved = try MovedLog.intoDatabase(scene.settings, try house.directory())
        #expect(moved.isOver && moved.events == before.events + 1)
        let (events, root) = try scene.events()
        #expect(events.count == Int(moved.events) && root.hex == moved.root)
        #expect(try scene.row().isInCharge)
        // The file is a copy: its log says so.
        let back = try MovedLog.outOfDatabase(scene.settings, try house.directory())
        #expect(back.isOver && back.events == moved.events + 1)
        #expect(try !scene.row().isInCharge)
        let after = try house.verified()
        #expect(after.problem == nil && after.root.hex == back.root && after.lostParts == 0)
        // The moves themselves are in the audit and in the index of streams.
        let final = try house.fingerprints()
        for name in ["current", "timeline"] { #expect(final[name] == fingerprints[name] && final[name] != nil) }
        // And once more, from where the database was.
        let again = try MovedLog.intoDatabase(scene.settings, try house.directory())
        #expect(again.isOver && again.events == back.events + 1)
        #expect(try scene.events().root.hex == again.root)
    }

    @Test(arguments: [0, 1, 2, 3])
    func `a move that is interrupted goes on`(at moment: Int) throws {
        let (scene, house) = (try ServedScene(), try House(fixes: 4500))
        let before = try house.verified()
        do {
            let directory = try house.directory()
            let server = try LogServer(scene.settings)
            switch moment {
            case 0:
                // While the service still appends: it copies, and the file stays in charge.
                let copied = try LogMove(server).copyIntoDatabase(reading: directory)
                #expect(copied.events == before.events && !copied.isOver)
            case 1:
                // The session ends while events are copied.
                let process = try server.session.run("SELECT pg_backend_pid()").int(0, 0)
                var isCut = false
                #expect(throws: LogError.self) {
                    try LogMove(server) { _, done, _ in
                        if isCut { return }
                        isCut = true
                        _ = try? scene.admin.run("SELECT pg_terminate_backend(\(process))")
                    }.moveIntoDatabase(directory) { () throws(LogError) in Issue.record("It went on.") }
                }
                let size = try scene.row().size
                #expect(size > 0 && size < before.events)
            case 2:
                // Nothing is recorded.
                #expect(throws: LogError.self) {
                    try LogMove(server).moveIntoDatabase(directory) { () throws(LogError) in throw .stopped }
                }
                #expect(try scene.row().size == before.events)
            default:
                // The move is recorded in the file, and nothing more.
                #expect(throws: LogError.self) {
                    try LogMove(server).moveIntoDatabase(directory) { () throws(LogError) in
                        let log = try EventLog.alone(in: directory)
                        defer { log.stop() }
                        do throws(AppendFailure) {
                            _ = try log.appendAndWait(.moveLog(to: .postgresql), by: .house, correlation: .random())
                        } catch { throw .stopped }
                        throw .stopped
                    }
                }
            }
        }
        #expect(try !scene.row().isInCharge)
        let moved = try MovedLog.intoDatabase(scene.settings, try house.directory())
        #expect(moved.isOver && moved.events == before.events + 1)
        let (events, root) = try scene.events()
        #expect(events.prefix(Int(before.events)).count == Int(before.events) && root.hex == moved.root)
        #expect(try scene.row().isInCharge)
    }

    @Test func `a database with another log, or with later events, is refused`() throws {
        let (scene, house, other) = (try ServedScene(), try House(fixes: 10), try House(fixes: 10))
        _ = try MovedLog.intoDatabase(scene.settings, try house.directory())
        for (target, sentence) in [(other, "another log"), (house, "in this database already")] {
            let error = #expect(throws: LogError.self) {
                try MovedLog.intoDatabase(scene.settings, try target.directory())
            }
            #expect("\(try #require(error))".contains(sentence))
        }
        // An older copy of the file.
        _ = try MovedLog.outOfDatabase(scene.settings, try house.directory())
        try scene.admin.run("ALTER TABLE whereabouts.event DISABLE TRIGGER ALL")
        try scene.admin.run("UPDATE whereabouts.log SET head = sha256('x')")
        let error = #expect(throws: LogError.self) {
            try MovedLog.intoDatabase(scene.settings, try house.directory())
        }
        #expect("\(try #require(error))".contains("of an earlier move"))
    }

    @Test func `a changed event in the database ends the move before it is in charge`() throws {
        let (scene, house) = (try ServedScene(), try House(fixes: 5000))
        do {
            let directory = try house.directory()
            _ = try LogMove(try LogServer(scene.settings)).copyIntoDatabase(reading: directory)
        }
        try scene.admin.run("ALTER TABLE whereabouts.event DISABLE TRIGGER ALL")
        try scene.admin.run(
            "UPDATE whereabouts.event SET body = set_byte(body, 10, get_byte(body, 10) # 1) WHERE number = 3000")
        let error = #expect(throws: LogError.self) {
            try MovedLog.intoDatabase(scene.settings, try house.directory())
        }
        #expect("\(try #require(error))".contains("Event 3000 is damaged"))
        #expect(try !scene.row().isInCharge)
    }
}
