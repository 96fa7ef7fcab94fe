import Glibc
package import Log
import SQLite
import Synchronization
import Whereabouts

/// Compares a projection with a refold from zero, in a separate file: the two must be equal.
package enum RefoldCheck {
    /// The outcome, as `verify` shows it.
    package enum Result: String, Sendable {
        /// Both have the same fingerprint.
        case equal
        /// They differ: the file is damaged, or a fold depends on how events came.
        case different
        /// The projection is being folded from zero already.
        case loading
    }

    /// Counts the checks of this process, to name their files.
    private static let checks = Atomic<Int64>(0)

    /// Folds the log up to the status' place into a separate file, and compares the fingerprints.
    ///
    /// Cost: a refold in time, and the size of the projection on the disk until it ends.
    ///
    /// - Parameter status: The status of the active generation. The refold stops exactly at its place.
    /// - Throws: ``LogError`` if the log or the separate file cannot be read or written.
    package static func run(
        _ status: ProjectionHost.Status, kind: ProjectionKind, directory: String, reader: LogReader,
        progress: VerificationProgress = VerificationProgress()
    ) throws(LogError) -> Result {
        if status.isLoading { return .loading }
        // The catalog has no generations up to 0, so the host removes such a file at its next start if this is
        // interrupted. Two checks at the same time use different files.
        let scratch = Catalog.Generation(
            name: status.generation.name, version: status.generation.version,
            generation: -checks.add(1, ordering: .relaxed).newValue, role: .candidate)
        func remove() {
            for suffix in ["", "-wal", "-shm"] { unlink("\(directory)/\(scratch.fileName)\(suffix)") }
        }
        remove()
        defer { remove() }
        let refolded: FollowedProjection
        do throws(FollowedProjection.OpenFailure) {
            refolded = try FollowedProjection(
                scratch, kind: kind, directory: directory, log: try identity(reader), reader: reader)
        } catch {
            switch error {
            case .fault(let error): throw .sqlite(error)
            case .unusable: return .different
            }
        }
        while refolded.place < status.place {
            progress.report("projection \(status.generation.name)", refolded.place, of: status.place)
            let (events, leaf) = try reader.batch(
                after: refolded.place,
                limit: min(ProjectionHost.loadingBatch, Int(status.place - refolded.place)))
            guard let leaf else { return .different }
            do throws(SQLiteError) { try refolded.fold(events, endingWith: leaf) } catch {
                throw .sqlite(error)
            }
        }
        return refolded.fingerprint == status.fingerprint ? .equal : .different
    }

    private static func identity(_ reader: LogReader) throws(FollowedProjection.OpenFailure) -> LogIdentity {
        do throws(LogError) { return try reader.identity() } catch { throw .unusable("\(error)") }
    }
}
