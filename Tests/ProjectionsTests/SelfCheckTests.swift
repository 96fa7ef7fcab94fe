import Log
import SQLite
import TestSupport
import Testing
import Whereabouts

@testable import LogTests
@testable import Projections

/// The check of the log and the projections in the background.
@Suite struct SelfCheckTests {
    private static var quick: SelfCheck.Pace {
        var pace = SelfCheck.Pace()
        (pace.eventsPerSlice, pace.sliceMilliseconds, pace.passMilliseconds) = (7, 1, 1)
        (pace.fingerprintMilliseconds, pace.rowPauseMicroseconds) = (1, 0)
        return pace
    }

    private static func host(_ scene: LogScene) throws -> ProjectionHost {
        let log = try scene.open()
        let directory = try #require(scene.directory)
        return try ProjectionHost(
            log: log, directory: directory.projections, catalogPath: directory.catalog,
            kinds: [ProjectionKind(StopTableV1.self)])
    }

    private static func arranged() throws -> LogScene {
        // A saved standing, so that a log with a changed event opens.
        let scene = LogScene.withStandingFile()
        let (_, phone) = try scene.people()
        _ = try scene.report(try (0..<40).map { try scene.fix($0) }, by: phone)
        return scene
    }

    @Test func `an intact log is passed again and again, while events come in`() throws {
        let scene = try Self.arranged()
        let host = try Self.host(scene)
        let check = SelfCheck(host: host, log: try scene.open(), clock: { .now }, pace: Self.quick)
        try eventually("two passes and a comparison") {
            let generation = host.status.first?.generation
            return host.selfCheck.passes >= 2 && generation.flatMap { host.selfCheck.checkedAt($0) } != nil
        }
        #expect(!host.selfCheck.isLogDamaged && host.selfCheck.refolds == 0)
        // Each pass reads every event once.
        #expect(host.selfCheck.events >= 2 * Int(try scene.open().head))
        check.stop()
        host.stop(milliseconds: 60_000)
    }

    @Test(
        arguments: [
            "UPDATE event SET body = zeroblob(length(body)) WHERE number = 20",
            "UPDATE event SET recorded_at_ms = recorded_at_ms + 1 WHERE number = 30",
            "DELETE FROM event WHERE number = 25",
        ] as [StaticString])
    func `a changed event is found`(sql: StaticString) throws {
        let scene = try Self.arranged()
        try scene.tampering { connection in try connection.execute(sql) }
        let host = try Self.host(scene)
        let check = SelfCheck(host: host, log: try scene.open(), clock: { .now }, pace: Self.quick)
        try eventually("the finding") { host.selfCheck.isLogDamaged }
        #expect(host.selfCheck.passes == 0)
        check.stop()
        host.stop(milliseconds: 60_000)
    }

    @Test func `a changed row is found, and the projection is folded again`() throws {
        let scene = try Self.arranged()
        let host = try Self.host(scene)
        let log = try scene.open()
        try #require(host.wait(for: log.head, in: ["stop"], milliseconds: 60_000))
        host.stop(milliseconds: 60_000)
        let path = try #require(scene.directory).projections + "/stop-v1-1.sqlite"
        let connection = try Connection(path: path, access: .readWrite)
        try connection.execute("DELETE FROM stop WHERE number = (SELECT max(number) FROM stop)")
        _ = try connection.checkpoint(.truncate)
        let again = try Self.host(scene)
        let check = SelfCheck(host: again, log: log, clock: { .now }, pace: Self.quick)
        try eventually("the new file") {
            again.selfCheck.refolds == 1 && again.status.first?.generation.generation == 2
                && again.place(of: "stop") == log.head
        }
        let fresh = try #require(again.activePath(of: "stop"))
        #expect(FingerprintChecker.problem(ProjectionKind(StopTableV1.self), path: fresh) == nil)
        check.stop()
        again.stop(milliseconds: 60_000)
    }
}
