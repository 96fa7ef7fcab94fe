import Cryptography
import Glibc
import LogVerifying
import SQLite
import Synchronization
import Testing
import Threading
import Whereabouts

@testable import Log

@Suite struct EventLogTests {
    @Test func `what is appended is read back, in order, before and after a restart`() throws {
        let scene = LogScene()
        let (_, phone) = try scene.people()
        let fixes = try (1...20).map { try scene.fix($0) }
        #expect(try scene.report(fixes, by: phone) == [FixOutcome](repeating: .new, count: 20))
        let before = try scene.events()
        scene.stop()
        let after = try scene.events()
        #expect(before.count == 24)
        for (event, again) in zip(before, after) {
            #expect(event.number == again.number && event.event == again.event && event.stream == again.stream)
        }
        #expect(after.map(\.number) == Array(1...24))
        let reported = after.compactMap { event -> Fix? in
            if case .fixReported(_, _, let part) = event.event { part.content } else { nil }
        }
        #expect(reported == fixes)
        #expect(after.filter(\.stream.isTrack).map(\.version) == Array(1...20))
    }

    @Test func `what waits while one batch is written shares transactions`() throws {
        let scene = LogScene()
        let (_, phone) = try scene.people()
        let log = try scene.open()
        let (entered, released, done) = (Gate(), Gate(), Gate())
        let fix = try scene.fix(0)
        // A completion runs on the writer's thread: while it waits, nothing is written.
        log.submit(.reportFixes(device: .caller, [.fix(fix, answering: nil)]), by: phone, correlation: .random()) { _ in
            entered.open()
            released.wait()
        }
        entered.wait()
        let commits = log.commits
        let fixes = try (1...300).map { try scene.fix(Int64($0)) }
        for fix in fixes {
            log.submit(.reportFixes(device: .caller, [.fix(fix, answering: nil)]), by: phone, correlation: .random()) {
                _ in
                done.open()
            }
        }
        released.open()
        for _ in fixes { done.wait() }
        // At least sixteen commands each, and the rest.
        #expect(log.commits <= commits + 300 / 16 + 1)
        #expect(log.head == 305)
    }

    @Test func `past the bound of the queue the answer is to come again`() throws {
        let scene = LogScene()
        let (_, phone) = try scene.people()
        let log = try scene.open()
        let (entered, released) = (Gate(), Gate())
        let answers = Mutex<[Bool]>([])
        log.submit(.reportFixes(device: .caller, []), by: phone, correlation: .random()) { _ in
            entered.open()
            released.wait()
        }
        entered.wait()
        for _ in 0..<EventLog.queueBound + 5 {
            log.submit(.reportFixes(device: .caller, []), by: phone, correlation: .random()) { result in
                let isBusy = if case .failure(.busy(retryAfterSeconds: 1)) = result { true } else { false }
                answers.withLock { $0.append(isBusy) }
            }
        }
        // The ones past the bound were answered at once, on this thread.
        #expect(answers.withLock { $0 } == [Bool](repeating: true, count: 5))
        released.open()
        scene.stop()
        #expect(answers.withLock { $0.filter { !$0 }.count } == EventLog.queueBound)
    }

    @Test func `a command after the stop is not taken`() throws {
        let scene = LogScene()
        let log = try scene.open()
        scene.stop()
        #expect(throws: AppendFailure.self) {
            try log.appendAndWait(.endOverdueQueries, by: .house, correlation: .random())
        }
    }

    @Test func `whoever waits for news of the log learns at once that it has stopped`() throws {
        let scene = LogScene()
        let log = try scene.open()
        let head = Mutex<Int64>(-1)
        let waiter = WorkerThread {
            let found = log.waitForHead(after: 0, milliseconds: 600_000)
            head.withLock { $0 = found }
        }
        scene.stop()
        waiter.join()
        #expect(head.withLock { $0 } == 0)
    }

    @Test func `a clock that steps back is an event, and order goes by number`() throws {
        let scene = LogScene()
        let (_, phone) = try scene.people()
        scene.clock.advance(seconds: -3600)
        _ = try scene.report([try scene.fix(1)], by: phone)
        scene.clock.advance(seconds: 5)
        _ = try scene.report([try scene.fix(2)], by: phone)
        let events = try scene.events()
        #expect(events[4].event == .clockSteppedBack(byMilliseconds: 3_600_000))
        #expect(events[4].stream == .house && events[4].actor == .house)
        #expect(events.map(\.number) == Array(1...7))
        #expect(events.filter { if case .clockSteppedBack = $0.event { true } else { false } }.count == 1)
        #expect(try scene.verify().problem == nil)
    }

    @Test func `a fix is known after a restart, without anything folded beside the log`() throws {
        let scene = LogScene()
        let (_, phone) = try scene.people()
        let (old, new) = (try scene.fix(1), try scene.fix(2))
        #expect(try scene.report([old, new], by: phone) == [.new, .new])
        #expect(try scene.report([new, old], by: phone) == [.duplicate, .duplicate])
        scene.stop()
        #expect(try scene.report([old], by: phone) == [.duplicate])
        #expect(try scene.report([try scene.fix(3)], by: phone) == [.new])
        #expect(try scene.report([old, new, try scene.fix(3)], by: phone) == [.duplicate, .duplicate, .duplicate])
        var twin = old
        twin.speed = 1
        #expect(try scene.report([twin], by: phone) == [.twin])
        scene.stop()
        #expect(try scene.report([twin], by: phone) == [.duplicate])
    }

    @Test func `a fault stops the log for good and tells everyone who waits`() throws {
        let scene = LogScene()
        let (_, phone) = try scene.people()
        let log = try scene.open()
        let intruder = try Connection(path: scene.path + "/log.sqlite", access: .readWrite)
        try intruder.begin()
        let answers = Mutex<[Bool]>([])
        let done = Gate()
        for second in 1...50 {
            let report = DeviceReport.fix(try scene.fix(Int64(second)), answering: nil)
            log.submit(.reportFixes(device: .caller, [report]), by: phone, correlation: .random()) { result in
                let isFault = if case .failure(.fault) = result { true } else { false }
                answers.withLock { $0.append(isFault) }
                done.open()
            }
        }
        for _ in 1...50 { done.wait() }
        #expect(answers.withLock { $0 } == [Bool](repeating: true, count: 50))
        #expect(log.failure != nil)
        try intruder.rollback()
        #expect(throws: AppendFailure.self) {
            try log.appendAndWait(.endOverdueQueries, by: .house, correlation: .random())
        }
        scene.stop()
        #expect(try scene.events().count == 4)
    }

    @Test func `a file of a later version, or of another program, is refused in words and left alone`() throws {
        let scene = LogScene()
        _ = try scene.people()
        try scene.tampering { connection in try connection.execute("PRAGMA user_version = 2") }
        #expect(refusal(of: scene).contains("format 2, which a later version wrote"))
        try scene.tampering { connection in
            try connection.execute("PRAGMA user_version = 0; PRAGMA application_id = 7")
        }
        #expect(refusal(of: scene).contains("is not a log of this program"))
        _ = system("head -c 20000 /dev/urandom > '\(scene.path)/log.sqlite'; rm -f '\(scene.path)'/log.sqlite-*")
        #expect(refusal(of: scene).contains("is not a log of this program"))
        #expect(scene.files().first { $0.name == "/log.sqlite" }?.bytes.count == 20_000)
    }

    @Test func `keys that cannot be used are refused in words`() throws {
        let scene = LogScene()
        _ = try scene.people()
        scene.stop()
        _ = system("mv '\(scene.path)/kek' '\(scene.path)/elsewhere'")
        #expect(refusal(of: scene).contains("put the kek of this directory back"))
        _ = system("head -c 31 '\(scene.path)/elsewhere' > '\(scene.path)/kek'")
        #expect(refusal(of: scene).contains("must have exactly 32 bytes but has 31"))
        _ = system("mv '\(scene.path)/elsewhere' '\(scene.path)/kek'")
        #expect(try scene.events().count == 4)
        scene.stop()
        _ = system("head -c 9000 /dev/urandom > '\(scene.path)/keys.sqlite'; rm -f '\(scene.path)'/keys.sqlite-*")
        #expect(refusal(of: scene).contains("database failed"))
    }

    private func refusal(of scene: LogScene) -> String {
        do {
            _ = try scene.open()
            scene.stop()
            return "opened"
        } catch { return "\(error)" }
    }

    @Test func `a second process on the directory is refused and told whose it is`() throws {
        let scene = LogScene()
        _ = try scene.people()
        scene.stop()
        let before = scene.files().filter { $0.name != "/LOCK" }.map(\.bytes)
        try #require(mkfifo(scene.path + "/ready", 0o600) == 0)
        let command = """
            cd '\(scene.path)' && exec 9<>LOCK && flock 9 && printf '{"processID":%d}' $$ > LOCK
            echo $$ > ready
            read line
            """
        let other = try #require(popen(command, "we"))
        let ready = try #require(fopen(scene.path + "/ready", "r"))
        var processID: Int32 = 0
        withUnsafeMutablePointer(to: &processID) { pointer in
            _ = withVaList([pointer]) { vfscanf(ready, "%d", $0) }
        }
        fclose(ready)
        unlink(scene.path + "/ready")
        #expect(processID > 0)
        #expect(refusal(of: scene).contains("Another service (process \(processID)) uses this data directory"))
        #expect(DataDirectory.running(in: scene.path)?.processID == processID)
        #expect(scene.files().filter { $0.name != "/LOCK" }.map(\.bytes) == before)
        pclose(other)
        #expect(DataDirectory.running(in: scene.path) == nil)
        #expect(try scene.events().count == 4)
    }
}
