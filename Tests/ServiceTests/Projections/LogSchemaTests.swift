import Glibc
import LogVerifying
import SQLite
import TestSupport
import Testing
import Whereabouts

@testable import Log
@testable import LogTests
@testable import Maintenance
@testable import Projections
@testable import ProjectionsTests
@testable import Service

/// A log whose tables, triggers or bookkeeping differ from this version's is refused with a sentence.
@Suite struct LogSchemaTests {
    @Test(
        arguments: [
            ("DROP TRIGGER event_is_final_delete", "the trigger event_is_final_delete is missing"),
            (
                """
                CREATE TRIGGER thief AFTER INSERT ON event BEGIN UPDATE log SET epoch = 7; END
                """, "it has the trigger thief, which this version does not make"
            ),
            ("CREATE INDEX by_actor ON event (actor)", "it has the index by_actor, which this version does not make"),
            ("CREATE TABLE notes (text TEXT)", "it has the table notes, which this version does not make"),
            ("ALTER TABLE event ADD COLUMN more TEXT", "the table event has another form"),
            ("DROP TABLE log", "the table log is missing"),
            ("UPDATE log SET epoch = 0", "its table log has the epoch 0"),
            ("UPDATE log SET epoch = 9223372036854775807", "its table log has the epoch 9223372036854775807"),
            ("UPDATE log SET format = 2", "its table log has the format 2"),
            ("UPDATE log SET size = 9223372036854775807", "its table log has the size 9223372036854775807"),
            ("UPDATE log SET id = x'00'", "its table log has an id or a compact range of another length"),
            ("UPDATE log SET head = x'00'", "its table log has a head of 1 bytes"),
            ("DELETE FROM log", "its table log has no row"),
            ("INSERT INTO log SELECT * FROM log", "its table log has more than one row"),
        ] as [(StaticString, String)])
    func `a change of the schema is named, and nothing is written`(sql: StaticString, sentence: String) throws {
        let scene = LogScene.withStandingFile()
        _ = try scene.people()
        scene.stop()
        let path = scene.path + "/log.sqlite"
        do {
            let connection = try Connection(path: path, access: .readWrite)
            try connection.execute(sql)
            _ = try connection.checkpoint(.truncate)
        }
        let before = DataDirectory.read(path, atMost: 1 << 20)
        do {
            _ = try scene.open()
            Issue.record("It was opened.")
        } catch let error as LogError {
            #expect("\(error)".contains(sentence), "\(error)")
        }
        scene.stop()
        #expect(DataDirectory.read(path, atMost: 1 << 20) == before)
        #expect(try scene.verify().problem != nil)
    }

    /// Numbers at the ends of their range in every column give a sentence and never a trap.
    @Test(arguments: ["number", "stream", "version", "kind", "recorded_at_ms", "actor", "cause"])
    func `impossible numbers give a sentence`(column: String) throws {
        for value in [Int64.max, .min, -1, 0, 1 << 53] where column != "cause" || value != 0 {
            let scene = LogScene.withStandingFile()
            let (_, phone) = try scene.people()
            _ = try scene.report([try scene.fix(1)], by: phone)
            let statements: [String: StaticString] = [
                "number": "UPDATE event SET number = ? WHERE number = 5",
                "stream": "UPDATE event SET stream = ? WHERE number = 5",
                "version": "UPDATE event SET version = ? WHERE number = 5",
                "kind": "UPDATE event SET kind = ? WHERE number = 5",
                "recorded_at_ms": "UPDATE event SET recorded_at_ms = ? WHERE number = 5",
                "actor": "UPDATE event SET actor = ? WHERE number = 5",
                "cause": "UPDATE event SET cause = ? WHERE number = 5",
            ]
            try scene.tampering { connection in
                try connection.cached(try #require(statements[column])) { (statement) throws(SQLiteError) in
                    try statement.bind(value, at: 1)
                    try statement.run()
                }
            }
            for file in names(in: scene.path + "/projections") { unlink("\(scene.path)/projections/\(file)") }
            unlink(scene.path + "/log.witness")
            #expect(try scene.verify().problem?.number == 5, "\(column) \(value)")
            do {
                let folded = try FoldedLog(
                    in: try DataDirectory(path: scene.path), clock: { [clock = scene.clock] in clock.now })
                let report = DeviceReport.fix(try scene.fix(2), answering: nil)
                _ = try? folded.log.appendAndWait(
                    .reportFixes(device: .caller, [report]), by: phone, correlation: .random())
                folded.stop()
            } catch let error as LogError {
                #expect("\(error)".hasSuffix("."), "\(column) \(value): \(error)")
            }
        }
    }
}
