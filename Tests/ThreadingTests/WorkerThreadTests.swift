import Glibc
import Synchronization
import Testing
import Threading

@Suite struct WorkerThreadTests {
    @Test func `the work is done once, on another thread, and join waits for it`() {
        let runs = Mutex<[pthread_t]>([])
        let thread = WorkerThread { runs.withLock { $0.append(pthread_self()) } }
        #expect(!thread.isCurrent)
        thread.join()
        let found = runs.withLock { $0 }
        #expect(found.count == 1)
        #expect(found.allSatisfy { pthread_equal($0, pthread_self()) == 0 })
    }

    @Test func `all signals are blocked in it, and none more in the thread that made it`() {
        @Sendable func mask() -> sigset_t {
            var mask = sigset_t()
            pthread_sigmask(SIG_SETMASK, nil, &mask)
            return mask
        }
        func holds(_ mask: sigset_t, _ signal: Int32) -> Bool {
            var mask = mask
            return sigismember(&mask, signal) == 1
        }
        let before = mask()
        let seen = Mutex<sigset_t?>(nil)
        WorkerThread { seen.withLock { $0 = mask() } }.join()
        let after = mask()
        for signal in [SIGPIPE, SIGTERM, SIGHUP, SIGINT, SIGUSR1] {
            #expect(seen.withLock { $0.map { holds($0, signal) } } == true)
            #expect(holds(before, signal) == holds(after, signal))
        }
    }

    @Test func `a bounded join says whether the work is done`() {
        let mayEnd = Monitor(false)
        let thread = WorkerThread { _ = mayEnd.wait { $0 ? true : nil } }
        #expect(!thread.join(milliseconds: 20))
        mayEnd.change { $0 = true }
        #expect(WorkerThread {}.join(milliseconds: 60_000))
    }
}

@Suite struct MonitorTests {
    @Test func `each change is seen by a waiting thread, and none is lost`() {
        let numbers = Monitor<[Int]>([])
        let taken = Mutex<[Int]>([])
        let threads = (0..<4).map { _ in
            WorkerThread {
                while let number = numbers.wait(for: { $0.isEmpty ? nil : $0.removeFirst() }), number >= 0 {
                    taken.withLock { $0.append(number) }
                }
            }
        }
        for number in 0..<1000 {
            numbers.read { $0.append(number) }
            numbers.wakeOne()
        }
        numbers.change { $0 += Array(repeating: -1, count: threads.count) }
        for thread in threads { thread.join() }
        #expect(taken.withLock { $0.sorted() } == Array(0..<1000))
    }

    @Test func `a wait ends without a value when its time has passed`() {
        let monitor = Monitor(0)
        let start = MonotonicClock.milliseconds
        let value: Int? = monitor.wait(milliseconds: 30) { $0 > 0 ? $0 : nil }
        #expect(value == nil)
        #expect(MonotonicClock.milliseconds - start >= 30)
    }
}
