import Answers
package import Log
import Synchronization
import Threading
package import Whereabouts

/// Requests that wait for the end of a location query, without a thread each. One thread looks at a query when its end
/// is durable, and at all of them with every tick of the clock, because a deadline is not an event.
///
/// A waiting caller learns nothing earlier than by asking repeatedly: both see the same `QueryView`.
///
/// Cost: one read of the standing when queries with guests end, and one every 100 ms for all guests together.
package final class WaitingRoom: Sendable {
    /// One waiting request.
    private struct Guest {
        /// The guest's number, by which a look finds it again; indexes change meanwhile.
        let number: Int
        /// The requester, for whom the query is looked at.
        let caller: Caller
        /// A fix that the caller may not see. A query that this fix answered still looks pending.
        let hidden: Int64?
        /// When the request's `wait` is over.
        let until: ContinuousClock.Instant
        /// Answers the request; called once, outside the lock.
        let leave: @Sendable () -> Void
    }

    /// Guarded by the monitor; guests leave outside the lock.
    private struct State {
        var guests: [QueryID: [Guest]] = [:]
        var count = 0
        /// How many guests have ever entered.
        var numbered = 0
        /// Queries with guests that have ended since the thread looked last.
        var ended: [QueryID] = []
        var isClosed = false
    }

    /// The most waiting requests. Further ones are answered at once, as without a wait.
    package static let bound = 10_000
    /// The milliseconds between two looks at all guests, for those whose time is over.
    private static let tickMilliseconds = 100

    private let state = Monitor(State())
    private let thread = Mutex<WorkerThread?>(nil)
    private let log: EventLog
    private let clock: @Sendable () -> Timestamp

    /// Starts the thread and subscribes to the ends of queries. It runs until ``close()``.
    package init(log: EventLog, clock: @escaping @Sendable () -> Timestamp) {
        self.log = log
        self.clock = clock
        log.notifyOfEnds { [state] ended in
            let isWanted = state.read { state in ended.contains { state.guests[$0] != nil } }
            if isWanted { state.change { state in state.ended += ended.filter { state.guests[$0] != nil } } }
        }
        thread.withLock { $0 = WorkerThread { [self] in run() } }
    }

    /// Takes a request in. Returns `false` if there is no room.
    ///
    /// - Parameters:
    ///   - hidden: The number of a fix that the caller may not see, if one has answered the query.
    ///   - leave: Called once, on any thread, perhaps before this returns; must not block.
    package func enter(
        _ query: QueryID, by caller: Caller, hidden: Int64? = nil, until: ContinuousClock.Instant,
        _ leave: @escaping @Sendable () -> Void
    ) -> Bool {
        let isIn = state.read { state in
            guard !state.isClosed, state.count < Self.bound else { return false }
            state.guests[query, default: []].append(
                Guest(number: state.numbered, caller: caller, hidden: hidden, until: until, leave: leave))
            (state.count, state.numbered) = (state.count + 1, state.numbered + 1)
            return true
        }
        // The query may have ended between the caller's look and the entry, without a notice to this room.
        if isIn { look(after: [query]) }
        return isIn
    }

    /// The requests that wait now.
    package var count: Int { state.read { $0.count } }

    /// Answers all guests and ends the thread; later requests cannot enter.
    package func close() {
        let guests = state.change { state in
            state.isClosed = true
            defer { (state.guests, state.count) = ([:], 0) }
            return state.guests.values.joined()
        }
        for guest in guests { guest.leave() }
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }

    /// Looks after the guests of ended queries at once, and after all guests once per tick.
    private func run() {
        let tick = Duration.milliseconds(Self.tickMilliseconds)
        var nextTick = ContinuousClock.now + tick
        while !state.read({ $0.isClosed }) {
            let ended = state.wait(milliseconds: Self.tickMilliseconds) { state -> [QueryID]? in
                guard !state.ended.isEmpty || state.isClosed else { return nil }
                defer { state.ended.removeAll(keepingCapacity: true) }
                return state.ended
            }
            if ContinuousClock.now < nextTick {
                look(after: ended ?? [])
            } else {
                look(after: state.read { Array($0.guests.keys) })
                nextTick = .now + tick
            }
        }
    }

    /// Answers the guests whose query no longer looks pending, or whose time is up.
    private func look(after queries: [QueryID]) {
        guard !queries.isEmpty else { return }
        let waiting = state.read { state in
            queries.flatMap { query in (state.guests[query] ?? []).map { (query, $0) } }
        }
        let durable = log.head
        let (now, instant) = (clock(), ContinuousClock.now)
        let over = log.withStanding { standing in
            waiting.filter { query, guest in
                if guest.until <= instant { return true }
                let view = QueryView(query, for: guest.caller, in: standing, at: now, log.questions, durable: durable)
                return view?.isSettled(but: guest.hidden) ?? true
            }
        }
        let leaving = state.read { state in
            // Another look may have answered some of them already.
            over.filter { query, guest in
                guard let index = state.guests[query]?.firstIndex(where: { $0.number == guest.number }) else {
                    return false
                }
                state.guests[query]?.remove(at: index)
                if state.guests[query]?.isEmpty == true { state.guests[query] = nil }
                state.count -= 1
                return true
            }
        }
        for (_, guest) in leaving { guest.leave() }
    }
}
