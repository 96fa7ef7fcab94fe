import Glibc
package import Log
import SQLite
import Synchronization
import Whereabouts

/// Compares projections with a refold from zero, in separate files: they must be equal.
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

    /// A projection to compare: the status of its active generation, and its kind. The refold stops exactly at its place.
    package typealias Subject = (status: ProjectionHost.Status, kind: ProjectionKind)
    /// The result of one projection, or why there is none.
    package typealias Outcome = Swift.Result<Result, LogError>

    /// Counts the refolds of this process, to name their files.
    private static let refolds = Atomic<Int64>(0)

    /// Folds the log up to the place of each projection into a separate file, and compares the fingerprints.
    ///
    /// Cost: one scan of the log and a refold of each projection, on two threads, and the size of the projections on the
    /// disk until it ends.
    ///
    /// - Parameter directory: Where the separate files are made, or ``FollowedProjection/inMemory``.
    /// - Returns: An outcome for each, in the same order. A projection that fails does not end the refold of the others.
    package static func run(
        _ subjects: [Subject], directory: String, reader: LogReader,
        progress: VerificationProgress = VerificationProgress()
    ) -> [Outcome] {
        var outcomes = [Outcome?](repeating: nil, count: subjects.count)
        var refolds: [(index: Int, projection: FollowedProjection)] = []
        defer { for (_, projection) in refolds { remove(projection.generation, in: directory) } }
        for (index, subject) in subjects.enumerated() {
            guard !subject.status.isLoading else {
                outcomes[index] = .success(.loading)
                continue
            }
            do throws(FollowedProjection.OpenFailure) {
                refolds.append((index, try opened(subject, directory, reader)))
            } catch {
                switch error {
                case .fault(let error): outcomes[index] = .failure(.sqlite(error))
                case .unusable: outcomes[index] = .success(.different)
                }
            }
        }
        let scan = SharedScan(reader)
        do throws(LogError) {
            while true {
                let due = refolds.filter {
                    outcomes[$0.index] == nil && $0.projection.place < subjects[$0.index].status.place
                }
                guard let place = due.map(\.projection.place).min(),
                    let next = due.map({ subjects[$0.index].status.place }).min(),
                    let end = due.map({ subjects[$0.index].status.place }).max()
                else { break }
                progress.report("projections", place, of: end)
                let batch = try scan.batch(
                    after: place, limit: min(ProjectionHost.loadingBatch, Int(next - place)), for: due.map(\.projection)
                )
                guard let last = batch.last?.number else { break }
                let faults = scan.fold(
                    batch, into: due.map(\.projection), thenReading: min(ProjectionHost.loadingBatch, Int(next - last)))
                for (projection, error) in faults {
                    guard let index = refolds.first(where: { $0.projection === projection })?.index else { continue }
                    outcomes[index] = .failure(.sqlite(error))
                }
            }
        } catch {
            for (index, _) in refolds where outcomes[index] == nil { outcomes[index] = .failure(error) }
        }
        for (index, projection) in refolds where outcomes[index] == nil {
            do throws(SQLiteError) { try projection.commit() } catch {
                outcomes[index] = .failure(.sqlite(error))
                continue
            }
            let status = subjects[index].status
            let isEqual = projection.place == status.place && projection.fingerprint == status.fingerprint
            outcomes[index] = .success(isEqual ? .equal : .different)
        }
        return outcomes.map { $0 ?? .success(.different) }
    }

    /// An empty projection of the same version.
    ///
    /// The catalog has no generations up to 0, so the host removes such a file at its next start if this is interrupted.
    /// Two checks at the same time use different files.
    private static func opened(
        _ subject: Subject, _ directory: String, _ reader: LogReader
    ) throws(FollowedProjection.OpenFailure) -> FollowedProjection {
        let generation = subject.status.generation
        let scratch = Catalog.Generation(
            name: generation.name, version: generation.version,
            generation: -refolds.add(1, ordering: .relaxed).newValue, role: .candidate)
        remove(scratch, in: directory)
        do throws(FollowedProjection.OpenFailure) {
            return try FollowedProjection(
                scratch, kind: subject.kind, directory: directory, log: try identity(reader), reader: reader)
        } catch {
            remove(scratch, in: directory)
            throw error
        }
    }

    private static func remove(_ generation: Catalog.Generation, in directory: String) {
        for suffix in ["", "-wal", "-shm"] { unlink("\(directory)/\(generation.fileName)\(suffix)") }
    }

    private static func identity(_ reader: LogReader) throws(FollowedProjection.OpenFailure) -> LogIdentity {
        do throws(LogError) { return try reader.identity() } catch { throw .unusable("\(error)") }
    }
}
