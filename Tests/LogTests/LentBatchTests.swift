import Glibc
import TestSupport
import Testing
import Threading
import Whereabouts

@testable import Log

/// A batch that the waiting writer lends is taken by the thread that ends its turn, which then goes on without a pause.
@Suite struct LentBatchTests {
    /// A step of the writer, with the number of commands that are then prepared.
    private struct Look {
        let step: String
        let prepared: Int
    }

    /// A batch with three callers.
    private static func batch() -> Batch {
        var batch = Batch()
        for _ in 1...3 {
            batch.answers.append((completion: { _ in }, result: .failure(.busy(retryAfterSeconds: 1))))
        }
        return batch
    }

    private static let waiting = Waiting(
        command: .countRefusals(by: .house, count: 1, since: Timestamp(milliseconds: 0)), caller: .house,
        correlation: RequestID(high: 1, low: 2), completion: { _ in })

    /// The writer's thread: it waits for steps with a prepared batch, until the queue stops.
    private static func writer(_ queue: WriterQueue, _ looks: Monitor<[Look]>) -> WorkerThread {
        WorkerThread {
            var batch = batch()
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

    /// A batch is lent only while the writer waits, so this is tried until it was.
    @Test func `it is taken once, few commands behind it are decided, and the writer has an empty one`() throws {
        let first = try eventually("a lent batch", within: 20) { () -> Look? in
            let queue = WriterQueue()
            let looks = Monitor<[Look]>([])
            #expect(queue.tryTurn(prepared: 0))
            let thread = Self.writer(queue, looks)
            defer {
                queue.stop()
                thread.join()
                #expect(looks.read { $0.last?.step } == "stop")
            }
            #expect(queue.enqueue(1, unless: nil) { $0.append(Self.waiting) } == nil)
            var taken = Batch()
            guard queue.passTurn(&taken, for: Gathering()) else { return nil }
            #expect(taken.answers.count == 3)
            // The turn goes on, and the command behind it does not wait for its end.
            let first = looks.wait(milliseconds: patienceMilliseconds) { $0.first }
            #expect(!queue.tryTurn(prepared: 0))
            taken.empty()
            #expect(!queue.passTurn(&taken, for: Gathering()))
            return first
        }
        #expect(first.step == "commands" && first.prepared == 0)
    }

    @Test func `it stays with the writer while the callers of the last commit are waited for`() throws {
        let queue = WriterQueue()
        let looks = Monitor<[Look]>([])
        #expect(queue.tryTurn(prepared: 0))
        let thread = Self.writer(queue, looks)
        defer {
            queue.stop()
            thread.join()
        }
        // The writer is about to lend its batch; the result is the same if it has not yet.
        usleep(20_000)
        var none = Batch()
        let gathering = Gathering(answered: 40, pending: 3, commitSeconds: 1, workSeconds: 0)
        #expect(!queue.passTurn(&none, for: gathering) && none.answers.isEmpty)
        let first = try #require(looks.wait(milliseconds: patienceMilliseconds) { $0.first })
        #expect(first.step == "turn" && first.prepared == 3)
    }
}
