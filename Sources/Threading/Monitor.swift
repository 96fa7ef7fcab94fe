package import Glibc

/// State that several threads share and wait for: a mutex with one condition.
///
/// The bodies of all methods run while the mutex is held. They must be short and must not call the same monitor.
package final class Monitor<State>: @unchecked Sendable {
    // `state` is used only while `mutex` is held; the two pointers never change.
    @usableFromInline var state: State
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline let condition: UnsafeMutablePointer<pthread_cond_t>

    /// A monitor of `state`.
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

    /// Runs `body` and wakes all waiting threads.
    @inlinable
    package func change<R>(_ body: (inout State) -> R) -> R {
        // A thread that is woken before the mutex is free only waits again, for the mutex.
        defer { pthread_cond_broadcast(condition) }
        return read(body)
    }

    /// Runs `body` without waking a thread.
    @inlinable
    package func read<R>(_ body: (inout State) -> R) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&state)
    }

    /// Wakes all waiting threads, after ``read(_:)`` has changed what they wait for.
    @inlinable
    package func wake() { pthread_cond_broadcast(condition) }

    /// As ``wake()``, but wakes one thread only: for state that each waiting thread waits for in the same way, such as a queue
    /// to which one item was added.
    @inlinable
    package func wakeOne() { pthread_cond_signal(condition) }

    /// Waits until `body` returns a value, or returns `nil` after `milliseconds`. The body is called at once, and again after each
    /// change.
    @inlinable
    package func wait<R>(milliseconds: Int? = nil, for body: (inout State) -> R?) -> R? {
        wait(until: milliseconds.map { MonotonicClock.seconds + Double($0) / 1000 }, for: body)
    }

    /// As ``wait(milliseconds:for:)``, until a time of ``MonotonicClock``, in seconds; `nil` waits without an end.
    @inlinable
    package func wait<R>(until deadline: Double?, for body: (inout State) -> R?) -> R? {
        var end = timespec()
        if let deadline {
            let whole = deadline.rounded(.down)
            end = timespec(tv_sec: Int(whole), tv_nsec: Int((deadline - whole) * 1e9))
        }
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let value = body(&state) { return value }
            if deadline != nil {
                if pthread_cond_timedwait(condition, mutex, &end) == ETIMEDOUT { return body(&state) }
            } else {
                pthread_cond_wait(condition, mutex)
            }
        }
    }
}
