import Synchronization
import Threading
package import Whereabouts

/// Counts the time of open questions with a monotonic clock.
///
/// The event of a question has its deadline as a time of the house's clock, which can be set. So whether the deadline
/// has passed is counted from the time of asking: if the clock is set back a day, a question of five seconds still ends
/// after five seconds, and if it is set forward, the question does not end early. After a restart the house's clock
/// decides how much time is left, at most the question's whole time.
package final class QuestionClock: Sendable {
    /// Milliseconds on the monotonic clock; its zero is arbitrary.
    package let now: @Sendable () -> Int64
    /// When each question ends, on ``now``.
    private let ends = Mutex<[QueryID: Int64]>([:])

    init(_ now: @escaping @Sendable () -> Int64) { self.now = now }

    /// `CLOCK_BOOTTIME`, which includes the time that the machine sleeps.
    package static let system: @Sendable () -> Int64 = { MonotonicClock.millisecondsWithSleep }

    /// Milliseconds until the question's deadline; 0 when it has passed.
    ///
    /// - Parameter time: The time of the house's clock, used if the question has not been seen since the start.
    package func left(of id: QueryID, _ query: Standing.Query, at time: Timestamp) -> Int64 {
        max(0, end(of: id, query, at: time) - now())
    }

    /// The time with which a question's deadline is compared (`QuestionTime`): as far from the deadline as the monotonic
    /// clock is from the question's end.
    ///
    /// - Parameter time: as for ``left(of:_:at:)``.
    package func time(of id: QueryID, _ query: Standing.Query, at time: Timestamp) -> Timestamp {
        Timestamp(milliseconds: query.deadline.milliseconds + now() - end(of: id, query, at: time))
    }

    /// Starts to count the time of a question that has just been asked. For a question that is counted already, does
    /// nothing.
    func begin(_ id: QueryID, _ query: Standing.Query, at time: Timestamp) { _ = end(of: id, query, at: time) }

    /// When the question ends, on ``now``; starts to count it if need be.
    private func end(of id: QueryID, _ query: Standing.Query, at time: Timestamp) -> Int64 {
        ends.withLock { ends in
            if let end = ends[id] { return end }
            let whole = query.deadline.milliseconds - query.askedAt.milliseconds
            let end = now() + min(query.deadline.milliseconds - time.milliseconds, whole)
            ends[id] = end
            return end
        }
    }

    /// Forgets the questions that the standing has forgotten. Called from time to time, so that the memory is bounded.
    package func forget(allBut isKnown: (QueryID) -> Bool) {
        ends.withLock { ends in ends = ends.filter { isKnown($0.key) } }
    }
}
