internal import Glibc

/// A thread for work that blocks, such as SQLite, fsync, an event loop or a name look-up. Such work never runs on Swift's
/// cooperative pool.
///
/// The thread has a stack of 4 MiB and blocks all signals: a signal goes to the thread that waits for it, and a broken pipe
/// is reported as `EPIPE` where it happened (OpenSSL uses `write(2)`, which has no `MSG_NOSIGNAL`).
///
/// Call exactly one of ``join()``, ``join(milliseconds:)`` and ``detach()``, once.
package final class WorkerThread: Sendable {
    private let id: pthread_t
    private let isOver: Monitor<Bool>

    /// Starts a thread that runs `body` once. The process ends if the system has no thread left.
    package convenience init(_ body: @escaping @Sendable () -> Void) {
        do throws(ThreadError) {
            try self.init(starting: body)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// Starts a thread that runs `body` once.
    ///
    /// - Throws: ``ThreadError`` if the system has no thread left. Then `body` is not called.
    package static func started(_ body: @escaping @Sendable () -> Void) throws(ThreadError) -> WorkerThread {
        try WorkerThread(starting: body)
    }

    private init(starting body: @escaping @Sendable () -> Void) throws(ThreadError) {
        let isOver = Monitor(false)
        let work = Unmanaged.passRetained(
            Work {
                body()
                isOver.change { $0 = true }
            })
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, 4 << 20)
        // A new thread inherits the mask, so the mask is set here for a moment: the thread never runs with signals open.
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        var id = pthread_t()
        let code = pthread_create(&id, &attributes, { Work.run($0) }, work.toOpaque())
        pthread_sigmask(SIG_SETMASK, &before, nil)
        guard code == 0 else {
            work.release()
            throw ThreadError(code: code)
        }
        (self.id, self.isOver) = (id, isOver)
    }

    /// Gives the calling thread the lowest priority (nice 19) for the rest of its life: only the system's administrator could
    /// raise it again.
    package static func lowerPriority() { setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 19) }

    /// Whether the caller runs on this thread.
    package var isCurrent: Bool { pthread_equal(id, pthread_self()) != 0 }

    /// Waits until the work is done. Not to be called on the thread itself.
    package func join() { pthread_join(id, nil) }

    /// As ``join()``, but waits at most `milliseconds`.
    ///
    /// - Returns: `false` if the work is not done. The thread is then detached.
    package func join(milliseconds: Int) -> Bool {
        guard isOver.wait(milliseconds: milliseconds, for: { $0 ? true : nil }) == true else {
            detach()
            return false
        }
        join()
        return true
    }

    /// Lets the thread end by itself.
    package func detach() { pthread_detach(id) }

    private final class Work {
        private let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }

        static func run(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
            guard let context else { return nil }
            Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
            return nil
        }
    }
}

/// The system could not make a thread (`pthread_create`).
package struct ThreadError: Error, CustomStringConvertible {
    /// The error number.
    package let code: Int32

    package var description: String { "The system has no thread left (error \(code))." }
}
