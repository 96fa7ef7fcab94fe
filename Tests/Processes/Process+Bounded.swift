package import Foundation

extension Process {
    /// The seconds after which a program of a test is killed. No result depends on it: it is far more than the longest test
    /// needs, and less than the tests have together.
    package static let lifeSeconds = 600.0

    /// Starts the program, and kills it if it still runs after `seconds`.
    ///
    /// This bounds every wait for it: a read of its pipes and `waitUntilExit()` end when it is killed, and the test fails,
    /// because `terminationReason` is `.uncaughtSignal`.
    package func runBounded(seconds: Double = lifeSeconds) throws {
        try run()
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [self] in
            if isRunning { kill(processIdentifier, SIGKILL) }
        }
    }
}
