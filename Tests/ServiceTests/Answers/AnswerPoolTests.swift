import Synchronization
import TestSupport
import Testing
import Threading
import Whereabouts

@testable import Answers
@testable import Service

/// No work waits while a thread that could do it sleeps.
@Suite struct AnswerPoolTests {
    private let house: ServiceUnderTest
    private var pool: AnswerPool { house.service.answers }

    init() throws { house = try ServiceUnderTest() }

    private func caller(_ number: Int) -> PrincipalID { PrincipalID(rawValue: Int64(10 + number)) }

    @Test func `as many pieces of work as there are threads are under way at once`() throws {
        for round in 0..<200 {
            let begun = Monitor(0)
            for number in 0..<AnswerPool.threads {
                let isTaken = pool.submit(for: caller(number)) { _ in
                    begun.change { $0 += 1 }
                    // No piece ends before all have begun.
                    _ = begun.wait(milliseconds: patienceMilliseconds) { $0 == AnswerPool.threads ? true : nil }
                }
                #expect(isTaken)
            }
            _ = try begun.expected("all threads at work in round \(round)") { $0 == AnswerPool.threads ? true : nil }
        }
    }

    @Test func `one caller's work goes on while a thread is left to others`() throws {
        let begun = Monitor(0)
        let mayEnd = Monitor(false)
        for _ in 0..<20 {
            _ = pool.submit(for: caller(1)) { _ in
                begun.change { $0 += 1 }
                _ = mayEnd.wait(milliseconds: patienceMilliseconds) { $0 ? true : nil }
            }
        }
        _ = try begun.expected("all threads but one") { $0 == AnswerPool.threads - 1 ? true : nil }
        let other = Monitor(false)
        _ = pool.submit(for: caller(2)) { _ in other.change { $0 = true } }
        _ = try other.expected("the last thread") { $0 ? true : nil }
        mayEnd.change { $0 = true }
        _ = try begun.expected("the rest of the work") { $0 == 20 ? true : nil }
    }

    @Test func `each piece of a burst is done once`() throws {
        let done = Monitor([Int](repeating: 0, count: 4000))
        let threads = (0..<4).map { thread in
            WorkerThread { [pool] in
                for number in thread * 1000..<(thread + 1) * 1000 {
                    while !pool.submit(
                        for: PrincipalID(rawValue: Int64(10 + number % 5)), { _ in done.change { $0[number] += 1 } })
                    {}
                }
            }
        }
        for thread in threads { thread.join() }
        _ = try done.expected("every piece") { $0.contains(0) ? nil : true }
        #expect(done.read { $0.allSatisfy { $0 == 1 } })
    }

    @Test func `a pool that stops does the waiting work first, and all threads end`() {
        let done = Monitor(0)
        for _ in 0..<20 {
            _ = pool.submit(for: caller(1)) { _ in
                _ = done.wait(milliseconds: 1) { _ -> Bool? in nil }
                done.change { $0 += 1 }
            }
        }
        #expect(pool.stop(milliseconds: patienceMilliseconds))
        #expect(done.read { $0 } == 20)
        #expect(!pool.submit(for: caller(1)) { _ in })
    }
}
