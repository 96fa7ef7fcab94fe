import Synchronization

/// The progress of a verification, for a thread that shows it.
package final class VerificationProgress: Sendable {
    private struct State {
        var part = ""
        var done: Int64 = 0
        var all: Int64 = 0
    }

    private let state = Mutex(State())

    /// No progress yet.
    package init() {}

    /// - Parameter part: The part that is verified, for example `log` or `projection timeline`.
    package func report(_ part: String, _ done: Int64, of all: Int64) {
        state.withLock { $0 = State(part: part, done: done, all: all) }
    }

    /// For example `log, 40 %`; empty before the first report.
    package var text: String {
        state.withLock { state in
            state.part.isEmpty || state.all < 1
                ? state.part : "\(state.part), \(min(100, state.done * 100 / state.all)) %"
        }
    }
}
