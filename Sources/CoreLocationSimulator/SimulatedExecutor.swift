internal import Synchronization

/// Runs the tasks of simulated apps on the thread that moves the clock, between one thing due and the next.
///
/// Were they left to the shared pool, an event of a sequence would reach its loop at some real time, while the
/// simulated time runs on, and waiting for the loop would hold a thread of the pool it needs. Here they run in the
/// order they became ready, until none is ready: the rest await the clock or external events.
final class SimulatedExecutor: TaskExecutor {
    /// Far more steps than any app makes at one moment; a task that never awaits anything real reaches it.
    private static let stepsMax = 1_000_000

    private let ready = Mutex<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        ready.withLock { $0.append(job) }
    }

    /// Runs the ready tasks, and those that they make ready.
    ///
    /// - Precondition: it comes to rest.
    func drain() {
        var steps = 0
        while true {
            let jobs = ready.withLock { jobs in
                defer { jobs = [] }
                return jobs
            }
            guard !jobs.isEmpty else { return }
            for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
            steps += jobs.count
            precondition(steps < Self.stepsMax, "A task of an app does not come to rest while the clock stands still.")
        }
    }
}
