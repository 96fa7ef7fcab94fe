import Glibc

/// SIGINT and SIGTERM, which end a program that serves.
enum StopSignals {
    /// Both.
    static var all: sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        return signals
    }

    /// Blocks both in this thread and in every thread that it creates later, so that only `sigwait` receives them.
    static func blocked() -> sigset_t {
        var signals = all
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        return signals
    }
}
