import Glibc
import Synchronization
import Whereabouts

/// Ends what is past its deadline. Its place is the standing itself: what is overdue there is still to be ended.
final class Timekeeper: Sendable {
    private static let tickMilliseconds = 100

    private let stopping = Monitor(false)
    private let thread = Mutex<WorkerThread?>(nil)

    init(log: EventLog, clock: @escaping @Sendable () -> Timestamp) {
        let stopping = self.stopping
        thread.withLock {
            $0 = WorkerThread {
                while stopping.wait(milliseconds: Self.tickMilliseconds, for: { $0 ? true : nil }) == nil {
                    let now = clock()
                    let isOverdue = log.withStanding { $0.hasOverdueQuery(at: now) }
                    // A refused or failed attempt is tried again at the next tick.
                    if isOverdue { _ = try? log.appendAndWait(.endOverdueQueries, by: .house, correlation: .random()) }
                }
            }
        }
    }

    func stop() {
        stopping.change { $0 = true }
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }
}
