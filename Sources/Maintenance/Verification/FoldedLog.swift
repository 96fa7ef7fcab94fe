import Glibc
package import Log
import Projections
import SQLite
import Tables
package import Whereabouts

/// The log of a directory and its projections, without HTTP and reactors, for crash tests and measurements.
package final class FoldedLog: Sendable {
    /// The log.
    package let log: EventLog
    private let host: ProjectionHost
    private let directory: DataDirectory

    /// Opens the log and its projections, and starts their threads.
    ///
    /// - Parameters:
    ///   - acceptingLoss: Whether to open a log that lacks durable events, and record the loss.
    ///   - eventsPerRun: The events in a file of the index of fixes; a small number makes it write and merge files
    ///     often.
    package init(
        in directory: DataDirectory, acceptingLoss: Bool = false, eventsPerRun: Int64? = nil,
        clock: @escaping @Sendable () -> Timestamp = { Timestamp.now }
    ) throws(LogError) {
        self.directory = directory
        let keys = try directory.openKeys()
        var identities = FixIdentities.Settings(folder: directory.fixIdentities)
        if let eventsPerRun { identities.eventsPerRun = eventsPerRun }
        log = try EventLog(
            path: directory.log, keys: keys, savedStanding: StandingFile(directory: directory.projections),
            identities: identities, acceptingLoss: acceptingLoss, clock: clock)
        host = try ProjectionHost(
            log: log, directory: directory.projections, catalogPath: directory.catalog, kinds: ProjectionKind.all)
    }

    /// Stops the threads. Acknowledged events are durable.
    package func stop() {
        log.stop()
        host.stop(milliseconds: 60_000)
    }

    /// Waits until every projection has folded the events that are durable now; `false` after a minute.
    package func waitForFolds() -> Bool {
        host.wait(for: log.head, in: ProjectionKind.all.map(\.name), milliseconds: 60_000)
    }

    /// Folds every active projection again from zero and compares the two.
    ///
    /// - Returns: The name of the first projection that differs; `nil` if none does.
    package func firstDifferentProjection() throws(LogError) -> String? {
        guard waitForFolds() else { return "none is at the head" }
        let reader = try log.reader()
        let subjects = host.status.filter { $0.generation.role == .active }.compactMap { status in
            ProjectionKind.named(status.generation.name).map { (status, $0) }
        }
        let outcomes = RefoldCheck.run(subjects, directory: directory.projections, reader: reader)
        for (subject, outcome) in zip(subjects, outcomes) where try outcome.get() != .equal {
            return subject.0.generation.name
        }
        return nil
    }

    /// Folds projections from zero into separate files, with one scan of the log.
    ///
    /// - Parameters:
    ///   - name: The projection; `nil` for all.
    ///   - threads: 1 for the calling thread alone, 2 for a second one beside it.
    /// - Returns: The size of each file in bytes. The files are removed.
    package static func refold(
        _ directory: DataDirectory, only name: String? = nil, threads: Int = 1
    ) throws(LogError) -> [(name: String, bytes: Int)] {
        let keys = try directory.openKeys()
        let reader = try LogReader(path: directory.log, keys: keys)
        let identity = try reader.identity()
        var followed: [FollowedProjection] = []
        func path(_ projection: FollowedProjection) -> String {
            "\(directory.projections)/\(projection.generation.fileName)"
        }
        defer {
            for projection in followed {
                for suffix in ["", "-wal", "-shm"] { unlink(path(projection) + suffix) }
            }
        }
        for kind in ProjectionKind.all where name == nil || kind.name == name {
            // No catalog has a generation 0, as in `RefoldCheck`.
            let scratch = Catalog.Generation(name: kind.name, version: kind.newest, generation: 0, role: .candidate)
            do throws(FollowedProjection.OpenFailure) {
                followed.append(
                    try FollowedProjection(
                        scratch, kind: kind, directory: directory.projections, log: identity, reader: reader))
            } catch {
                switch error {
                case .fault(let error): throw .sqlite(error)
                case .unusable(let why): throw .sqlite(SQLiteError(code: 11, message: why))
                }
            }
        }
        let scan = SharedScan(reader)
        // One thread folds faster what stays in its cache; two meet after each batch, so they need fewer of them.
        let limit = threads > 1 ? ProjectionHost.loadingBatch : ProjectionHost.batch / 2
        var place: Int64 = 0
        while place < identity.size {
            let batch = try scan.batch(after: place, limit: limit, for: followed)
            guard let last = batch.last?.number else { break }
            let left = Int(min(identity.size - last, Int64(limit)))
            let faults =
                threads > 1
                ? scan.fold(batch, into: followed, thenReading: left) : scan.foldInTurn(batch, into: followed)
            if let (_, error) = faults.first { throw .sqlite(error) }
            place = last
        }
        for projection in followed {
            do throws(SQLiteError) { try projection.finishLoading() } catch { throw .sqlite(error) }
        }
        return followed.map { projection in
            var size = 0
            for suffix in ["", "-wal"] {
                var status = stat()
                if stat(path(projection) + suffix, &status) == 0 { size += Int(status.st_size) }
            }
            return (projection.generation.name, size)
        }
    }
}
