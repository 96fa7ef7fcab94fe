public import Foundation

/// Events from outside the simulation while it runs: answers to requests, and code of an app that was resumed on
/// another thread.
///
/// Every event waits here and is handled on the thread that runs the clock, in the order of arrival.
///
/// `@unchecked Sendable`: every field is touched only under the condition.
final class Inbox: @unchecked Sendable {
    private let condition = NSCondition()
    private var actions: ArraySlice<() -> Void> = []
    private var outstanding = 0

    func post(_ action: @escaping () -> Void) {
        condition.withLock {
            actions.append(action)
            condition.broadcast()
        }
    }

    func begin() { condition.withLock { outstanding += 1 } }

    /// Ends work that was begun before, with this action.
    func end(_ action: @escaping () -> Void) {
        condition.withLock {
            outstanding -= 1
            actions.append(action)
            condition.broadcast()
        }
    }

    /// The next action. Blocks while there is none and something outside may still bring one.
    func next(waiting: Bool) -> (() -> Void)? {
        condition.withLock {
            while waiting, actions.isEmpty, outstanding > 0 { condition.wait() }
            return actions.popFirst()
        }
    }
}

extension SimulatedApplication {
    /// Does something as this app's code when so many seconds have passed, unless the process has ended by then.
    public func after(_ seconds: TimeInterval, _ body: @escaping () -> Void) {
        let process = locked { launch }
        device.clock.after(seconds) { [weak self] in
            guard let self, launch == process, !state.isDead else { return }
            Self.$current.withValue(self, operation: body)
        }
    }

    /// Lets the world outside work for this app's code: a request over a real network, for example.
    ///
    /// Simulated time stops until the work is done, so that a run does not depend on real durations; with
    /// ``SimulatedClock/waitsForOutside`` off, time goes on. `then` is run as the app's code, on the thread of the
    /// clock, unless the process has ended meanwhile.
    ///
    /// - Parameters:
    ///   - begin: begins the work, and has its argument called exactly once when it is done, from any thread.
    ///   - then: takes the outcome.
    public func outside<Outcome: Sendable>(
        _ begin: (_ done: @escaping @Sendable (Outcome) -> Void) -> Void, then: @escaping (Outcome) -> Void
    ) {
        let process = locked { launch }
        nonisolated(unsafe) let then = then
        let inbox = device.clock.inbox
        inbox.begin()
        begin { [self] outcome in
            inbox.end { [self] in
                guard launch == process, !state.isDead else { return }
                Self.$current.withValue(self) { then(outcome) }
            }
        }
    }
}
