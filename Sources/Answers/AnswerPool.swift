package import Gazetteer
package import Geodesy
import Glibc
package import Log
package import Projections
import ReferenceSystems
package import SQLite
import Synchronization
import Threading
package import Whereabouts

/// The threads that may block: they read projections, wait for the log and compute answers.
///
/// Callers take turns (``TurnQueue``): a caller with many requests delays each other caller by one request at a time,
/// and never holds all threads.
package final class AnswerPool: Sendable {
    /// A piece of work. It may block, runs on one of the threads, and must answer its request itself.
    package typealias Work = @Sendable (AnswerContext) -> Void

    /// Guarded by ``state``.
    private struct State {
        var waiting = TurnQueue<PrincipalID, Work>(
            mostAtOnce: AnswerPool.threads - 1, mostWaiting: AnswerPool.queueBoundPerCaller)
        /// The threads that wait for work.
        var idle = 0
        /// Whether one of them was woken and has not looked at the queue yet.
        var isWaking = false
        var isStopping = false
        /// Whether ``stop(milliseconds:)`` returned while a thread was still working.
        var isLeftBehind = false

        /// Whether the caller must wake an idle thread. One thread is woken at a time; if there is more work than it
        /// takes, it wakes the next one. So a burst of short pieces of work seldom wakes a thread in vain.
        mutating func needsThread() -> Bool {
            guard idle > 0, !isWaking, waiting.hasNext else { return false }
            isWaking = true
            return true
        }
    }

    /// The number of threads.
    package static let threads = 4
    /// The most pieces of work of all callers that wait. Further requests get 503.
    package static let queueBound = 1024
    /// A quarter of ``queueBound``, so that one caller cannot fill the queue.
    static let queueBoundPerCaller = 256

    private let state = Monitor(State())
    /// The threads, until they are joined.
    private let workers: Mutex<[WorkerThread]>

    /// Starts the threads.
    ///
    /// - Parameter makeContext: Called once on each thread; its context stays on that thread.
    package init(makeContext: @escaping @Sendable () -> AnswerContext) {
        workers = Mutex([])
        let state = self.state
        workers.withLock { workers in
            for _ in 0..<Self.threads {
                workers.append(
                    WorkerThread {
                        let context = makeContext()
                        var ended: PrincipalID?
                        while let (caller, work) = Self.next(of: state, after: ended) {
                            work(context)
                            ended = caller
                        }
                    })
            }
        }
    }

    /// The pieces of work that wait for a thread.
    package var queueLength: Int { state.read { $0.waiting.count } }

    /// Queues a piece of work.
    ///
    /// - Parameter caller: The principal whose turn the work takes.
    /// - Returns: `false` if the caller or the whole queue is at its bound, or the pool is stopping.
    package func submit(for caller: PrincipalID, _ work: @escaping Work) -> Bool {
        let (isTaken, needsThread) = state.read { state in
            guard !state.isStopping, state.waiting.count < Self.queueBound, state.waiting.append(work, of: caller)
            else { return (false, false) }
            return (true, state.needsThread())
        }
        if needsThread { state.wakeOne() }
        return isTaken
    }

    /// Finishes the waiting work, then ends the threads.
    ///
    /// - Parameter milliseconds: How long to wait for the threads.
    /// - Returns: `false` if a thread is still working after that time; its answers are lost.
    @discardableResult
    package func stop(milliseconds: Int) -> Bool {
        state.change { $0.isStopping = true }
        let until = MonotonicClock.seconds + Double(milliseconds) / 1000
        workers.withLock { workers in
            for worker in workers {
                let left = Int(max(0, (until - MonotonicClock.seconds) * 1000))
                if !worker.join(milliseconds: left) { state.change { $0.isLeftBehind = true } }
            }
            workers = []
        }
        return !state.read { $0.isLeftBehind }
    }

    /// What a thread does next.
    private enum Step {
        /// - needsThread: Whether it first wakes an idle thread.
        case work(PrincipalID, Work, needsThread: Bool)
        /// The pool is stopping and no work is left.
        case end
    }

    /// Waits for the next work of a thread; `nil` if it should end.
    ///
    /// - Parameter ended: The caller whose work the thread has just done.
    private static func next(of state: Monitor<State>, after ended: PrincipalID?) -> (PrincipalID, Work)? {
        var (ended, isIdle) = (ended, false)
        let step = state.wait { state -> Step? in
            if let caller = ended { state.waiting.end(of: caller) }
            if isIdle { (state.idle, state.isWaking) = (state.idle - 1, false) }
            (ended, isIdle) = (nil, false)
            if let (caller, work) = state.waiting.next() {
                return .work(caller, work, needsThread: state.needsThread())
            }
            if state.isStopping, state.waiting.isEmpty { return .end }
            (state.idle, isIdle) = (state.idle + 1, true)
            return nil
        }
        guard case .work(let caller, let work, let needsThread)? = step else {
            // Others may wait for the last work, which is done.
            state.wake()
            return nil
        }
        if needsThread { state.wakeOne() }
        return (caller, work)
    }
}

/// The objects that one answering thread owns: its database connections, its geodesy and its reader of the log. Never
/// used by two threads.
package final class AnswerContext {
    /// The host of the projections, which knows the active files.
    package let host: ProjectionHost
    /// This thread's reader of the log.
    package let reader: LogReader
    /// The gazetteer, shared by all threads; `nil` if its files are not installed.
    package let gazetteer: Gazetteer?
    /// The transformation to geocentric coordinates.
    package let geocentric = GeocentricTransform()
    /// The grid is read at the first use; `nil` if it is not installed.
    private(set) lazy var geoid = try? Geoid()
    /// The systems that ``referenceSystem(_:)`` has made, by code.
    var systems: [String: CoordinateReferenceSystem] = [:]
    /// The tables as of an earlier moment, while an answer as of it is computed.
    package var past: PastTables?
    /// The open projection files by projection, until ``ProjectionHost/switches`` changes.
    private var files: [String: (file: ProjectionFile, isOutdated: Bool)] = [:]
    /// Whether a read since the start of the request used a file of another version of the program. The door says so
    /// in the answer.
    package var hasReadOutdated = false
    private var switches = -1

    /// - Parameter reader: The thread's own connection to the log.
    package init(host: ProjectionHost, reader: LogReader, gazetteer: Gazetteer?) {
        self.host = host
        self.reader = reader
        self.gazetteer = gazetteer
    }

    /// Reads the active generation of a projection in one consistent view, together with the number it is folded up to.
    ///
    /// `body` runs in a read transaction, which holds back checkpoints of that file while it lasts.
    ///
    /// - Throws: 503 while the projection is folded from zero. That includes a projection found to be damaged here: the
    ///   refold is then requested first.
    package func read<R>(
        _ name: String, _ body: (borrowing Connection) throws(SQLiteError) -> R
    ) throws(Problem) -> (value: R, asOf: Int64) {
        host.noteRead()
        if let past, past.name == name {
            do throws(SQLiteError) { return (try past.read(body), past.number) } catch { throw .broken }
        }
        do throws(SQLiteError) {
            guard let (file, isOutdated) = try file(name) else { throw SQLiteError(code: 5, message: "loading") }
            if isOutdated { hasReadOutdated = true }
            return try file.connection.snapshot { () throws(SQLiteError) in
                let place = try FollowedProjection.readPlace(file).number
                return (try body(file.connection), place)
            }
        } catch {
            files[name] = nil
            if error.meansDamage || isLost(name) { heal(name, "\(error)") }
            throw Problem(
                503, "Being rebuilt",
                "This view is being folded from the log again; send the same request again later.",
                retryAfterSeconds: 2)
        }
    }

    /// The open file of the active generation; `nil` while the projection is folded from zero.
    private func file(_ name: String) throws(SQLiteError) -> (file: ProjectionFile, isOutdated: Bool)? {
        let newest = host.switches
        if newest != switches {
            files = [:]
            switches = newest
        }
        if let file = files[name] { return file }
        guard let opened = try host.openActive(name) else { return nil }
        files[name] = opened
        return opened
    }

    /// Whether the projection's file is missing.
    private func isLost(_ name: String) -> Bool {
        host.activePath(of: name).map { access($0, F_OK) != 0 && errno == ENOENT } ?? false
    }

    /// Has the host fold a damaged projection again.
    private func heal(_ name: String, _ why: String) {
        _ = try? host.perform { (worker) throws(ProjectionHost.HostError) in worker.healActive(name, why) }
    }

    /// The time zone at a coordinate, by the gazetteer's time zone borders; `nil` without a gazetteer.
    package func timeZone(at coordinate: Coordinate) -> String? { gazetteer?.timeZone(at: coordinate) }

    /// The center of the city, town or village that contains a coordinate, or of the nearest one. Without a gazetteer,
    /// or if the country has none, the center of the square degree.
    func cityCenter(of coordinate: Coordinate) -> Coordinate {
        placemark(at: coordinate)?.localityCenter ?? coordinate.squareDegreeCenter
    }

    /// The placemark of a coordinate, in the first of the languages that has names; `nil` without a
    /// gazetteer.
    ///
    /// - Parameter accuracyMeters: Countries and time zones within this distance are listed too.
    package func placemark(
        at coordinate: Coordinate, accuracyMeters: Double? = nil, in languages: [Language] = []
    ) -> Placemark? {
        guard let gazetteer else { return nil }
        return gazetteer.placemark(at: coordinate, accuracyMeters: accuracyMeters, using: geocentric)
            .speaking(languages)
    }
}
