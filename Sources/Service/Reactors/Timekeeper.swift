import Glibc
import Synchronization
import Whereabouts

/// Ends what is past its deadline, and asks what is due by a schedule. Its place is the standing itself: what is overdue
/// there is still to be ended, what is due there still to be asked.
final class Timekeeper: Sendable {
    private static let tickMilliseconds = 100
    /// Schedules are looked at once in so many ticks: there may be many of them, and none is in a hurry.
    private static let ticksPerSchedules = 10
    /// Questions asked in one tick; the others follow in the next.
    private static let questionsAtOnce = 1000

    private let stopping = Monitor(false)
    private let thread = Mutex<WorkerThread?>(nil)

    init(log: EventLog, clock: @escaping @Sendable () -> Timestamp) {
        let stopping = self.stopping
        thread.withLock {
            $0 = WorkerThread {
                var tick = 0
                while stopping.wait(milliseconds: Self.tickMilliseconds, for: { $0 ? true : nil }) == nil {
                    let now = clock()
                    let isOverdue = log.withStanding { $0.hasOverdueQuery(log.questions.time(at: now)) }
                    // A refused or failed attempt is tried again at the next tick.
                    if isOverdue { _ = try? log.appendAndWait(.endOverdueQueries, by: .house, correlation: .random()) }
                    tick += 1
                    guard tick % Self.ticksPerSchedules == 0 else { continue }
                    log.room?.look()
                    log.withStanding { standing in log.questions.forget { standing.queries[$0] != nil } }
                    // What the log does not take now is due at the next look.
                    for schedule in log.withStanding({ $0.dueSchedules(at: now, count: Self.questionsAtOnce) }) {
                        let query = QueryID.random()
                        log.submit(.askScheduled(schedule, query: query), by: .house, correlation: query) { _ in }
                    }
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
