import Glibc
import Log
import SQLite
import Synchronization
import TestSupport
import Testing
import Threading
import Whereabouts

@testable import LogTests
@testable import Projections

/// Slices of a rebuild beside live traffic.
@Suite struct LoadingSliceTests {
    /// A log with this many fixes.
    private static func arranged(_ fixes: Int64) throws -> (scene: LogScene, admin: Caller, phone: Caller) {
        let scene = LogScene()
        let (admin, phone) = try scene.people()
        for begin in stride(from: Int64(0), to: fixes, by: 100) {
            _ = try scene.report(try (begin..<min(fixes, begin + 100)).map { try scene.fix($0) }, by: phone)
        }
        return (scene, admin, phone)
    }

    private static func empty(_ kinds: [ProjectionKind], _ reader: LogReader) throws -> [FollowedProjection] {
        try kinds.map { kind in
            try FollowedProjection(
                Catalog.Generation(name: kind.name, version: kind.newest, generation: 0, role: .candidate), kind: kind,
                directory: FollowedProjection.inMemory, log: try reader.identity(), reader: reader)
        }
    }

    @Test func `slices fold what one scan folds, and a file that reaches the head gets its indexes`() throws {
        let (scene, _, _) = try Self.arranged(300)
        let log = try scene.open()
        let kinds = [ProjectionKind(StopTableV1.self), ProjectionKind(StreamIndexTable.self)]
        let (inTurn, sliced) = (try Self.empty(kinds, try log.reader()), try Self.empty(kinds, try log.reader()))
        let scan = SharedScan(try log.reader())
        #expect(scan.foldInTurn(try scan.batch(after: 0, limit: 1000, for: []), into: inTurn).isEmpty)
        let head = log.head
        // One of them is ahead.
        #expect(scan.foldInTurn(try scan.batch(after: 0, limit: 70, for: []), into: [sliced[0]]).isEmpty)
        var turns = 0
        while sliced.contains(where: \.isLoading) {
            let ends = Atomic<Int>(0)
            let slice = LoadingSlice(sliced, with: scan, to: head, limit: 64) { ends.add(1, ordering: .relaxed) }
            let outcome = slice.end()
            #expect(ends.load(ordering: .relaxed) == 1)
            #expect(outcome.faults.isEmpty && outcome.unreadable == nil && outcome.seconds > 0)
            #expect(slice.from == min(head, Int64(turns * 64)))
            let isEarly = slice.status.allSatisfy { $0.place == ($0.isLoading ? 0 : head) }
            #expect(isEarly, "Each commit would write every page anew.")
            turns += 1
        }
        #expect(turns == (Int(head) + 63) / 64)
        for projection in inTurn { try projection.commit() }
        #expect(sliced.map(\.committed.place) == inTurn.map(\.place))
        #expect(sliced.map(\.fingerprint) == inTurn.map(\.fingerprint))
    }

    @Test func `a slice has the lowest priority, and a projection that fails holds up no other`() throws {
        let (scene, _, _) = try Self.arranged(100)
        let log = try scene.open()
        let kinds = [ProjectionKind(WatchedTable.self), ProjectionKind(StopTableV1.self)]
        let projections = try Self.empty(kinds, try log.reader())
        let scan = SharedScan(try log.reader())
        let before = WorkerThread.priority
        #expect(LoadingSlice(projections, with: scan, to: log.head, limit: 50) {}.end().faults.isEmpty)
        #expect(projections.map(\.place) == [50, 50])
        #expect(WatchedTable.priorities.withLock { $0 } == [19])
        #expect(WorkerThread.priority == before)
        try projections[0].commit()
        try projections[0].read { (connection) throws(SQLiteError) in try connection.execute("DROP TABLE stop") }
        let outcome = LoadingSlice(projections, with: scan, to: log.head, limit: 1000) {}.end()
        #expect(outcome.faults.map { $0.value.projection === projections[0] } == [true])
        #expect(projections.map(\.place) == [50, log.head])
        #expect(projections.map(\.isLoading) == [true, false])
    }

    @Test func `a slice says where the log cannot be read, and keeps what it has`() throws {
        let (scene, _, _) = try Self.arranged(100)
        let log = try scene.open()
        let (reader, head) = (try log.reader(), log.head)
        let projections = try Self.empty([ProjectionKind(StopTableV1.self)], reader)
        try scene.tampering { connection in
            try connection.execute("UPDATE event SET body = zeroblob(length(body)) WHERE number = 60")
        }
        let scan = SharedScan(reader)
        #expect(LoadingSlice(projections, with: scan, to: head, limit: 40) {}.end().unreadable == nil)
        let outcome = LoadingSlice(projections, with: scan, to: head, limit: 40) {}.end()
        #expect(outcome.unreadable?.place == 40)
        #expect(outcome.faults.isEmpty && projections[0].place == 40 && projections[0].isLoading)
    }

    /// The slice stands still until the live file has answered.
    @Test func `live folds do not wait for a slice`() throws {
        let (scene, _, phone) = try Self.arranged(300)
        let log = try scene.open()
        let directory = try #require(scene.directory)
        let host = try ProjectionHost(
            log: log, directory: directory.projections, catalogPath: directory.catalog,
            kinds: [ProjectionKind(HeldTable.self), ProjectionKind(StreamIndexTable.self)])
        let names = [HeldTable.name, StreamIndexTable.name]
        func rebuild() throws {
            _ = try host.perform { (worker) throws(ProjectionHost.HostError) in
                try worker.rebuild(HeldTable.name, version: nil)
            }
        }
        func isRebuilt() -> Bool { host.status.allSatisfy { !$0.isLoading && $0.place == log.head } }
        // A read since the rebuild before is traffic.
        try rebuild()
        try eventually("a rebuild without traffic") { isRebuilt() }
        host.noteRead()
        HeldTable.state.change { $0.isHeld = true }
        try rebuild()
        try eventually("a slice that stands still") { HeldTable.state.read { $0.isWaiting } }
        for turn in Int64(0)..<5 {
            _ = try scene.report([try scene.fix(300 + turn)], by: phone)
            #expect(host.wait(for: log.head, in: names, milliseconds: 60_000))
            let held = try #require(host.status.first { $0.generation.role == .candidate })
            #expect(held.isLoading && held.place == 0)
        }
        #expect(HeldTable.state.read { $0.isWaiting }, "It stood still all the time.")
        HeldTable.state.change { $0.isHeld = false }
        try eventually("the end of the rebuild") { isRebuilt() }
        let held = host.status.filter { $0.generation.name == HeldTable.name }
        #expect(held.count == 2 && held[0].fingerprint == held[1].fingerprint)
        #expect(host.stop(milliseconds: 60_000))
    }
}

/// Notes the priorities of the threads that fold.
private final class WatchedTable: StopFold, Projection {
    static let name = "stop"
    static let versions: [Int64] = [1]
    static let schema = StopTableV1.schema
    static let indexes: StaticString = ""
    static let priorities = Mutex<Set<Int>>([])

    init(file: ProjectionFile, version: Int64) { super.init(file) }

    override func insert(_ person: PersonID, _ number: Int64, _ fix: Fix) throws(SQLiteError) {
        Self.priorities.withLock { _ = $0.insert(WorkerThread.priority) }
        try file.insertStop(person, number)
    }
}

/// Stands still on a thread of the lowest priority while it is held.
private final class HeldTable: StopFold, Projection {
    static let name = "stop"
    static let versions: [Int64] = [1]
    static let schema = StopTableV1.schema
    static let indexes: StaticString = ""
    static let state = Monitor((isHeld: false, isWaiting: false))

    init(file: ProjectionFile, version: Int64) { super.init(file) }

    override func insert(_ person: PersonID, _ number: Int64, _ fix: Fix) throws(SQLiteError) {
        if WorkerThread.priority == 19 {
            Self.state.change { $0.isWaiting = true }
            _ = Self.state.wait(milliseconds: 60_000) { $0.isHeld ? nil : true }
            Self.state.change { $0.isWaiting = false }
        }
        try file.insertStop(person, number)
    }
}

extension ProjectionFile {
    fileprivate func insertStop(_ person: PersonID, _ number: Int64) throws(SQLiteError) {
        try connection.cached("INSERT INTO stop VALUES (?, ?, 'somewhere', NULL)") { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.bind(number, at: 2)
            try statement.run()
        }
    }
}

extension WorkerThread {
    /// The nice value of the calling thread.
    fileprivate static var priority: Int { Int(getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)) }
}
