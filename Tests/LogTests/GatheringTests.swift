import Testing
import Threading

@testable import Log

/// How long a commit waits for the callers of the one before.
@Suite struct GatheringTests {
    @Test func `a commit waits for those that were answered and those that came meanwhile`() {
        let gathering = Gathering(
            answered: 40, pending: 24, commitSeconds: 0.004, workSeconds: 0.001, at: 100)
        #expect(gathering.missing(present: 24, at: 100) == 40)
        #expect(gathering.missing(present: 63, at: 100.0009) == 1)
        #expect(gathering.missing(present: 64, at: 100) == 0 && gathering.missing(present: 65, at: 100) == 0)
    }

    @Test func `it waits a quarter of the last commit, and never longer than two milliseconds`() {
        for (commitSeconds, ends) in [(0.0004, 100.0001), (0.004, 100.001), (0.008, 100.002), (20, 100.002)] {
            let gathering = Gathering(
                answered: 40, pending: 0, commitSeconds: commitSeconds, workSeconds: 0.0001, at: 100)
            #expect(gathering.missing(present: 0, at: ends - 1e-6) == 40)
            #expect(gathering.missing(present: 0, at: ends + 1e-6) == 0)
        }
    }

    @Test func `few callers are not waited for`() {
        for answered in 0..<Gathering.fewest {
            let gathering = Gathering(answered: answered, pending: 500, commitSeconds: 1, workSeconds: 0, at: 100)
            #expect(gathering.missing(present: 0, at: 100) == 0)
        }
        #expect(Gathering().missing(present: 0, at: 0) == 0)
    }

    /// With a fast disk, the processor would have nothing to do while the others are waited for.
    @Test func `nobody is waited for where the disk takes less time than the work`() {
        // 40 of 64 were written in 1 ms of work, so all 64 take 1.6 ms of it.
        for (commitSeconds, isWaitedFor) in [(0.001, false), (0.00255, false), (0.00265, true), (0.01, true)] {
            let gathering = Gathering(
                answered: 40, pending: 24, commitSeconds: commitSeconds, workSeconds: 0.001, at: 100)
            #expect(gathering.missing(present: 24, at: 100) == (isWaitedFor ? 40 : 0))
        }
    }

    /// Those who are back before the last one is answered are among the answered, so they must not count twice.
    @Test func `what is pending is counted before anyone is answered`() {
        let queue = WriterQueue()
        let before = queue.gathering(answering: 32, commitSeconds: 1, workSeconds: 0)
        #expect(before.wanted == 32)
    }
}
