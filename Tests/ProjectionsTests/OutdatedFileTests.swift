import Glibc
import Log
import SQLite
import TestSupport
import Testing
import Whereabouts

@testable import LogTests
@testable import Projections

/// A program whose projection is newer than the file: the old file answers until the new one is folded.
@Suite(.serialized) struct OutdatedFileTests {
    /// A log of fixes that version 1 of the projection has folded; the host is stopped.
    private static func arranged() throws -> (scene: LogScene, admin: Caller, phone: Caller) {
        let scene = LogScene()
        let (admin, phone) = try scene.people()
        _ = try scene.report(try (0..<3).map { try scene.fix($0, latitude: 48.25, longitude: 16.5) }, by: phone)
        let host = try host(scene, StopTableV1.self)
        try #require(host.wait(for: try scene.open().head, in: ["stop"], milliseconds: 60_000))
        #expect(host.stop(milliseconds: 60_000))
        return (scene, admin, phone)
    }

    private static func host<P: Projection & SendableMetatype>(_ scene: LogScene, _ type: P.Type) throws
        -> ProjectionHost
    {
        let log = try scene.open()
        let directory = try #require(scene.directory)
        return try ProjectionHost(
            log: log, directory: directory.projections, catalogPath: directory.catalog, kinds: [ProjectionKind(type)])
    }

    /// The rows as the readers of version 2 read them, one in a line; `nil` while there is no answer.
    private static func rows(_ host: ProjectionHost) throws -> [String]? {
        guard let file = try host.openActive("stop")?.file else { return nil }
        let statement = try file.connection.prepare(
            """
            SELECT latitude_degrees, longitude_degrees, accuracy_meters, altitude_meters IS NULL
            FROM stop ORDER BY person, number
            """)
        var rows: [String] = []
        while try statement.step() {
            rows.append(
                "\(statement.double(at: 0)) \(statement.double(at: 1)) ±\(statement.double(at: 2)) "
                    + (statement.int(at: 3) == 1 ? "no altitude" : "altitude"))
        }
        return rows
    }

    private static let lifted = Array(repeating: "48.25 16.5 ±5.0 no altitude", count: 3)
    private static let folded = Array(repeating: "48.25 16.5 ±5.0 altitude", count: 3)

    @Test func `an older file answers by the new columns until the new one is folded, then it is gone`() throws {
        let (scene, _, phone) = try Self.arranged()
        let before = try #require(scene.directory).projections + "/stop-v1-1.sqlite"
        StopTableV2.hold(true)
        defer { StopTableV2.hold(false) }
        let host = try Self.host(scene, StopTableV2.self)
        defer { host.stop(milliseconds: 60_000) }
        let place = host.place(of: "stop")
        #expect(try Self.rows(host) == Self.lifted)
        #expect(host.outdated == ["stop"])
        #expect(host.status.first { $0.generation.role == .active }?.isOutdated == true)

        // Later events are not in it, and its place says so.
        _ = try scene.report([try scene.fix(9)], by: phone)
        let head = try scene.open().head
        #expect(!host.wait(for: head, in: ["stop"], milliseconds: 100))
        #expect(host.place(of: "stop") == place)
        #expect(try Self.rows(host) == Self.lifted)

        // Operators cannot delete the new one or take it into use half-folded.
        #expect(throws: ProjectionHost.HostError.self) {
            try host.perform { (worker) throws(ProjectionHost.HostError) in try worker.activate("stop") }
        }
        let gone = try host.perform { (worker) throws(ProjectionHost.HostError) in try worker.prune(nil).count }
        #expect(gone == 0)

        StopTableV2.hold(false)
        try #require(host.wait(for: head, in: ["stop"], milliseconds: 60_000))
        #expect(try Self.rows(host)?.prefix(3) == Self.folded[...])
        #expect(try Self.rows(host)?.count == 4)
        #expect(host.outdated == [])
        // Readers leave the file before it is deleted.
        try eventually("the end of the older file") { access(before, F_OK) != 0 }
        #expect(host.status.map(\.generation.version) == [2])
        #expect(host.status.map(\.generation.role) == [.active])
    }

    @Test func `a stop between does not lose the older file, and the new one goes on`() throws {
        let (scene, _, _) = try Self.arranged()
        StopTableV2.hold(true)
        defer { StopTableV2.hold(false) }
        let first = try Self.host(scene, StopTableV2.self)
        first.stop(milliseconds: 60_000)
        let second = try Self.host(scene, StopTableV2.self)
        #expect(try Self.rows(second) == Self.lifted)
        #expect(second.status.map(\.generation.generation) == [1, 2])
        StopTableV2.hold(false)
        try eventually("the new file") { second.outdated.isEmpty }
        #expect(try Self.rows(second) == Self.folded)
        second.stop(milliseconds: 60_000)
    }

    @Test func `after an erasure the older file no longer answers, and is deleted`() throws {
        let (scene, admin, _) = try Self.arranged()
        let before = try #require(scene.directory).projections + "/stop-v1-1.sqlite"
        StopTableV2.hold(true)
        defer { StopTableV2.hold(false) }
        let host = try Self.host(scene, StopTableV2.self)
        defer { host.stop(milliseconds: 60_000) }
        #expect(try Self.rows(host) == Self.lifted)
        let receipt = try scene.open().appendAndWait(
            .erasePerson(LogScene.handle("walker")), by: admin, correlation: .random())
        try eventually("the end of the older file") { access(before, F_OK) != 0 }
        // The erased fixes are not inserted, so the next try of the fold is not held: the new file may answer by now.
        let shown = try Self.rows(host)
        #expect(shown == nil || shown == [])
        StopTableV2.hold(false)
        #expect(host.waitErased(receipt.last, milliseconds: 60_000))
        #expect(try Self.rows(host) == [])
    }

    @Test func `an erasure before the start keeps the older file from answering at all`() throws {
        let (scene, admin, _) = try Self.arranged()
        _ = try scene.open().appendAndWait(
            .erasePerson(LogScene.handle("walker")), by: admin, correlation: .random())
        StopTableV2.hold(true)
        defer { StopTableV2.hold(false) }
        let host = try Self.host(scene, StopTableV2.self)
        defer { host.stop(milliseconds: 60_000) }
        #expect(try Self.rows(host) == nil)
    }

    @Test func `an undeclared form, and one whose view lacks a column, are folded again without an answer`() throws {
        func expectRefold(_ type: (some Projection & SendableMetatype).Type, _ hold: (Bool) -> Void) throws {
            let (scene, _, _) = try Self.arranged()
            hold(true)
            defer { hold(false) }
            let host = try Self.host(scene, type)
            defer { host.stop(milliseconds: 60_000) }
            #expect(try Self.rows(host) == nil)
            #expect(host.outdated == [])
            hold(false)
            try #require(host.wait(for: try scene.open().head, in: ["stop"], milliseconds: 60_000))
            #expect(try Self.rows(host) == Self.folded)
        }
        try expectRefold(StopTableWithoutForm.self) { StopTableWithoutForm.hold($0) }
        try expectRefold(StopTableWithWrongForm.self) { StopTableWithWrongForm.hold($0) }
    }
}
