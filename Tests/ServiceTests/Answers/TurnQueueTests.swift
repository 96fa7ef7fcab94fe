import Testing

@testable import Answers
@testable import Service

/// Callers take turns, however much one of them asks for.
@Suite struct TurnQueueTests {
    @Test func `a calm caller waits for one piece of work of each other caller at most`() throws {
        for others in 1...20 {
            var queue = TurnQueue<Int, String>(mostAtOnce: 3, mostWaiting: 256)
            var taken = 0
            for round in 0..<200 {
                for other in 1...others { taken += queue.append("\(other) \(round)", of: other) ? 1 : 0 }
            }
            taken += queue.append("calm", of: 0) ? 1 : 0
            #expect(taken == 200 * others + 1)
            var served = 0
            while let (caller, _) = queue.next() {
                queue.end(of: caller)
                if caller == 0 { break }
                served += 1
            }
            #expect(served <= others)
        }
    }

    @Test func `the work of one caller stays in its order, and none is lost`() {
        var queue = TurnQueue<Int, Int>(mostAtOnce: 3, mostWaiting: 256)
        for number in 0..<100 { _ = queue.append(number, of: number % 7) }
        var seen: [Int: [Int]] = [:]
        while let (caller, work) = queue.next() {
            seen[caller, default: []].append(work)
            queue.end(of: caller)
        }
        #expect(queue.isEmpty)
        for caller in 0..<7 { #expect(seen[caller] == Array(stride(from: caller, to: 100, by: 7))) }
    }

    @Test func `one caller leaves a thread to the others, and goes on when a piece of work is done`() throws {
        var queue = TurnQueue<Int, Int>(mostAtOnce: 3, mostWaiting: 256)
        for number in 0..<10 { _ = queue.append(number, of: 1) }
        var begun: [Int?] = []
        for _ in 0..<4 { begun.append(queue.next()?.work) }
        #expect(begun == [0, 1, 2, nil] && !queue.isEmpty)
        _ = queue.append(99, of: 2)
        begun = [queue.next()?.work, queue.next()?.work]
        #expect(begun == [99, nil])
        queue.end(of: 1)
        let after = queue.next()?.work
        #expect(after == 3)
    }

    @Test func `one caller cannot fill the queue`() {
        var queue = TurnQueue<Int, Int>(mostAtOnce: 3, mostWaiting: 5)
        let taken = (0..<6).map { queue.append($0, of: 1) } + [queue.append(0, of: 2)]
        #expect(taken == [true, true, true, true, true, false, true])
        #expect(queue.count == 6)
    }

    /// A piece of work holds its request, with the whole body.
    @Test func `work that was taken is not kept, also while the caller always has more waiting`() {
        final class Body {}
        var queue = TurnQueue<Int, Body>(mostAtOnce: 3, mostWaiting: 5)
        _ = queue.append(Body(), of: 1)
        weak var taken: Body?
        for _ in 0..<3 {
            _ = queue.append(Body(), of: 1)
            if let (caller, work) = queue.next() {
                taken = work
                queue.end(of: caller)
            }
            #expect(taken == nil && queue.count == 1)
        }
    }
}
