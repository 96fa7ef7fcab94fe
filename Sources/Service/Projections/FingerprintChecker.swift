import Glibc
import SQLite
import Synchronization
import Whereabouts

/// After a start, counts every active projection's rows again in the background: a file whose rows are not the ones its
/// fingerprint was kept for is folded again. Finds what SQLite cannot: bytes that changed and still make sense.
final class FingerprintChecker: Sendable {
    private let stopping = Atomic<Bool>(false)
    private let isDone = Monitor(false)
    private let thread = Mutex<WorkerThread?>(nil)

    init(host: ProjectionHost) {
        thread.withLock {
            $0 = WorkerThread { [self] in
                defer { isDone.change { $0 = true } }
                for kind in ProjectionKind.all where !isStopping {
                    guard let path = host.activePath(of: kind.name) else { continue }
                    guard
                        let why = Self.problem(
                            kind, path: path, pauseMicroseconds: 10_000, isStopping: { self.isStopping })
                    else { continue }
                    _ = try? host.perform { (worker) throws(ProjectionHost.HostError) in
                        worker.healActive(kind.name, why)
                    }
                }
            }
        }
    }

    private var isStopping: Bool { stopping.load(ordering: .relaxed) }

    /// Waits until every active projection has been looked at.
    func waitUntilDone() { _ = isDone.wait { $0 ? true : nil } }

    func stop() {
        stopping.store(true, ordering: .relaxed)
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }

    /// What is wrong with a file, in words; `nil` when its rows give its fingerprint.
    ///
    /// - Parameter pauseMicroseconds: after every 4096 rows, which take about as many.
    static func problem(
        _ kind: ProjectionKind, path: String, access: Connection.Access = .readOnly, pauseMicroseconds: UInt32 = 0,
        isStopping: () -> Bool = { false }
    ) -> String? {
        do throws(SQLiteError) {
            let file = try ProjectionFile(path: path, access: access)
            return try file.connection.snapshot { () throws(SQLiteError) in
                let saved = try FollowedProjection.readPlace(file)
                if saved.isLoading { return nil }
                let projection = kind.make(file, saved.version)
                var sum = Fingerprint()
                var rows = 0
                try projection.eachRow { (row) throws(SQLiteError) in
                    sum.add(row.hash)
                    rows += 1
                    guard rows % 4096 == 0 else { return }
                    if isStopping() { throw SQLiteError(code: 9, message: "stopping") }
                    usleep(pauseMicroseconds)
                }
                return sum == saved.fingerprint ? nil : "its rows do not give its fingerprint"
            }
        } catch {
            return error.meansDamage ? "\(error)" : nil
        }
    }
}
