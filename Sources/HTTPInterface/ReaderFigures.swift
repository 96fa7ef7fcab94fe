import Synchronization
import Threading

/// How far a reader is behind, and the counts since the start of what a process does as a reader or for readers.
package final class ReaderFigures: Sendable {
    /// Counts since the start.
    package struct Counts: Sendable {
        /// Reads whose record is durable.
        package var recorded: Int64 = 0
        /// Reads that only the process that writes the log can answer: the right or the data has changed.
        package var elsewhere: Int64 = 0
        /// Reads that were not answered, because their record did not come back.
        package var unrecorded: Int64 = 0
        /// Requests that were passed on and answered.
        package var passedOn: Int64 = 0
        /// Requests that were passed on, and no process that writes the log answered.
        package var unanswered: Int64 = 0
        /// Messages that did not have the seal of the house.
        package var forged: Int64 = 0

        package init() {}
    }

    /// How far a reader is behind.
    package struct State: Sendable {
        /// The durable events that it does not have, as far as it knows.
        package let eventsBehind: Int64
        /// The time since it had every durable event; `nil` before the first time.
        package let secondsBehind: Double?
        /// Whether the process that writes the log answered the last message.
        package let isWriterReachable: Bool
        /// Why the log in the database cannot be read now; `nil` while it can.
        package let databaseTrouble: String?

        /// Whether the reader may answer by itself.
        package var isFresh: Bool { secondsBehind.map { $0 <= ReaderFigures.secondsBehindMax } ?? false }
    }

    /// A reader that is further behind passes every read on. Long enough for a take-over to another process.
    package static let secondsBehindMax = 10.0

    private struct Place {
        var own: Int64 = 0
        /// The newest event that the process that writes the log has told of, and when it was asked.
        var writers: Int64 = 0
        var asked = 0.0
        var isWriterReachable = false
        var caughtUpAt: Double?
        var databaseTrouble: String?
    }

    private let all = Mutex(Counts())
    private let place = Monitor(Place())

    package init() {}

    /// The counts.
    package var counts: Counts { all.withLock { $0 } }

    /// Changes the counts.
    package func count(_ body: (inout Counts) -> Void) { all.withLock { body(&$0) } }

    /// How far the reader is behind now.
    package var state: State {
        place.read { place in
            State(
                eventsBehind: max(0, place.writers - place.own),
                secondsBehind: place.caughtUpAt.map { MonotonicClock.seconds - $0 },
                isWriterReachable: place.isWriterReachable, databaseTrouble: place.databaseTrouble)
        }
    }

    /// The newest durable event, as the process that writes the log said last.
    package var writersHead: Int64 { place.read { $0.writers } }

    /// Notes the answer of the process that writes the log.
    ///
    /// - Parameters:
    ///   - head: Its newest durable event.
    ///   - asked: When it was asked, on the monotonic clock.
    package func heard(head: Int64, asked: Double) {
        place.change { place in
            place.isWriterReachable = true
            guard head >= place.writers else { return }
            (place.writers, place.asked) = (head, asked)
            if place.own >= head { place.caughtUpAt = asked }
        }
    }

    /// Notes that no process that writes the log answers.
    package func noteSilence() { place.change { $0.isWriterReachable = false } }

    /// Notes the events that the reader has, or why it cannot get more.
    package func note(own: Int64, trouble: String?) {
        place.change { place in
            (place.own, place.databaseTrouble) = (own, trouble)
            if place.isWriterReachable, own >= place.writers {
                place.caughtUpAt = max(place.asked, place.caughtUpAt ?? 0)
            }
        }
    }

    /// Waits until the process that writes the log has told of an event after `number`.
    package func waitForWriter(after number: Int64, milliseconds: Int) {
        _ = place.wait(milliseconds: milliseconds) { $0.writers > number ? true : nil }
    }
}
