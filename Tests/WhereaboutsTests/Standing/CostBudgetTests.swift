import TestSupport
import Testing
import Whereabouts

@Suite struct CostBudgetTests {
    private static let rate = CostBudget.Rate(capacitySeconds: 2, share: 0.1)

    @Test func `work begins while anything is left, and a debt delays the next`() {
        var budget = CostBudget(now: 100)
        #expect(budget.waitSeconds(at: Self.rate, now: 100) == 0)
        budget.take(2, at: Self.rate, now: 100)
        #expect(budget.waitSeconds(at: Self.rate, now: 100) == 0)
        budget.take(0.5, at: Self.rate, now: 100)
        #expect(abs(budget.waitSeconds(at: Self.rate, now: 100) - 5) < 1e-9)
        #expect(abs(budget.waitSeconds(at: Self.rate, now: 104) - 1) < 1e-9)
        #expect(budget.waitSeconds(at: Self.rate, now: 105) < 1e-9)
        #expect(!budget.isFull(at: Self.rate, now: 124) && budget.isFull(at: Self.rate, now: 126))
    }

    /// A caller that works whenever the budget allows gets at most the bucket, its share of the time, and the last
    /// piece of work.
    @Test(arguments: 1...20) func `no stretch of time costs more than the bucket and its share`(seed: UInt64) {
        var random = SplitMix(seed)
        var budget = CostBudget(now: 0)
        var now = 0.0
        var total = 0.0
        var costliest = 0.0
        for _ in 0..<1000 {
            now += Double.random(in: 0...0.5, using: &random)
            guard budget.waitSeconds(at: Self.rate, now: now) == 0 else { continue }
            let cost = Double.random(in: 0...0.2, using: &random)
            budget.take(cost, at: Self.rate, now: now)
            total += cost
            costliest = max(costliest, cost)
            #expect(total <= Self.rate.capacitySeconds + Self.rate.share * now + costliest + 1e-9)
        }
        #expect(total > 0.9 * (Self.rate.capacitySeconds + Self.rate.share * now))
    }

    @Test func `a clock that goes back gives nothing and takes nothing`() {
        var budget = CostBudget(now: 100)
        budget.take(3, at: Self.rate, now: 100)
        #expect(abs(budget.waitSeconds(at: Self.rate, now: 50) - 10) < 1e-9)
        budget.take(0, at: Self.rate, now: 50)
        #expect(abs(budget.waitSeconds(at: Self.rate, now: 100) - 10) < 1e-9)
    }
}
