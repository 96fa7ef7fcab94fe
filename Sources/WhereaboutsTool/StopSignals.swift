import Glibc

/// SIGINT and SIGTERM, which end a program that serves.
enum StopSignals {
    /// Blocks both in this thread and in every thread that it makes afterwards, so that only a call that waits for them
    /// receives them.
    static func blocked() -> sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        return signals
    }
}
