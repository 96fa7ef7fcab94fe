import Glibc
package import Log
import LogVerifying
import SQLite
import Synchronization
import Threading
package import Whereabouts

/// What the background check has found since the start. It has counts and times, and nothing about a person.
package final class SelfCheckFindings: Sendable {
    private struct State {
        var events = 0
        var passes = 0
        var refolds = 0
        var isLogDamaged = false
        var checkedAt: [Catalog.Generation.ID: Timestamp] = [:]
    }

    private let state = Mutex(State())

    init() {}

    /// The events whose leaves were computed again.
    package var events: Int { state.withLock { $0.events } }
    /// The passes over the whole log that ended.
    package var passes: Int { state.withLock { $0.passes } }
    /// The projections whose rows did not give their fingerprint. Each was folded again.
    package var refolds: Int { state.withLock { $0.refolds } }
    /// Whether an event of the log was found changed. The check of the log then ends until the next start.
    package var isLogDamaged: Bool { state.withLock { $0.isLogDamaged } }
    /// When the rows of a generation last gave its fingerprint; `nil` if they were not compared since the start.
    package func checkedAt(_ generation: Catalog.Generation) -> Timestamp? {
        state.withLock { $0.checkedAt[generation.id] }
    }

    func note(events: Int) { state.withLock { $0.events += events } }
    func notePass() { state.withLock { $0.passes += 1 } }
    func noteDamagedLog() { state.withLock { $0.isLogDamaged = true } }
    func noteRefold() { state.withLock { $0.refolds += 1 } }
    func note(_ generation: Catalog.Generation, checkedAt time: Timestamp) {
        state.withLock { $0.checkedAt[generation.id] = time }
    }
}

extension Catalog.Generation {
    /// The generation without its role, which changes.
    struct ID: Hashable {
        let name: String
        let generation: Int64
    }

    var id: ID { ID(name: name, generation: generation) }
}

/// Checks the log and the projections for as long as the service runs, at a bounded rate: it finds damage to
/// old events and rows before a request reads them.
///
/// Each second it computes the leaves of some events again and compares them with the stored ones; at the end of a pass
/// also the tree. After a pause it begins again from the first event. It opens no sealed part. From time to time it sums
/// up the rows of each active projection and compares the sum with the fingerprint that is kept with every change. A
/// projection that differs is folded again; a changed event is reported (`/readyz`, metrics, `doctor`), because only a
/// backup can repair it.
package final class SelfCheck: Sendable {
    /// The rate and the pauses.
    package struct Pace: Sendable {
        /// Events in a slice.
        var eventsPerSlice = 500
        /// Between two slices. An idle service with it used 0.5 % of a core, unoptimized.
        var sliceMilliseconds = 1000
        /// Between two passes over the log.
        var passMilliseconds = 3_600_000
        /// Between two comparisons of a projection with its fingerprint.
        var fingerprintMilliseconds = 24 * 3_600_000
        /// After every 4096 rows, which take some milliseconds: at most a tenth of a core.
        var rowPauseMicroseconds: UInt32 = 50_000

        package init() {}
    }

    private let stopping = Monitor(false)
    private let thread = Mutex<WorkerThread?>(nil)

    /// Starts the thread.
    package init(host: ProjectionHost, log: EventLog, clock: @escaping @Sendable () -> Timestamp, pace: Pace = Pace()) {
        let stopping = self.stopping
        thread.withLock {
            $0 = WorkerThread {
                var round = Round(host: host, log: log, clock: clock, pace: pace, stopping: stopping)
                while !(stopping.wait(milliseconds: pace.sliceMilliseconds) { $0 ? true : nil } ?? false) {
                    round.step()
                }
            }
        }
    }

    /// Ends the check, within a slice or a few thousand rows.
    package func stop() {
        stopping.change { $0 = true }
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }

    /// The state of the thread.
    private struct Round {
        let host: ProjectionHost
        let log: EventLog
        let clock: @Sendable () -> Timestamp
        let pace: Pace
        let stopping: Monitor<Bool>
        /// The pass under way.
        var verifier: LogVerifier?
        /// When the next pass and the next comparison are due, on the monotonic clock.
        var passDue = MonotonicClock.seconds
        var fingerprintsDue: [String: Double] = [:]

        /// One slice of the log, and a projection if one is due.
        mutating func step() {
            if !host.selfCheck.isLogDamaged, passDue <= MonotonicClock.seconds { verifySlice() }
            for kind in host.kinds where !host.outdated.contains(kind.name) {
                // The check after the start has just compared them.
                let later = MonotonicClock.seconds + Double(pace.fingerprintMilliseconds) / 1000
                let due = fingerprintsDue[kind.name] ?? later
                fingerprintsDue[kind.name] = due
                guard due <= MonotonicClock.seconds else { continue }
                fingerprintsDue[kind.name] = later
                compare(kind)
                return
            }
        }

        private mutating func verifySlice() {
            do throws(LogError) {
                let verifier: LogVerifier
                if let current = self.verifier {
                    verifier = current
                } else {
                    verifier = try LogVerifier(path: log.path, keys: log.keys)
                }
                self.verifier = verifier
                let before = verifier.events
                let end = try verifier.verifySlice(rows: pace.eventsPerSlice)
                host.selfCheck.note(events: Int(verifier.events - before))
                guard let end else { return }
                self.verifier = nil
                passDue = MonotonicClock.seconds + Double(pace.passMilliseconds) / 1000
                guard let problem = end.problem else { return host.selfCheck.notePass() }
                host.selfCheck.noteDamagedLog()
                Diagnostics.fault(
                    "log.damaged", "The background check found event \(problem.number) damaged: \(problem.sentence).")
            } catch {
                // The log cannot be read now; `readyz` says so if that lasts.
                verifier = nil
                passDue = MonotonicClock.seconds + Double(pace.passMilliseconds) / 1000
            }
        }

        /// Compares the rows of an active projection with its fingerprint. Ends early for an erasure, which waits until
        /// no reader holds the file.
        private func compare(_ kind: ProjectionKind) {
            host.compareRows(
                of: kind, at: clock, pauseMicroseconds: pace.rowPauseMicroseconds,
                isStopping: { stopping.read { $0 } || host.status.contains { $0.holdsErased } })
        }
    }
}
