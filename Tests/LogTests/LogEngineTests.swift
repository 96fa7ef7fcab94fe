import Cryptography
import LogVerifying
import SQLite
import Synchronization
import TestSupport
import Testing
import Transparency
import Whereabouts

@testable import Log

/// An engine whose outcomes the test sets. It keeps what it was given.
final class ScriptedEngine: LogEngine, @unchecked Sendable {
    private let state = Mutex(State())
    /// Called with each commit before its outcome is known to the log.
    private let look: @Sendable () -> Void

    private struct State {
        var outcome: CommitOutcome = .committed
        var open: [Digest] = []
        var stored: [Digest] = []
        var ends: [LogEnd] = []
        var doubt: LogError?
    }

    init(look: @escaping @Sendable () -> Void = {}) { self.look = look }

    var outcome: CommitOutcome {
        get { state.withLock { $0.outcome } }
        set { state.withLock { $0.outcome = newValue } }
    }
    var stored: [Digest] { state.withLock { $0.stored } }
    var lastEnd: LogEnd? { state.withLock { $0.ends.last } }

    func begin() { state.withLock { $0.open = [] } }

    func insert(_ header: EventHeader, body: UnsafeRawBufferPointer, _ leaf: Digest) {
        state.withLock { $0.open.append(leaf) }
    }

    func commit(_ end: LogEnd, after previous: Int64) -> CommitOutcome {
        look()
        return state.withLock { state in
            if case .committed = state.outcome {
                precondition(previous == Int64(state.stored.count))
                state.stored += state.open
                state.ends.append(end)
            }
            return state.outcome
        }
    }

    /// What the engine says of itself between two batches.
    var doubt: LogError? {
        get { state.withLock { $0.doubt } }
        set { state.withLock { $0.doubt = newValue } }
    }

    func confirm() throws(LogError) { if let doubt { throw doubt } }

    func rollBack() { state.withLock { $0.open = [] } }
}

/// What the log promises whatever its engine is.
@Suite struct LogEngineTests {
    @Test func `every event is in the engine before it is in the file, with the same leaf`() throws {
        let scene = LogScene()
        let sizes = Mutex<[(engine: Int, file: Int64)]>([])
        let path = scene.path + "/log.sqlite"
        let engine = ScriptedEngine {
            let size = try? SQLiteLogEngine.size(path: path)
            sizes.withLock { $0.append(($0.count, size ?? -1)) }
        }
        scene.server = engine
        let (_, phone) = try scene.people()
        let fixes = try (1...20).map { try scene.fix($0) }
        #expect(try scene.report(fixes, by: phone) == [FixOutcome](repeating: .new, count: 20))
        let log = try scene.open()
        #expect(engine.stored.count == 24 && log.head == 24)
        // At each commit the file had only what was committed before.
        #expect(sizes.withLock { $0.map(\.file) } == Array(0..<Int64(sizes.withLock { $0.count })).map { min($0, 4) })
        let events = try log.reader().storedEvents(after: 0, limit: 100)
        #expect(events.map(\.leaf) == engine.stored)
        let verified = try scene.verify()
        #expect(verified.problem == nil && verified.root == engine.lastEnd?.range.root(SHA256()))
    }

    @Test func `a log without work notices that another process has taken it`() throws {
        let scene = LogScene()
        let engine = ScriptedEngine()
        scene.server = engine
        _ = try scene.people()
        let log = try scene.open()
        engine.doubt = .fenced
        try eventually("the log to stop") { log.failure != nil }
        guard case .fenced? = log.failure else { return #expect(Bool(false), "\(String(describing: log.failure))") }
    }

    @Test func `while a commit takes long, new callers are told to come again`() throws {
        let scene = LogScene()
        let (entered, released) = (Gate(), Gate())
        let isSlow = Mutex(false)
        let engine = ScriptedEngine {
            guard isSlow.withLock({ $0 }) else { return }
            entered.open()
            released.wait()
        }
        scene.server = engine
        let (_, phone) = try scene.people()
        let (log, first) = (try scene.open(), Gate())
        isSlow.withLock { $0 = true }
        let fix = try scene.fix(1)
        log.submit(.reportFixes(device: .caller, [.fix(fix, answering: nil)]), by: phone, correlation: .random()) { _ in
            first.open()
        }
        entered.wait()
        isSlow.withLock { $0 = false }
        try eventually("the commit to take long") { log.secondsOfCommit > EventLog.longestCommitSeconds }
        let failure = #expect(throws: AppendFailure.self) {
            try log.appendAndWait(
                .reportFixes(device: .caller, [.fix(fix, answering: nil)]), by: phone, correlation: .random())
        }
        guard case .busy? = failure else { return #expect(Bool(false), "\(String(describing: failure))") }
        released.open()
        first.wait()
        #expect(log.failure == nil && log.head == 5)
        #expect(try scene.report([try scene.fix(2)], by: phone) == [.new])
    }

    @Test(arguments: ["unknown", "fenced", "failed"])
    func `without a commit, no caller has an answer and the file has no event`(outcome: String) throws {
        let scene = LogScene()
        let engine = ScriptedEngine()
        scene.server = engine
        let (_, phone) = try scene.people()
        engine.outcome =
            switch outcome {
            case "unknown": .unknown(.commitUnknown("the connection ended"))
            case "fenced": .fenced(.fenced)
            default: .failed(.server("it is read-only"))
            }
        let log = try scene.open()
        let fix = try scene.fix(1)
        #expect(throws: AppendFailure.self) {
            try log.appendAndWait(
                .reportFixes(device: .caller, [.fix(fix, answering: nil)]), by: phone, correlation: .random())
        }
        try eventually("the log to stop") { log.failure != nil }
        #expect(log.head == 4)
        // Nothing is tried again after it, even if the engine would take it.
        engine.outcome = .committed
        #expect(throws: AppendFailure.self) {
            try log.appendAndWait(
                .reportFixes(device: .caller, [.fix(fix, answering: nil)]), by: phone, correlation: .random())
        }
        #expect(engine.stored.count == 4)
        let verified = try scene.verify()
        #expect(verified.problem == nil && verified.events == 4)
    }
}

extension SQLiteLogEngine {
    /// The size of the log in a file, read by a second connection.
    fileprivate static func size(path: String) throws -> Int64 {
        try LogIdentity.read(try Connection(path: path, access: .readOnly)).size
    }
}
