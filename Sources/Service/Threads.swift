import Glibc

/// A thread of our own for work that blocks: SQLite, fsync, sockets. Nothing of that kind runs on the shared pool.
package final class WorkerThread: @unchecked Sendable {
    // `id` is written once in `init`, before anyone else can see the object, and only read by `join`.
    private var id: pthread_t = 0
    private let isOver = Monitor(false)

    /// Starts `body` on a thread with a stack of 4 MiB.
    package init(_ body: @escaping @Sendable () -> Void) {
        let isOver = self.isOver
        let box = Unmanaged.passRetained(
            Body {
                body()
                isOver.change { $0 = true }
            })
        let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
        defer { attributes.deallocate() }
        pthread_attr_init(attributes)
        pthread_attr_setstacksize(attributes, 4 << 20)
        let code = pthread_create(&id, attributes, workerMain, box.toOpaque())
        precondition(code == 0, "The system gives no more threads.")
        pthread_attr_destroy(attributes)
    }

    /// Waits until the thread's work is done.
    package func join() { pthread_join(id, nil) }

    /// As ``join()``, but waits at most `milliseconds`.
    ///
    /// - Returns: `false` if the thread is still working. It then runs on detached and must not be joined.
    package func join(milliseconds: Int) -> Bool {
        guard isOver.wait(milliseconds: milliseconds, for: { $0 ? true : nil }) == true else {
            pthread_detach(id)
            return false
        }
        join()
        return true
    }

    fileprivate final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
}

private func workerMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let body = Unmanaged<WorkerThread.Body>.fromOpaque(context).takeRetainedValue()
    body.run()
    return nil
}

/// State that threads share and wait on: a mutex with one condition.
package final class Monitor<State>: @unchecked Sendable {
    // `state` is touched only between lock and unlock of `mutex`; the two pointers never change.
    private var state: State
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    package init(_ state: sending State) {
        self.state = state
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        let attributes = UnsafeMutablePointer<pthread_condattr_t>.allocate(capacity: 1)
        defer { attributes.deallocate() }
        pthread_condattr_init(attributes)
        pthread_condattr_setclock(attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, attributes)
        pthread_condattr_destroy(attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Runs `body` alone and wakes all threads that wait.
    package func change<R>(_ body: (inout State) -> R) -> R {
        // A thread that is woken before the mutex is free only waits again, for the mutex.
        defer { pthread_cond_broadcast(condition) }
        return read(body)
    }

    /// As ``change(_:)``, but wakes one thread only: for state that each waiting thread waits for in the same way, such as a
    /// queue to which one item was added.
    package func changeForOne<R>(_ body: (inout State) -> R) -> R {
        defer { pthread_cond_signal(condition) }
        return read(body)
    }

    /// Runs `body` alone.
    package func read<R>(_ body: (inout State) -> R) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&state)
    }

    /// Waits until `body` gives a value; `nil` when `milliseconds` have passed first.
    package func wait<R>(milliseconds: Int? = nil, for body: (inout State) -> R?) -> R? {
        var deadline = timespec()
        if let milliseconds {
            clock_gettime(CLOCK_MONOTONIC, &deadline)
            deadline.tv_sec += milliseconds / 1000
            deadline.tv_nsec += milliseconds % 1000 * 1_000_000
            if deadline.tv_nsec >= 1_000_000_000 {
                deadline.tv_sec += 1
                deadline.tv_nsec -= 1_000_000_000
            }
        }
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let value = body(&state) { return value }
            if milliseconds != nil {
                if pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT { return body(&state) }
            } else {
                pthread_cond_wait(condition, mutex)
            }
        }
    }
}
