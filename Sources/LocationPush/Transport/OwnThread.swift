internal import Glibc
internal import Synchronization

/// A thread of one's own for work that waits: poll loops and name look-ups never run on the shared pool.
///
/// All signals are blocked in it: signals belong to the thread that waits for them, and a broken pipe shows as
/// `EPIPE` where it happened (OpenSSL writes with `write(2)`, which cannot be told not to signal).
package final class OwnThread: Sendable {
    private let thread: pthread_t

    /// Starts a thread that runs `body` once.
    ///
    /// - Throws: ``TransportFault`` when the system has no thread left.
    package init(_ body: @escaping @Sendable () -> Void) throws(TransportFault) {
        let work = Unmanaged.passRetained(Work(body))
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        // The mask is inherited, so it is set here for a moment: the new thread never runs with signals open.
        pthread_sigmask(SIG_SETMASK, &all, &before)
        var made = pthread_t()
        let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { work in
            Unmanaged<Work>.fromOpaque(work!).takeRetainedValue().run()
        }
        let code = pthread_create(&made, nil, run, work.toOpaque())
        pthread_sigmask(SIG_SETMASK, &before, nil)
        guard code == 0 else {
            work.release()
            throw TransportFault(call: "pthread_create", code: code)
        }
        self.thread = made
    }

    /// Waits until the thread has ended. To be called once, and never from the thread itself.
    package func join() {
        pthread_join(thread, nil)
    }

    /// Lets the thread end by itself. To be called once, instead of ``join()``.
    package func detach() {
        pthread_detach(thread)
    }

    private final class Work {
        private let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }

        func run() -> UnsafeMutableRawPointer? {
            body()
            return nil
        }
    }
}
