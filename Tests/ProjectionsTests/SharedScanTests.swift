import Log
import SQLite
import Testing
import Threading
import Whereabouts

@testable import LogTests
@testable import Projections

/// One scan for several projections, on two threads.
@Suite struct SharedScanTests {
    private static let kinds = [
        ProjectionKind(StopTableV1.self), ProjectionKind(StopTableV1.self), ProjectionKind(StreamIndexTable.self),
    ]

    /// A log of 500 fixes, and the administrator, who can erase the walker.
    private static func arranged() throws -> (scene: LogScene, admin: Caller) {
        let scene = LogScene()
        let (admin, phone) = try scene.people()
        for begin in stride(from: Int64(0), to: 500, by: 100) {
            _ = try scene.report(try (begin..<begin + 100).map { try scene.fix($0) }, by: phone)
        }
        return (scene, admin)
    }

    private static func empty(_ reader: LogReader) throws -> [FollowedProjection] {
        try kinds.map { kind in
            try FollowedProjection(
                Catalog.Generation(name: kind.name, version: kind.newest, generation: 0, role: .candidate), kind: kind,
                directory: FollowedProjection.inMemory, log: try reader.identity(), reader: reader)
        }
    }

    @Test func `two threads fold what one folds`() throws {
        let (scene, _) = try Self.arranged()
        let log = try scene.open()
        let reader = try log.reader()
        let (inTurn, together) = (try Self.empty(reader), try Self.empty(reader))
        let scan = SharedScan(reader)
        var place: Int64 = 0
        while place < log.head {
            let batch = try scan.batch(after: place, limit: 64, for: [])
            #expect(scan.foldInTurn(batch, into: inTurn).isEmpty)
            #expect(scan.fold(batch, into: together, thenReading: 64).isEmpty)
            place = try #require(batch.last?.number)
            #expect(scan.ahead?.after == place, "The next batch was read while this one was folded.")
        }
        for projection in inTurn + together { try projection.commit() }
        #expect(together.map(\.place) == inTurn.map(\.place))
        #expect(together.map(\.place) == Array(repeating: log.head, count: 3))
        #expect(together.map(\.fingerprint) == inTurn.map(\.fingerprint))
    }

    @Test func `what was read ahead is opened again once a key is destroyed`() throws {
        let (scene, admin) = try Self.arranged()
        let log = try scene.open()
        let reader = try log.reader()
        let scan = SharedScan(reader)
        let first = try scan.batch(after: 0, limit: 100, for: [])
        #expect(scan.fold(first, into: try Self.empty(reader), thenReading: 100).isEmpty)
        #expect(try Self.coordinates(try #require(scan.ahead)) > 0)
        _ = try log.appendAndWait(.erasePerson(LogScene.handle("walker")), by: admin, correlation: .random())
        let second = try scan.batch(after: try #require(first.events.last?.number), limit: 100, for: [])
        #expect(second.events.count == 100)
        #expect(try Self.coordinates(second) == 0)
    }

    @Test func `what was read ahead stays in memory only while its keys are there`() throws {
        let (scene, admin) = try Self.arranged()
        let log = try scene.open()
        let reader = try log.reader()
        let scan = SharedScan(reader)
        let first = try scan.batch(after: 0, limit: 100, for: [])
        #expect(scan.fold(first, into: try Self.empty(reader), thenReading: 100).isEmpty)
        scan.forgetStale()
        #expect(scan.ahead != nil)
        _ = try log.appendAndWait(.erasePerson(LogScene.handle("walker")), by: admin, correlation: .random())
        scan.forgetStale()
        #expect(scan.ahead == nil)
    }

    /// The number of events whose fix can be read.
    private static func coordinates(_ batch: SharedScan.Batch) throws -> Int {
        batch.events.count { if case .fixReported(_, _, .open) = $0.event { true } else { false } }
    }

    @Test func `a projection that fails holds up no other, and stays where it was`() throws {
        let (scene, _) = try Self.arranged()
        let reader = try scene.open().reader()
        let projections = try Self.empty(reader)
        let scan = SharedScan(reader)
        let first = try scan.batch(after: 0, limit: 100, for: [])
        #expect(scan.fold(first, into: projections, thenReading: 100).isEmpty)
        for broken in [0, 1] {
            for projection in projections { try projection.commit() }
            try projections[broken].read { (connection) throws(SQLiteError) in try connection.execute("DROP TABLE stop")
            }
            let before = projections[broken].place
            let batch = try scan.batch(after: projections[2].place, limit: 100, for: [])
            let faults = scan.fold(batch, into: projections, thenReading: 100)
            #expect(faults.contains { $0.projection === projections[broken] })
            #expect(projections[broken].place == before)
            #expect(projections[2].place == batch.events.last?.number)
        }
    }

    @Test func `a batch that two threads read ahead in pieces is the batch that one reads`() throws {
        let (scene, _) = try Self.arranged()
        let log = try scene.open()
        let projections = try Self.empty(try log.reader())
        let scan = SharedScan(try log.reader(), piece: 7)
        // The piece of the caller's thread proves that both have read.
        let deadline = MonotonicClock.seconds + 60
        repeat {
            let first = try scan.batch(after: 0, limit: 10, for: [])
            _ = scan.fold(first, into: [projections[0]], thenReading: 200)
            let ahead = try #require(scan.ahead)
            let alone = try SharedScan(try log.reader()).batch(after: 10, limit: 200, for: [])
            #expect(ahead.after == 10)
            #expect(ahead.last?.leaf == alone.last?.leaf)
            #expect(ahead.events.map(\.number) == Array(11...210))
            #expect(ahead.events.map(\.event) == alone.events.map(\.event))
        } while scan.piecesOfCaller == 0 && MonotonicClock.seconds < deadline
        #expect(scan.piecesOfCaller > 0)
    }

    @Test func `more than the log has is not read ahead`() throws {
        let (scene, _) = try Self.arranged()
        let log = try scene.open()
        let projections = try Self.empty(try log.reader())
        let scan = SharedScan(try log.reader(), piece: 7)
        let first = try scan.batch(after: log.head - 30, limit: 10, for: [])
        _ = scan.fold(first, into: [projections[0]], thenReading: 100)
        #expect(scan.ahead?.events.map(\.number) == Array(log.head - 19...log.head))
        #expect(scan.ahead?.last?.leaf == (try log.reader().events(after: log.head - 1, limit: 1).first?.leaf))
    }

    @Test func `events that concern no projection of a scan are not opened, and are folded all the same`() throws {
        let (scene, _) = try Self.arranged()
        let log = try scene.open()
        let kind = ProjectionKind(ConcernedTable.self)
        func empty() throws -> FollowedProjection {
            try FollowedProjection(
                Catalog.Generation(name: kind.name, version: kind.newest, generation: 0, role: .candidate), kind: kind,
                directory: FollowedProjection.inMemory, log: try log.reader().identity(), reader: try log.reader())
        }
        let (alone, beside, ahead) = (try empty(), try empty(), try empty())
        let all = try Self.empty(try log.reader())
        let scan = SharedScan(try log.reader(), piece: 3)
        // Before the first fix, the log has persons, devices and tokens.
        let fixes = try log.reader().events(after: 0, limit: 1000).map(\.event).filter { $0.event.kind == .fixReported }
        let first = try #require(fixes.first).number
        #expect(first > 3)
        let head = try scan.batch(after: 0, limit: Int(first) - 1, for: [alone])
        #expect(head.events.isEmpty)
        #expect(head.last?.number == first - 1)
        #expect(scan.foldInTurn(head, into: [alone]).isEmpty)
        #expect(alone.place == first - 1)
        let rest = try scan.batch(after: 0, limit: 1000, for: [alone])
        #expect(rest.events.map(\.event) == fixes.map(\.event))
        #expect(scan.foldInTurn(rest, into: [alone]).isEmpty)
        // A batch that was read ahead for one projection is not used for others that need more events.
        #expect(scan.fold(try scan.batch(after: 0, limit: 1, for: [ahead]), into: [ahead], thenReading: 1000).isEmpty)
        let whole = try scan.batch(after: 1, limit: 1000, for: all + [ahead])
        #expect(whole.events.map(\.number) == Array(2...log.head))
        // A batch that was read ahead for all of them is used for one.
        #expect(
            scan.fold(try scan.batch(after: 0, limit: 1, for: all + [beside]), into: all + [beside], thenReading: 1000)
                .isEmpty)
        let used = try scan.batch(after: 1, limit: 1000, for: [beside])
        #expect(used.events.map(\.number) == Array(2...log.head))
        #expect(scan.foldInTurn(used, into: [beside]).isEmpty)
        // The first pieces have no event that concerns the projection.
        let begin = try scan.batch(after: 0, limit: 1, for: [ahead])
        #expect(scan.fold(begin, into: [ahead], thenReading: 1000).isEmpty)
        let pieces = try #require(scan.ahead)
        #expect(pieces.last?.number == log.head)
        #expect(pieces.events.map(\.event) == fixes.map(\.event))
        #expect(scan.foldInTurn(try scan.batch(after: 1, limit: 1000, for: [ahead]), into: [ahead]).isEmpty)
        for projection in [alone, beside, ahead] {
            try projection.commit()
            #expect(projection.place == log.head)
            #expect(projection.fingerprint == alone.fingerprint)
        }
    }

    @Test
    func `while rows are loaded, an error takes back all batches since the last commit, and they can be folded again`()
        throws
    {
        let (scene, _) = try Self.arranged()
        let log = try scene.open()
        let (first, other) = (try Self.empty(try log.reader()), try Self.empty(try log.reader()))
        let scan = SharedScan(try log.reader())
        func foldOne(_ limit: Int) throws -> [SharedScan.Fault] {
            scan.foldInTurn(try scan.batch(after: first[0].place, limit: limit, for: []), into: [first[0]])
        }
        #expect(try foldOne(100).isEmpty)
        try first[0].commit()
        let kept = first[0].fingerprint
        #expect(try foldOne(100).isEmpty)
        #expect(try foldOne(100).isEmpty)
        #expect(first[0].place == 300)
        try first[0].read { (connection) throws(SQLiteError) in try connection.execute("DROP TABLE stop") }
        #expect(try !foldOne(100).isEmpty)
        #expect(first[0].place == 100, "The table is there again too: it was dropped in the same transaction.")
        #expect(first[0].fingerprint == kept)
        #expect(try foldOne(1000).isEmpty)
        #expect(scan.foldInTurn(try scan.batch(after: 0, limit: 1000, for: []), into: [other[0]]).isEmpty)
        for projection in [first[0], other[0]] { try projection.commit() }
        #expect(first[0].place == log.head)
        #expect(first[0].fingerprint == other[0].fingerprint)
    }
}

/// Only some kinds of events concern it. Each fix changes its fingerprint; it has no rows.
private final class ConcernedTable: StopFold, Projection {
    static let name = "stop"
    static let versions: [Int64] = [1]
    static let schema = StopTableV1.schema
    static let indexes: StaticString = ""
    static let concerns: FactConcerns? = .current

    init(file: ProjectionFile, version: Int64) { super.init(file) }
}
