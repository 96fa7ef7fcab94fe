import Cryptography
import Glibc
package import Log
package import SQLite
import Synchronization
import Threading
import Whereabouts

/// Keeps every generation of every projection folded up to the head of the log. One thread reads each event once for
/// all of them.
///
/// Other threads read the published state, wait for places, and hand requests to the thread. Answers open the files
/// themselves, read-only.
package final class ProjectionHost: Sendable {
    /// Events in one transaction while following, and while a file is loaded from zero.
    package static let batch = 4096
    /// Larger, because no caller waits for a place in a file that is loaded.
    package static let loadingBatch = 16_384
    /// How old an answer may be while events come in, unless the caller names an event that must be included: the least,
    /// and the most under load.
    private static let restMilliseconds = 50.0...250.0
    /// Under load, the thread rests so many times as long as it folded. More events of a person are then in a transaction,
    /// and it writes the person's rows once.
    private static let restShare = 10.0

    /// The state that the thread shares with others.
    struct Shared {
        /// The place of each active projection.
        var places: [String: Int64] = [:]
        /// The generations as of the last turn.
        var status: [Status] = []
        /// The views for the files of other versions of the program, by projection.
        var lifts: [String: StaticString] = [:]
        /// Raised whenever an active file is replaced.
        var switches = 0
        /// The requests that the thread has not taken yet.
        var requests: [Request] = []
        /// The projections that cannot be read or written now, with the reasons.
        var troubles: [(name: String, sentence: String)] = []
        /// The highest number that a caller waits for.
        var awaited: Int64 = 0
        var isStopping = false
        /// Whether requests no longer wait for events.
        var areCallersReleased = false
    }

    /// The state of a generation, as `projections status` shows it.
    package struct Status: Sendable {
        /// The generation, with its role.
        package let generation: Catalog.Generation
        /// The number of the last event that it has folded.
        package let place: Int64
        /// The sum over its rows at that place.
        package let fingerprint: Fingerprint
        /// Whether it is being folded from zero and cannot answer.
        package let isLoading: Bool
        /// Whether its files may still have rows of an erased person.
        let holdsErased: Bool
        /// Whether another version of the program made it: it answers, and its place no longer moves.
        package var isOutdated = false
        /// While it is folded from zero: events a second. `nil` if that is not known yet.
        package var eventsPerSecond: Double?
        /// While it is folded from zero: the seconds until it is at the head. `nil` if that is not known yet.
        package var secondsLeft: Double?

        /// - Parameters:
        ///   - place: The number of the newest event folded.
        ///   - fingerprint: The sum of the hashes of the rows.
        ///   - isLoading: Whether the file is being folded from zero.
        ///   - holdsErased: Whether its files may still have rows of an erased person.
        package init(
            generation: Catalog.Generation, place: Int64, fingerprint: Fingerprint, isLoading: Bool, holdsErased: Bool
        ) {
            (self.generation, self.place, self.fingerprint) = (generation, place, fingerprint)
            (self.isLoading, self.holdsErased) = (isLoading, holdsErased)
        }
    }

    /// Why a request of the operator cannot be done. The texts are for the operator.
    package enum HostError: Error, Sendable, CustomStringConvertible {
        /// No projection has this name.
        case unknownProjection(String, [String])
        /// The program cannot fold this version of the projection; it can fold the listed ones.
        case unknownVersion(String, [Int64])
        /// There is no generation to activate, roll back to or compare; the text says which and what to do.
        case nothingTo(String)
        /// The generation is being folded from zero.
        case stillLoading(String)
        /// A fault of the disk, or the service is stopping.
        case fault(String)

        /// One sentence for the operator.
        package var description: String {
            switch self {
            case .unknownProjection(let name, let names):
                "There is no projection \(name); there are \(names.joined(separator: ", "))."
            case .unknownVersion(let name, let versions):
                "\(name) has the versions \(versions.map(String.init).joined(separator: ", "))."
            case .nothingTo(let what): what
            case .stillLoading(let name): "The new \(name) is still being folded; try again when status says ready."
            case .fault(let what): what
            }
        }
    }

    /// Work for the thread that owns the files, done between two batches.
    struct Request: Sendable {
        let run: @Sendable (Worker) -> Void
    }

    private let shared = Monitor(Shared())
    private let log: EventLog
    private let directory: String
    /// The reads of projections so far; a rebuild makes room for them.
    private let reads = Atomic<Int>(0)
    /// What the background check has found.
    package let selfCheck = SelfCheckFindings()
    /// The projections that are kept.
    let kinds: [ProjectionKind]
    private let thread = Mutex<WorkerThread?>(nil)

    /// Opens every generation and starts the thread. A damaged catalog or file is folded again.
    ///
    /// - Throws: ``LogError/sqlite(_:)`` if the catalog cannot be opened or made.
    package init(log: EventLog, directory: String, catalogPath: String, kinds: [ProjectionKind])
        throws(LogError)
    {
        self.log = log
        self.directory = directory
        self.kinds = kinds
        let worker: Worker
        do throws(SQLiteError) {
            do throws(SQLiteError) { worker = try Self.worker(self, log, catalogPath, directory, kinds) } catch {
                // Writing a row reveals a damaged index of the catalog.
                guard error.meansDamage || error.isConstraint else { throw error }
                Self.removeCatalog(catalogPath)
                worker = try Self.worker(self, log, catalogPath, directory, kinds)
            }
        } catch { throw .sqlite(error) }
        log.recentFixes.follow()
        let box = UncheckedBox(worker)
        thread.withLock { $0 = WorkerThread { box.value.run() } }
    }

    /// Opens the catalog. A damaged one loses only the roles of generations: everything is folded again.
    private static func catalog(_ path: String, _ directory: String) throws(SQLiteError) -> Catalog {
        do throws(SQLiteError) {
            let catalog = try Catalog(path: path)
            _ = try catalog.generations()
            return catalog
        } catch {
            guard error.meansDamage else { throw error }
            removeCatalog(path)
            return try Catalog(path: path)
        }
    }

    private static func removeCatalog(_ path: String) {
        Diagnostics.note("catalog.lost", "The catalog cannot be read; the projections are folded again.")
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
    }

    private static func worker(
        _ host: ProjectionHost, _ log: EventLog, _ catalogPath: String, _ directory: String, _ kinds: [ProjectionKind]
    ) throws(SQLiteError) -> Worker {
        let worker = Worker(
            host: host, log: log, reader: try LogReader.opened(log), catalog: try catalog(catalogPath, directory),
            directory: directory, kinds: kinds)
        try worker.open()
        return worker
    }

    /// Catches up with the log if that is quick, and closes the files.
    ///
    /// - Returns: `false` if the thread is still working after `milliseconds`. The files survive the end of the
    ///   process.
    @discardableResult
    package func stop(milliseconds: Int) -> Bool {
        shared.change { $0.isStopping = true }
        return thread.withLock { thread in
            defer { thread = nil }
            return thread?.join(milliseconds: milliseconds) ?? true
        }
    }

    /// The number up to which the active projection is folded; 0 while it is folded from zero.
    package func place(of name: String) -> Int64 { shared.read { $0.places[name] ?? 0 } }

    /// Ends the wait of every request for a projection; from now on none waits.
    package func releaseCallers() { shared.change { $0.areCallersReleased = true } }

    /// Waits until the active projections have folded `number`; `false` if time ran out or the service is stopping.
    package func wait(for number: Int64, in names: [String], milliseconds: Int) -> Bool {
        note(awaited: number)
        return shared.wait(milliseconds: milliseconds) { state in
            let isThere = names.allSatisfy { (state.places[$0] ?? 0) >= number }
            return isThere ? true : state.areCallersReleased ? false : nil
        } ?? false
    }

    /// Ends a rest of the thread if it has not folded this number.
    private func note(awaited number: Int64) { shared.change { $0.awaited = max($0.awaited, number) } }

    /// Lets events gather, because a transaction costs as much as ten of them; at most until a caller waits for one
    /// after `place`, or has work to do.
    ///
    /// - Parameters:
    ///   - foldedSeconds: How long the events since the last rest took.
    ///   - due: When the thread has other work, on the monotonic clock.
    func rest(after place: Int64, foldedSeconds: Double, until due: Double?) {
        let milliseconds = max(foldedSeconds * 1000 * Self.restShare, Self.restMilliseconds.lowerBound)
        let now = MonotonicClock.seconds
        let end = now + min(milliseconds, Self.restMilliseconds.upperBound) / 1000
        _ = shared.wait(until: max(now, min(end, due ?? end))) { state in
            state.isStopping || !state.requests.isEmpty || state.awaited > place ? true : nil
        }
    }

    /// Ends a rest of the thread by a request to do nothing.
    func wakeThread() { shared.change { $0.requests.append(Request { _ in }) } }

    /// Waits until no generation, active or not, has data of a person erased at `number`; `false` if time ran out.
    package func waitErased(_ number: Int64, milliseconds: Int) -> Bool {
        note(awaited: number)
        return shared.wait(milliseconds: milliseconds) { state in
            // A file that cannot be opened has no status, and its content is unknown.
            let isEach = kinds.allSatisfy { kind in
                state.status.contains { $0.generation.name == kind.name && $0.generation.role == .active }
            }
            return isEach && state.status.allSatisfy { $0.place >= number && !$0.holdsErased } ? true : nil
        } ?? false
    }

    /// The generations as of the last turn, active or not.
    package var status: [Status] { shared.read { $0.status } }
    /// A sentence for each projection that cannot be read or written now, without personal data.
    package var troubles: [String] { shared.read { $0.troubles.map(\.sentence) } }
    /// The projections of ``troubles``.
    package var failing: Set<String> { shared.read { Set($0.troubles.map(\.name)) } }
    /// Counts the replacements of active files. A reader whose count differs opens its files again.
    package var switches: Int { shared.read { $0.switches } }

    /// The active generation; `nil` while its file is still being loaded.
    func active(_ name: String) -> Catalog.Generation? {
        shared.read { state in
            state.status.first { $0.generation.name == name && $0.generation.role == .active && !$0.isLoading }
        }?.generation
    }

    /// The path of a generation's file.
    func path(of generation: Catalog.Generation) -> String { "\(directory)/\(generation.fileName)" }

    /// The file of the active generation; `nil` while it is still being loaded.
    package func activePath(of name: String) -> String? { active(name).map(path(of:)) }

    /// Opens the active generation for reading, with the columns of the newest tables; `nil` while it is still being
    /// loaded.
    ///
    /// - Returns: `isOutdated` says that another version of the program made the file.
    package func openActive(_ name: String) throws(SQLiteError) -> (file: ProjectionFile, isOutdated: Bool)? {
        let (status, lift) = shared.read { state in
            (state.status.first { $0.generation.name == name && $0.generation.role == .active }, state.lifts[name])
        }
        guard let status, !status.isLoading else { return nil }
        let file = try ProjectionFile(path: path(of: status.generation), access: .readOnly)
        if let lift { try file.connection.lift(lift) }
        return (file, lift != nil)
    }

    /// The projections whose answers come from a file of another version of the program.
    package var outdated: [String] { shared.read { $0.lifts.keys.sorted() } }

    /// Notes that a projection is read, so that a rebuild leaves time for reads.
    package func noteRead() { reads.add(1, ordering: .relaxed) }

    /// The number of ``noteRead()`` so far.
    var readsSoFar: Int { reads.load(ordering: .relaxed) }

    /// Runs `body` on the thread that owns the files, between two batches, and waits for its value.
    package func perform<R: Sendable>(_ body: @escaping @Sendable (Worker) throws(HostError) -> R) throws(HostError)
        -> R
    {
        let box = Monitor<Result<R, HostError>?>(nil)
        let request = Request { worker in
            let result: Result<R, HostError>
            do throws(HostError) { result = .success(try body(worker)) } catch { result = .failure(error) }
            box.change { $0 = result }
        }
        let isTaken = shared.change { state in
            if state.isStopping { return false }
            state.requests.append(request)
            return true
        }
        guard isTaken, let result = box.wait(for: { $0 }) else { throw .fault("The service is stopping.") }
        return try result.get()
    }

    /// For the thread: the requests since the last turn, and whether to stop.
    func takeRequests() -> (requests: [Request], isStopping: Bool) {
        shared.change { state in
            defer { state.requests = [] }
            return (state.requests, state.isStopping)
        }
    }

    /// For the thread: makes the state known, and wakes those who wait for a place.
    func publish(
        _ followed: [Status], _ outdated: [OutdatedFile], _ troubles: [(name: String, sentence: String)], switched: Bool
    ) {
        shared.change { state in
            state.troubles = troubles
            state.status = outdated.map { Status($0) } + followed
            state.lifts = [:]
            state.places = [:]
            for file in outdated {
                state.lifts[file.generation.name] = file.lift
                state.places[file.generation.name] = file.place
            }
            for status in followed where status.generation.role == .active && !status.isLoading {
                state.places[status.generation.name] = status.place
            }
            if switched { state.switches += 1 }
        }
    }
}

extension ProjectionHost.Status {
    init(_ projection: FollowedProjection, head: Int64) {
        let committed = projection.committed
        self.init(
            generation: projection.generation, place: committed.place, fingerprint: committed.fingerprint,
            isLoading: projection.isLoading, holdsErased: projection.holdsErased)
        guard isLoading else { return }
        eventsPerSecond = projection.pace.eventsPerSecond
        secondsLeft = projection.pace.secondsLeft(from: place, to: head)
    }

    fileprivate init(_ file: OutdatedFile) {
        self.init(
            generation: file.generation, place: file.place, fingerprint: file.fingerprint, isLoading: false,
            holdsErased: false)
        isOutdated = true
    }
}

extension LogReader {
    /// A reader of the log; a fault of the log that is not SQLite's becomes a general error.
    package static func opened(_ log: EventLog) throws(SQLiteError) -> LogReader {
        do throws(LogError) { return try LogReader(path: log.path, keys: log.keys) } catch {
            if case .sqlite(let error) = error { throw error }
            throw SQLiteError(code: 1, message: "\(error)")
        }
    }
}
