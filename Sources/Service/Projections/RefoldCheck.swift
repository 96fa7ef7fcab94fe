import Glibc
import SQLite
import Synchronization
import Whereabouts

/// Folds a projection from zero into a file of its own and compares: what answers must be what the log gives.
enum RefoldCheck {
    enum Result: String, Sendable {
        case equal
        case different
        /// It is being folded from zero anyway.
        case loading
    }

    private static let checks = Atomic<Int64>(0)

    /// - Parameter status: the active generation at one moment; the refold stops at exactly its place.
    static func run(
        _ status: ProjectionHost.Status, kind: ProjectionKind, directory: String, reader: LogReader,
        progress: VerificationProgress = VerificationProgress()
    ) throws(LogError) -> Result {
        if status.isLoading { return .loading }
        // Generations up to 0 are in no catalog: the host removes such a file at its next start if this is cut short. Two
        // checks at once have a file each.
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
            let batch = try reader.events(
                after: refolded.place,
                limit: min(ProjectionHost.loadingBatch, Int(status.place - refolded.place)))
            guard let leaf = batch.last?.leaf else { return .different }
            do throws(SQLiteError) { try refolded.fold(batch.map(\.event), endingWith: leaf) } catch {
                throw .sqlite(error)
            }
        }
        return refolded.fingerprint == status.fingerprint ? .equal : .different
    }

    private static func identity(_ reader: LogReader) throws(FollowedProjection.OpenFailure) -> LogIdentity {
        do throws(LogError) { return try reader.identity() } catch { throw .unusable("\(error)") }
    }
}
