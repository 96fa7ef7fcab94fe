import Gazetteer
import Geodesy
import Glibc
import SQLite
import Synchronization
import Whereabouts

/// The threads that may block: they read projections, wait for the log and compute answers.
///
/// Callers take turns (``TurnQueue``), so that one who asks for much makes the others wait for one piece of work at a time, and
/// one thread is always left for somebody else.
final class AnswerPool: Sendable {
    typealias Work = @Sendable (AnswerContext) -> Void

    private struct State {
        var waiting = TurnQueue<PrincipalID, Work>(
            mostAtOnce: AnswerPool.threads - 1, mostWaiting: AnswerPool.queueBoundPerCaller)
        var isStopping = false
        /// Whether ``stop(milliseconds:)`` left a thread behind that was still working.
        var isLeftBehind = false
    }

    static let threads = 4
    static let queueBound = 1024
    /// One caller cannot fill the queue.
    static let queueBoundPerCaller = 256

    private let state = Monitor(State())
    private let workers: Mutex<[WorkerThread]>

    init(makeContext: @escaping @Sendable () -> AnswerContext) {
        workers = Mutex([])
        let state = self.state
        workers.withLock { workers in
            for _ in 0..<Self.threads {
                workers.append(
                    WorkerThread {
                        let context = makeContext()
                        while case .work(let caller, let work)? = state.wait(for: Self.next) {
                            work(context)
                            // Another thread may go on with what this caller still has waiting.
                            state.changeForOne { $0.waiting.end(of: caller) }
                        }
                    })
            }
        }
    }

    var queueLength: Int { state.read { $0.waiting.count } }

    /// - Parameter caller: Who takes turns with the others.
    /// - Returns: `false` when too much is waiting already, of this caller or of all.
    func submit(for caller: PrincipalID, _ work: @escaping Work) -> Bool {
        state.changeForOne { state in
            guard !state.isStopping, state.waiting.count < Self.queueBound else { return false }
            return state.waiting.append(work, of: caller)
        }
    }

    /// Ends the threads after they have done the waiting work.
    ///
    /// - Parameter milliseconds: How long to wait for all of them.
    /// - Returns: `false` if some are still working; their answers come too late.
    @discardableResult
    func stop(milliseconds: Int) -> Bool {
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

    private enum Next {
        case work(PrincipalID, Work)
        /// Nothing will come any more.
        case end
    }

    /// What a thread is to do; `nil`: wait on.
    private static func next(_ state: inout State) -> Next? {
        if let (caller, work) = state.waiting.next() { return .work(caller, work) }
        return state.isStopping && state.waiting.isEmpty ? .end : nil
    }
}

/// What one answering thread owns: its connections, its geodesy, its reader of the log.
final class AnswerContext {
    let host: ProjectionHost
    let reader: LogReader
    let gazetteer: Gazetteer?
    let geocentric: GeocentricTransform?
    /// Of ``referenceSystem(_:)``.
    var systems: [String: CoordinateReferenceSystem] = [:]
    private var files: [String: ProjectionFile] = [:]
    private var switches = -1

    init(host: ProjectionHost, reader: LogReader, gazetteer: Gazetteer?) {
        self.host = host
        self.reader = reader
        self.gazetteer = gazetteer
        geocentric = try? GeocentricTransform()
    }

    /// Reads the active generation of a projection in one consistent view, together with the number it is folded up to.
    ///
    /// - Throws: 503 while it is being folded from zero, or when it turned out to be damaged; a refold is then on its way.
    func read<R>(
        _ name: String, _ body: (borrowing Connection) throws(SQLiteError) -> R
    ) throws(Problem) -> (value: R, asOf: Int64) {
        do throws(SQLiteError) {
            let file = try file(name)
            guard let file else { throw SQLiteError(code: 5, message: "loading") }
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

    private func file(_ name: String) throws(SQLiteError) -> ProjectionFile? {
        let newest = host.switches
        if newest != switches {
            files = [:]
            switches = newest
        }
        if let file = files[name] { return file }
        guard let path = host.activePath(of: name) else { return nil }
        let file = try ProjectionFile(path: path, access: .readOnly)
        files[name] = file
        return file
    }

    /// Whether the file that should answer is not there.
    private func isLost(_ name: String) -> Bool {
        host.activePath(of: name).map { access($0, F_OK) != 0 && errno == ENOENT } ?? false
    }

    private func heal(_ name: String, _ why: String) {
        _ = try? host.perform { (worker) throws(ProjectionHost.HostError) in worker.healActive(name, why) }
    }

    /// The time zone of a place by its borders; `nil` without a gazetteer.
    func timeZone(at coordinate: Coordinate) -> String? { gazetteer?.timeZone(at: coordinate) }

    /// The middle of the city, town or village a coordinate lies in, or of the place nearest to it; without a gazetteer,
    /// or where no place is in the country, the middle of the square degree.
    func cityCenter(of coordinate: Coordinate) -> Coordinate {
        if let center = placemark(at: coordinate)?.localityCenter { return center }
        let latitude = min(coordinate.latitude.rounded(.down), 89) + 0.5
        let longitude = min(coordinate.longitude.rounded(.down), 179) + 0.5
        // Both lie inside their ranges by construction, so this cannot fail.
        return (try? Coordinate(latitude: latitude, longitude: longitude)) ?? coordinate
    }

    /// What the gazetteer knows of a coordinate, in the first of some languages that has names; `nil` without a
    /// gazetteer.
    ///
    /// - Parameter accuracyMeters: Other countries and zones so near are told too.
    func placemark(
        at coordinate: Coordinate, accuracyMeters: Double? = nil, in languages: [Language] = []
    ) -> Placemark? {
        guard let gazetteer, let geocentric else { return nil }
        return gazetteer.placemark(at: coordinate, accuracyMeters: accuracyMeters, using: geocentric)
            .speaking(languages)
    }
}
