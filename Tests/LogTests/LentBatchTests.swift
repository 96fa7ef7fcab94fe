import Glibc
import TestSupport
import Testing
import Threading
import Whereabouts

@testable import Log

/// A batch that the waiting writer lends is taken by the thread that ends its turn, which then goes on without a pause.
@Suite struct LentBatchTests {
    /// A batch with three callers.
    private static func batch() -> Batch {
        var batch = Batch()
        for _ in 1...3 { batch.answer(waiting, .failure(.busy(retryAfterSeconds: 1))) }
        return batch
    }

    private static let waiting = Waiting(
        command: .countRefusals(by: .house, count: 1, since: Timestamp(milliseconds: 0)), caller: .house,
        correlation: RequestID(high: 1, low: 2), completion: { _ in })

    /// A writer with a prepared batch. It waits for steps while the test has the turn, until it is ended.
    private final class Writer {
        /// A step, with the number of commands that are then prepared.
        struct Look {
            let step: String
            let prepared: Int
        }

        let queue = WriterQueue()
        private let looks = Monitor<[Look]>([])
        private let thread: WorkerThread

        init() {
            #expect(queue.tryTurn(prepared: 0))
            thread = WorkerThread { [queue, looks] in
                var batch = LentBatchTests.batch()
                while true {
                    let step = queue.nextStep(lending: &batch, milliseconds: patienceMilliseconds)
                    let prepared = batch.answers.count
                    let name = String("\(step)".prefix { $0 != "(" })
                    looks.change { $0.append(Look(step: name, prepared: prepared)) }
                    switch step {
                    case .commands, .turn: batch.empty()
                    case .nothing, .stop, .failed: return
                    }
                    if case .turn = step { queue.endTurn() }
                }
            }
        }

        /// The first step, once there is one.
        var first: Look? { looks.wait(milliseconds: patienceMilliseconds) { $0.first } }

        func end() {
            queue.stop()
            thread.join()
            #expect(looks.read { $0.last?.step } == "stop")
        }
    }

    /// A batch is lent only while the writer waits, so this is tried until it was, each time with a longer pause before.
    @Test func `it is taken once, few commands behind it are decided, and the writer has an empty one`() throws {
        var pauseMicroseconds: UInt32 = 100
        let first = try eventually("a lent batch", within: 20) { () -> Writer.Look? in
            let writer = Writer()
            defer { writer.end() }
            let queue = writer.queue
            #expect(queue.enqueue(1, unless: nil) { $0.append(Self.waiting) } == nil)
            usleep(pauseMicroseconds)
            pauseMicroseconds = min(2 * pauseMicroseconds, 500_000)
            var taken = Batch()
            guard queue.passTurn(&taken, for: Gathering()) else { return nil }
            #expect(taken.answers.count == 3)
            // The turn goes on, and the command behind it does not wait for its end.
            let first = writer.first
            #expect(!queue.tryTurn(prepared: 0))
            taken.empty()
            #expect(!queue.passTurn(&taken, for: Gathering()))
            return first
        }
        #expect(first.step == "commands" && first.prepared == 0)
    }

    @Test func `it stays with the writer while the callers of the last commit are waited for`() throws {
        let writer = Writer()
        defer { writer.end() }
        // The writer is about to lend its batch; the result is the same if it has not yet.
        usleep(20_000)
        var none = Batch()
        let gathering = Gathering(answered: 40, pending: 3, commitSeconds: 1, workSeconds: 0)
        #expect(!writer.queue.passTurn(&none, for: gathering) && none.answers.isEmpty)
        let first = try #require(writer.first)
        #expect(first.step == "turn" && first.prepared == 3)
    }
}
