import Synchronization
import Threading
package import Whereabouts

/// Budgets of processor time for the geocoding of each person and each invitation tree.
///
/// Processor time measures the cost to other callers for every kind of text or coordinate, and it does not grow on a
/// busy machine. A device uses the budget of its person. The operator has no budget, nor do place names in other
/// answers. The budgets start anew with each start of the service.
package final class GeocodingBudgets: Sendable {
    /// The budgets of one rate, by person or by the root of a tree. A full budget is the same as none and is forgotten.
    private struct Budgets {
        let rate: CostBudget.Rate
        private var budgets: [PersonID: CostBudget] = [:]
        /// The number of budgets at which the full ones are removed.
        private var forgetAt = Budgets.leastKept

        private static let leastKept = 1024

        init(at rate: CostBudget.Rate) { self.rate = rate }

        func waitSeconds(_ person: PersonID, now: Double) -> Double {
            budgets[person]?.waitSeconds(at: rate, now: now) ?? 0
        }

        mutating func take(_ cost: Double, of person: PersonID, now: Double) {
            budgets[person, default: CostBudget(now: now)].take(cost, at: rate, now: now)
            guard budgets.count >= forgetAt else { return }
            budgets = budgets.filter { !$0.value.isFull(at: rate, now: now) }
            forgetAt = max(Self.leastKept, 2 * budgets.count)
        }
    }

    /// The budgets of persons and of trees, which are changed together.
    private struct State {
        var persons = Budgets(at: Limits.geocodingPerPerson)
        var trees = Budgets(at: Limits.geocodingPerTree)
    }

    private let state = Mutex(State())

    package init() {}

    /// Does work for a person if the budgets allow it, and takes its cost from them. Work that begins may overdraw a
    /// budget; the next one waits longer then.
    ///
    /// - Parameter person: `nil` has no budget.
    /// - Throws: 429 if a budget is spent; otherwise what the work throws. Work that throws costs too.
    package func spend<R>(of person: PersonID?, of tree: PersonID?, _ work: () throws(Problem) -> R) throws(Problem)
        -> R
    {
        guard let person, let tree else { return try work() }
        let begin = MonotonicClock.seconds
        let (own, trees) = state.withLock { state in
            (state.persons.waitSeconds(person, now: begin), state.trees.waitSeconds(tree, now: begin))
        }
        guard max(own, trees) == 0 else { throw Self.spent(max(own, trees), isOfTree: trees > own) }
        let costBefore = MonotonicClock.workSeconds
        defer { take(MonotonicClock.workSeconds - costBefore, of: person, tree) }
        return try work()
    }

    /// Takes the cost of geocoding from the budgets of a person and of the person's invitation tree.
    package func take(_ seconds: Double, of person: PersonID, _ tree: PersonID) {
        let now = MonotonicClock.seconds
        state.withLock { state in
            state.persons.take(seconds, of: person, now: now)
            state.trees.take(seconds, of: tree, now: now)
        }
    }

    /// The answer 429; `seconds` is the time until work may begin again.
    private static func spent(_ seconds: Double, isOfTree: Bool) -> Problem {
        Problem(
            429, "Too much",
            isOfTree
                ? "Accounts from the same invitation have geocoded too much; send the same request again later."
                : "You have geocoded too much, for example many misspelled names; send the same request again later.",
            retryAfterSeconds: max(1, Int(seconds.rounded(.up))))
    }
}
