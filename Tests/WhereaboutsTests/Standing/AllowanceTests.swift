import TestSupport
import Testing

@testable import Whereabouts

@Suite struct AllowanceTests {
    private static let rate = Allowance.Rate(capacity: 3, refillSeconds: 100)
    private static let start = House.start

    @Test func `a full bucket gives what it holds at once, then one each refill`() {
        var bucket = Allowance()
        for _ in 0..<3 {
            #expect(bucket.earliest(at: Self.rate, now: Self.start) == Self.start)
            bucket.take(at: Self.rate, now: Self.start)
        }
        for count in 1...5 {
            let next = Self.start.adding(seconds: Int64(count) * 100)
            #expect(bucket.earliest(at: Self.rate, now: Self.start) == next)
            #expect(bucket.earliest(at: Self.rate, now: next) == next)
            bucket.take(at: Self.rate, now: next)
        }
    }

    @Test func `a reserve is left alone, and a long pause fills the bucket no further than full`() {
        var bucket = Allowance()
        bucket.take(at: Self.rate, now: Self.start)
        #expect(bucket.earliest(leaving: 2, at: Self.rate, now: Self.start) == Self.start.adding(seconds: 100))
        #expect(bucket.earliest(leaving: 1, at: Self.rate, now: Self.start) == Self.start)
        let later = Self.start.adding(seconds: 1_000_000)
        for _ in 0..<3 { bucket.take(at: Self.rate, now: later) }
        #expect(bucket.earliest(at: Self.rate, now: later) == later.adding(seconds: 100))
    }

    /// Against a bucket of tokens that is counted second by second.
    @Test(arguments: 1...4) func `the one number tells what counting tokens tells`(seed: UInt64) {
        var random = SplitMix(seed)
        var bucket = Allowance()
        var seconds: Int64 = 0
        var milliTokens: Int64 = 3000
        for _ in 0..<2000 {
            let pause = Int64.random(in: 0...150, using: &random)
            seconds += pause
            milliTokens = min(3000, milliTokens + pause * 10)
            let now = Self.start.adding(seconds: seconds)
            let isFree = bucket.earliest(at: Self.rate, now: now) == now
            #expect(isFree == (milliTokens >= 1000))
            if isFree {
                bucket.take(at: Self.rate, now: now)
                milliTokens -= 1000
            }
        }
    }

    /// The second implementation: a list of the times at which each one that was taken comes back, one after the other.
    @Test(arguments: 0..<20) func `what is spent is what has not come back`(seed: UInt64) {
        var random = SplitMix(seed)
        var bucket = Allowance()
        var back: [Int64] = []
        var second: Int64 = 0
        for _ in 0..<60 {
            second += Int64.random(in: 0...180, using: &random)
            let now = Self.start.adding(seconds: second)
            #expect(bucket.spent(at: Self.rate, now: now) == Int64(back.count { $0 > second }))
            if Bool.random(using: &random) {
                bucket.take(at: Self.rate, now: now)
                back.append(max(back.last ?? second, second) + 100)
            }
        }
    }
}
