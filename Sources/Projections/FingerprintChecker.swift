import Glibc
import Log
package import SQLite
import Synchronization
import Threading
import Whereabouts

/// Checks the fingerprint of every active projection in the background after a start, and has a file that does not
/// match folded again. This finds damage that SQLite cannot: changed bytes that are still valid rows.
package final class FingerprintChecker: Sendable {
    private let stopping = Atomic<Bool>(false)
    private let isDone = Monitor(false)
    private let thread = Mutex<WorkerThread?>(nil)

    /// Starts the thread. It pauses between rows, so that it does not delay answers.
    package init(host: ProjectionHost) {
        thread.withLock {
            $0 = WorkerThread { [self] in
                defer { isDone.change { $0 = true } }
                for kind in host.kinds where !isStopping && !host.outdated.contains(kind.name) {
                    guard let path = host.activePath(of: kind.name) else { continue }
                    let generation = host.status.first {
                        $0.generation.name == kind.name && $0.generation.role == .active
                    }?.generation
                    guard
                        let why = Self.problem(
                            kind, path: path, pauseMicroseconds: 10_000, isStopping: { self.isStopping })
                    else {
                        if let generation, !isStopping { host.selfCheck.note(generation, checkedAt: .now) }
                        continue
                    }
                    host.selfCheck.noteRefold()
                    _ = try? host.perform { (worker) throws(ProjectionHost.HostError) in
                        worker.healActive(kind.name, why)
                    }
                }
            }
        }
    }

    private var isStopping: Bool { stopping.load(ordering: .relaxed) }

    /// Waits until every active projection has been checked.
    func waitUntilDone() { _ = isDone.wait { $0 ? true : nil } }

    /// Ends the check, within a few thousand rows.
    package func stop() {
        stopping.store(true, ordering: .relaxed)
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }

    /// The difference between a file's rows and its fingerprint, in words; `nil` if they match, or if the file is being
    /// loaded or cannot be read for another reason than damage.
    ///
    /// Cost: reads the whole file in one transaction, which holds back its checkpoints.
    ///
    /// - Parameter pauseMicroseconds: The pause after every 4096 rows, which take about as long.
    package static func problem(
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
