import Glibc
package import Log
import Synchronization
import Threading
package import Whereabouts

/// Ends questions past their deadline, asks the questions that schedules require, records phones that have fallen
/// silent, and has the keys of old reports destroyed. It needs no state: the standing shows the overdue questions, the due schedules and the silences.
package final class Timekeeper: Sendable {
    /// The greatest delay of an end after its deadline.
    private static let tickMilliseconds = 100
    /// The ticks from one look at the schedules to the next. There may be many, and seconds do not matter to them.
    private static let ticksPerSchedules = 10
    /// The questions asked in one tick; the others follow in the next.
    private static let questionsAtOnce = 1000

    /// Whether the thread is to end; a change wakes it from its pause.
    private let stopping = Monitor(false)
    private let thread = Mutex<WorkerThread?>(nil)

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - clock: The service's clock. The remaining time of a question is counted by ``QuestionClock``, so a clock that is
    ///     set does not end questions.
    ///   - whenKeysDestroyed: Called on the thread after the keys of old reports were destroyed.
    package init(
        log: EventLog, clock: @escaping @Sendable () -> Timestamp,
        whenKeysDestroyed: @escaping @Sendable () -> Void = {}
    ) {
        let stopping = self.stopping
        thread.withLock {
            $0 = WorkerThread {
                var tick = 0
                var retention = RetentionRounds(log: log, whenDestroyed: whenKeysDestroyed)
                while stopping.wait(milliseconds: Self.tickMilliseconds, for: { $0 ? true : nil }) == nil {
                    let now = clock()
                    let isOverdue = log.withStanding { standing in
                        standing.hasOverdueQuery { log.questions.time(of: $0, $1, at: now) }
                    }
                    // A refused or failed attempt is tried again at the next tick.
                    if isOverdue { _ = try? log.appendAndWait(.endOverdueQueries, by: .house, correlation: .random()) }
                    tick += 1
                    guard tick % Self.ticksPerSchedules == 0 else { continue }
                    log.room?.look()
                    log.withStanding { standing in log.questions.forget { standing.queries[$0] != nil } }
                    // A question that the log does not take now is still due at the next look.
                    for schedule in log.withStanding({ $0.schedules.due(at: now, count: Self.questionsAtOnce) }) {
                        let query = QueryID.random()
                        log.submit(.askScheduled(schedule, query: query), by: .house, correlation: query) { _ in }
                    }
                    if log.withStanding({ !$0.newSilences(at: now).isEmpty }) {
                        _ = try? log.appendAndWait(.noteSilences, by: .house, correlation: .random())
                    }
                    retention.look(at: now)
                }
            }
        }
    }

    /// Ends the thread; waits for a command under way.
    package func stop() {
        stopping.change { $0 = true }
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }
}
