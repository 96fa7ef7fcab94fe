import Cryptography
import Glibc
import Log
import SQLite
import Synchronization
import Threading
import Whereabouts

/// Keeps every generation of every projection folded up to the head of the log. One thread reads each event once for
/// all of them.
final class ProjectionHost: Sendable {
    /// Events in one transaction while following, and while a file is loaded from zero.
    static let batch = 4096
    static let loadingBatch = 16_384
    /// How old an answer may be while events come in, unless the caller names an event that must be included.
    private static let restMilliseconds = 50

    struct Shared {
        /// The place of each active projection.
        var places: [String: Int64] = [:]
        var status: [Status] = []
        /// Raised whenever an active file is replaced.
        var switches = 0
        var requests: [Request] = []
        /// The projections that cannot be read or written now, with the reasons.
        var troubles: [(name: String, sentence: String)] = []
        /// The highest number that a caller waits for.
        var awaited: Int64 = 0
        var isStopping = false
        /// Whether requests no longer wait for events.
        var areCallersReleased = false
    }

    /// What `projections status` shows.
    struct Status: Sendable {
        let generation: Catalog.Generation
        let place: Int64
        let fingerprint: Fingerprint
        let isLoading: Bool
        /// Whether its files may still have rows of an erased person.
        let holdsErased: Bool
    }

    enum HostError: Error, Sendable, CustomStringConvertible {
        case unknownProjection(String)
        case unknownVersion(String, [Int64])
        case nothingTo(String)
        case stillLoading(String)
        case fault(String)

        var description: String {
            switch self {
            case .unknownProjection(let name):
                "There is no projection \(name); there are \(ProjectionKind.all.map(\.name).joined(separator: ", "))."
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
    private let kinds: [ProjectionKind]
    private let thread = Mutex<WorkerThread?>(nil)

    init(log: EventLog, directory: String, catalogPath: String, kinds: [ProjectionKind] = ProjectionKind.all)
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
        let box = UncheckedBox(worker)
        thread.withLock { $0 = WorkerThread { box.value.run() } }
    }

    /// A damaged catalog loses only the roles of generations: everything is folded again.
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
    /// - Returns: `false` if the thread is still working after `milliseconds`. The files survive the end of the process.
    @discardableResult
    func stop(milliseconds: Int) -> Bool {
        shared.change { $0.isStopping = true }
        return thread.withLock { thread in
            defer { thread = nil }
            return thread?.join(milliseconds: milliseconds) ?? true
        }
    }

    /// The number up to which the active projection is folded.
    func place(of name: String) -> Int64 { shared.read { $0.places[name] ?? 0 } }

    /// Ends the wait of every request for a projection; from now on none waits.
    func releaseCallers() { shared.change { $0.areCallersReleased = true } }

    /// Waits until the active projections have folded `number`; `false` if time ran out or the service is stopping.
    func wait(for number: Int64, in names: [String], milliseconds: Int) -> Bool {
        note(awaited: number)
        return shared.wait(milliseconds: milliseconds) { state in
            let isThere = names.allSatisfy { (state.places[$0] ?? 0) >= number }
            return isThere ? true : state.areCallersReleased ? false : nil
        } ?? false
    }

    private func note(awaited number: Int64) { shared.change { $0.awaited = max($0.awaited, number) } }

    /// Lets events gather, because a transaction costs as much as ten of them; at most until a caller waits for one
    /// after `place`, or has work to do.
    func rest(after place: Int64) {
        _ = shared.wait(milliseconds: Self.restMilliseconds) { state in
            state.isStopping || !state.requests.isEmpty || state.awaited > place ? true : nil
        }
    }

    /// Waits until no generation, active or not, has data of a person erased at `number`; `false` if time ran out.
    func waitErased(_ number: Int64, milliseconds: Int) -> Bool {
        note(awaited: number)
        return shared.wait(milliseconds: milliseconds) { state in
            // A file that cannot be opened has no status, and its content is unknown.
            let isEach = kinds.allSatisfy { kind in
                state.status.contains { $0.generation.name == kind.name && $0.generation.role == .active }
            }
            return isEach && state.status.allSatisfy { $0.place >= number && !$0.holdsErased } ? true : nil
        } ?? false
    }

    var status: [Status] { shared.read { $0.status } }
    /// A sentence for each projection that cannot be read or written now, without personal data.
    var troubles: [String] { shared.read { $0.troubles.map(\.sentence) } }
    /// The projections of ``troubles``.
    var failing: Set<String> { shared.read { Set($0.troubles.map(\.name)) } }
    var switches: Int { shared.read { $0.switches } }

    /// The file of the active generation; `nil` while it is still being loaded.
    func activePath(of name: String) -> String? {
        shared.read { state in
            state.status.first { $0.generation.name == name && $0.generation.role == .active && !$0.isLoading }
        }.map { "\(directory)/\($0.generation.fileName)" }
    }

    /// Runs `body` on the thread that owns the files, between two batches, and waits for its value.
    func perform<R: Sendable>(_ body: @escaping @Sendable (Worker) throws(HostError) -> R) throws(HostError) -> R {
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

    func takeRequests() -> (requests: [Request], isStopping: Bool) {
        shared.change { state in
            defer { state.requests = [] }
            return (state.requests, state.isStopping)
        }
    }

    func publish(_ followed: [FollowedProjection], _ troubles: [(name: String, sentence: String)], switched: Bool) {
        shared.change { state in
            state.troubles = troubles
            state.status = followed.map {
                Status(
                    generation: $0.generation, place: $0.place, fingerprint: $0.fingerprint, isLoading: $0.isLoading,
                    holdsErased: $0.holdsErased)
            }
            state.places = [:]
            for projection in followed where projection.generation.role == .active && !projection.isLoading {
                state.places[projection.generation.name] = projection.place
            }
            if switched { state.switches += 1 }
        }
    }
}

/// Passes a value from the thread that made it to the one that will own it.
struct UncheckedBox<Value>: @unchecked Sendable {
    // The maker does not use the value again.
    let value: Value
    init(_ value: Value) { self.value = value }
}

extension LogReader {
    static func opened(_ log: EventLog) throws(SQLiteError) -> LogReader {
        do throws(LogError) { return try LogReader(path: log.path, keys: log.keys) } catch {
            if case .sqlite(let error) = error { throw error }
            throw SQLiteError(code: 1, message: "\(error)")
        }
    }
}
