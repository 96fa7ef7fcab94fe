import Glibc

/// The seconds that a test waits for an expected event. No result depends on it: it is far more than two busy cores
/// need.
package let patienceSeconds = 120.0
/// The same in milliseconds, for waits that are not a loop.
package let patienceMilliseconds = Int(patienceSeconds * 1000)

/// Nothing came within the bound of a wait.
package struct WaitedInVain: Error, CustomStringConvertible {
    let what: String
    let seconds: Double
    let place: String

    package var description: String { "\(place): waited \(Int(seconds)) s in vain for \(what)." }
}

/// Looks again and again until there is a value.
///
/// - Parameters:
///   - what: the expected event, for the error; the place in the source is added.
///   - pause: the pause between two looks. The default leaves the cores to working threads.
///   - look: returns `nil` as long as the value is not there.
/// - Throws: ``WaitedInVain`` after `seconds`, and errors of `look`.
package func eventually<Value>(
    _ what: String = "a value", within seconds: Double = patienceSeconds, pauseMilliseconds pause: UInt32 = 5,
    file: StaticString = #fileID, line: Int = #line, look: () throws -> Value?
) throws -> Value {
    let end = monotonicSeconds() + seconds
    while true {
        // Looked at once more after the end: on a busy machine the pause may have taken all the time.
        let isLast = monotonicSeconds() >= end
        if let value = try look() { return value }
        if isLast { throw WaitedInVain(what: what, seconds: seconds, place: "\(file):\(line)") }
        usleep(pause * 1000)
    }
}

/// Looks again and again until something is so; see the other form.
package func eventually(
    _ what: String = "it to be so", within seconds: Double = patienceSeconds, pauseMilliseconds pause: UInt32 = 5,
    file: StaticString = #fileID, line: Int = #line, isSo: () throws -> Bool
) throws {
    let _: Bool = try eventually(
        what, within: seconds, pauseMilliseconds: pause, file: file, line: line, look: { try isSo() ? true : nil })
}

/// Seconds of the monotonic clock.
package func monotonicSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}

/// Ends the test process because a wait that cannot throw lasted longer than ``patienceSeconds``. The message names the
/// place; `scripts/test` names the tests that had begun.
package func waitedInVain(for what: String, file: StaticString = #fileID, line: Int = #line) -> Never {
    fatalError("\(WaitedInVain(what: what, seconds: patienceSeconds, place: "\(file):\(line)"))")
}
