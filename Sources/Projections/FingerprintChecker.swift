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
                for kind in host.kinds where !isStopping {
                    host.compareRows(
                        of: kind, at: { .now }, pauseMicroseconds: 10_000, isStopping: { self.isStopping })
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

    /// Describes the difference between a file's rows and its fingerprint; `nil` if they match, or if the file is being
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

extension ProjectionHost {
    /// Compares the rows of an active projection with its fingerprint, notes the time, and has a projection that differs
    /// folded again. Skips an outdated file, whose rows the folds of this program cannot read.
    ///
    /// Cost: as `problem(_:path:access:pauseMicroseconds:isStopping:)`.
    ///
    /// - Parameters:
    ///   - clock: Gives the time of the comparison.
    ///   - isStopping: Asked after every 4096 rows; `true` ends the comparison without a result.
    func compareRows(
        of kind: ProjectionKind, at clock: () -> Timestamp, pauseMicroseconds: UInt32, isStopping: () -> Bool
    ) {
        guard !outdated.contains(kind.name), let generation = active(kind.name) else { return }
        var isWhole = true
        let problem = FingerprintChecker.problem(
            kind, path: path(of: generation), pauseMicroseconds: pauseMicroseconds,
            isStopping: {
                if isStopping() { isWhole = false }
                return !isWhole
            })
        guard let problem else {
            if isWhole { selfCheck.note(generation, checkedAt: clock()) }
            return
        }
        selfCheck.noteRefold()
        _ = try? perform { (worker) throws(HostError) in worker.healActive(kind.name, problem) }
    }
}
