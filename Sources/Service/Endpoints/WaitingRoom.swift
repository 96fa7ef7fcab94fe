import Synchronization
import Whereabouts

/// Where requests wait for the end of a location query without holding a thread. One thread looks, each time the log
/// grows and every tick of the clock, whose query shows something else than pending by now.
///
/// Whoever waits learns nothing earlier than by asking again and again: the look is the same (``QueryView``).
final class WaitingRoom: Sendable {
    private struct Guest {
        let query: QueryID
        let caller: Caller
        let until: ContinuousClock.Instant
        let leave: @Sendable () -> Void
    }

    private struct State {
        var guests: [Guest] = []
        var isClosed = false
    }

    /// Requests that wait at once; past that they are answered as if they had not wished to wait.
    static let bound = 10_000
    private static let tickMilliseconds = 100

    private let state = Monitor(State())
    private let thread = Mutex<WorkerThread?>(nil)
    private let log: EventLog
    private let clock: @Sendable () -> Timestamp

    init(log: EventLog, clock: @escaping @Sendable () -> Timestamp) {
        self.log = log
        self.clock = clock
        thread.withLock { $0 = WorkerThread { [self] in run() } }
    }

    /// Takes a request in; `leave` is called once, on some thread, and must not block. `false` when there is no room.
    func enter(
        _ query: QueryID, by caller: Caller, until: ContinuousClock.Instant, _ leave: @escaping @Sendable () -> Void
    ) -> Bool {
        let isIn = state.change { state in
            guard !state.isClosed, state.guests.count < Self.bound else { return false }
            state.guests.append(Guest(query: query, caller: caller, until: until, leave: leave))
            return true
        }
        // What was appended since the request was looked at has woken nobody.
        if isIn { look() }
        return isIn
    }

    var count: Int { state.read { $0.guests.count } }

    /// Sends everybody home; nobody can enter any more.
    func close() {
        let guests = state.change { state in
            state.isClosed = true
            defer { state.guests = [] }
            return state.guests
        }
        for guest in guests { guest.leave() }
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }

    private func run() {
        var place: Int64 = 0
        while !state.read({ $0.isClosed }) {
            place = log.waitForHead(after: place, milliseconds: Self.tickMilliseconds)
            look()
        }
    }

    private func look() {
        let guests = state.read { $0.guests }
        guard !guests.isEmpty else { return }
        let durable = log.head
        let (now, instant) = (clock(), ContinuousClock.now)
        let over = log.withStanding { standing in
            var over: Set<QueryID> = []
            for guest in guests where !over.contains(guest.query) {
                let view = QueryView(guest.query, for: guest.caller, in: standing, at: now, durable: durable)
                if view?.isPending != true { over.insert(guest.query) }
            }
            return over
        }
        let leaving = state.change { state in
            let leaving = state.guests.filter { over.contains($0.query) || $0.until <= instant }
            state.guests.removeAll { over.contains($0.query) || $0.until <= instant }
            return leaving
        }
        for guest in leaving { guest.leave() }
    }
}
