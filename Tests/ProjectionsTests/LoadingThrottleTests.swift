import Testing

@testable import Projections

/// How a rebuild makes room for reports and answers.
@Suite struct LoadingThrottleTests {
    /// Traffic that begins waits for a batch, which takes 0.25 s at most: 2500 events at 10,000 events/s.
    @Test(arguments: [(10_000.0, 2500), (200_000, 16_384)])
    func `without traffic a rebuild takes large batches and never pauses`(rate: Double, largest: Int) {
        var throttle = LoadingThrottle(largestBatch: 16_384)
        #expect(throttle.batch == 1024)
        for second in 0..<10 {
            let now = Double(second)
            throttle.look(head: 100, reads: 7, at: now)
            #expect(throttle.dueSeconds <= now)
            let batch = throttle.batch
            throttle.note(events: batch, seconds: Double(batch) / rate, at: now + 0.5)
            #expect(throttle.batch <= batch * 4)
        }
        #expect(throttle.batch == largest)
    }

    /// A rate of 20,000 events/s: 10 ms are 200 events.
    @Test(arguments: [(1000.0, 128), (20_000, 200), (200_000, 2000), (1e9, 16_384)])
    func `with traffic a slice takes 10 ms and leaves two thirds of the time`(rate: Double, batch: Int) {
        var throttle = LoadingThrottle(largestBatch: 16_384)
        throttle.look(head: 1, reads: 0, at: 0)
        throttle.look(head: 2, reads: 0, at: 0.1)
        let seconds = 1000 / rate
        throttle.note(events: 1000, seconds: seconds, at: 10)
        // Traffic that is over a second old does not slow a rebuild down.
        #expect(throttle.dueSeconds < 10)
        throttle.look(head: 2, reads: 1, at: 20)
        throttle.note(events: 1000, seconds: seconds, at: 20.5)
        #expect(throttle.batch == batch)
        #expect(abs(throttle.dueSeconds - 20.5 - min(2 * seconds, 0.1)) < 1e-9)
    }

    @Test func `a second after the last report or read the rebuild is at full speed again`() {
        var throttle = LoadingThrottle(largestBatch: 16_384)
        throttle.look(head: 1, reads: 0, at: 0)
        throttle.look(head: 1, reads: 1, at: 1)
        throttle.note(events: 100, seconds: 1, at: 1.5)
        #expect(throttle.batch == 128 && throttle.dueSeconds > 1.5)
        throttle.look(head: 1, reads: 1, at: 1.9)
        #expect(throttle.batch == 128)
        throttle.look(head: 1, reads: 1, at: 2.0)
        #expect(throttle.dueSeconds < 2)
        throttle.note(events: 128, seconds: 0.001, at: 2.1)
        #expect(throttle.batch == 512 && throttle.dueSeconds < 2)
    }

    @Test func `the rate follows the last seconds, and the time left is the rest at this rate`() throws {
        var pace = FoldingPace()
        #expect(pace.eventsPerSecond == nil && pace.secondsLeft(from: 0, to: 10) == nil)
        pace.note(place: 1000, at: 10)
        pace.note(place: 1200, at: 11)
        #expect(pace.eventsPerSecond == 200)
        #expect(pace.secondsLeft(from: 1200, to: 2200) == 5)
        #expect(pace.secondsLeft(from: 2300, to: 2200) == 0)
        var place: Int64 = 1200
        for second in 12..<112 {
            place += 50
            pace.note(place: place, at: Double(second))
        }
        #expect(abs(try #require(pace.eventsPerSecond) - 50) < 0.1)
    }
}
