import Glibc
package import Log
import LogVerifying
package import Projections
package import Replies
import SQLite
import Tables
import Whereabouts

/// Verifies the files of a data directory without a service: on read-only media, or if damage keeps the service from
/// starting. The checks are those of `GET /v1/verify` except for the standing. It writes nothing but the files that
/// SQLite needs for reading, and those only if the directory is writable.
package enum FilesVerification {
    /// Whether the directory exists and is not writable.
    package static func isReadOnly(_ path: String) -> Bool { access(path, F_OK) == 0 && access(path, W_OK) != 0 }

    /// Verifies the log, the keys and the projections of a directory without a running service.
    ///
    /// Cost: the time of a refold, and memory for all refolded projections.
    ///
    /// - Returns: The answer of `GET /v1/verify`. If the log lacks durable events, it has a problem.
    /// - Throws: ``LogError`` if the log or the keys cannot be read at all.
    package static func run(
        _ path: String, progress: VerificationProgress = VerificationProgress()
    ) throws(LogError) -> Verification {
        let directory = try DataDirectory(reading: path)
        guard access(directory.log, F_OK) == 0 else { throw .file(path: directory.log, errno: ENOENT) }
        let logAccess = try readingAccess(directory.log)
        let keys = try directory.openKeys(
            under: try directory.keyEncryptionKey(), access: try readingAccess(directory.keys))
        let verifier = try LogVerifier(path: directory.log, keys: keys, access: logAccess)
        var report = VerificationReport(log: try verifier.verify { progress.report("log", $0, of: $1) })
        let reader = try LogReader(path: directory.log, keys: keys, access: logAccess)
        if let identity = try? reader.identity() {
            report.loss = try LogWitness.loss(
                identity, reader,
                WitnessFile.read(WitnessFile.path(besideLog: directory.log))
                    + ProjectionFile.witnesses(in: directory.projections, access: { try? readingAccess($0) }))
        }
        report.projections = check(generations(directory), directory, reader, progress)
        return report.reply
    }

    /// How SQLite can read a file without writing it.
    ///
    /// - Throws: ``LogError/hotJournal(path:)`` if the file has a write-ahead log that SQLite cannot read there.
    private static func readingAccess(_ path: String) throws(LogError) -> Connection.Access {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        guard isReadOnly(folder) else { return .readOnly }
        var status = stat()
        guard stat(path + "-wal", &status) == 0, status.st_size > 0 else { return .immutable }
        do throws(SQLiteError) {
            try Connection(path: path, access: .readOnly).execute("SELECT count(*) FROM sqlite_schema")
            return .readOnly
        } catch { throw .hotJournal(path: path) }
    }

    /// The active generations; empty if the catalog cannot be read, because a service would then make it again.
    private static func generations(_ directory: DataDirectory) -> [Catalog.Generation] {
        guard let access = try? readingAccess(directory.catalog),
            let catalog = try? Catalog(path: directory.catalog, reading: access),
            let all = try? catalog.generations()
        else { return [] }
        return all.filter { $0.role == .active }
    }

    /// Checks the projection files. A fault becomes part of the result.
    private static func check(
        _ generations: [Catalog.Generation], _ directory: DataDirectory, _ reader: LogReader,
        _ progress: VerificationProgress
    ) -> [VerifiedProjection] {
        var checked: [VerifiedProjection?] = []
        var subjects: [(index: Int, rows: String?, subject: RefoldCheck.Subject)] = []
        for (index, generation) in generations.enumerated() {
            func failed(_ rows: String) {
                checked.append(
                    VerifiedProjection(
                        generation, place: nil, fingerprint: nil, rows: rows,
                        refold: RefoldCheck.Result.different.rawValue))
            }
            guard let kind = ProjectionKind.named(generation.name),
                kind.versions.contains(generation.version)
            else {
                failed("of another version")
                continue
            }
            do throws(LogError) {
                let (status, rows) = try status(generation, kind, directory)
                subjects.append((index, rows, (status, kind)))
                checked.append(nil)
            } catch { failed("\(error)") }
        }
        let outcomes = RefoldCheck.run(
            subjects.map(\.subject), directory: FollowedProjection.inMemory, reader: reader, progress: progress)
        for ((index, rows, subject), outcome) in zip(subjects, outcomes) {
            let status = subject.status
            switch outcome {
            case .success(let refold):
                checked[index] = VerifiedProjection(
                    status.generation, place: status.place, fingerprint: status.fingerprint, rows: rows,
                    refold: refold.rawValue)
            case .failure(let error):
                checked[index] = VerifiedProjection(
                    status.generation, place: nil, fingerprint: nil, rows: "\(error)",
                    refold: RefoldCheck.Result.different.rawValue)
            }
        }
        return checked.compactMap { $0 }
    }

    /// Reads the place of a projection file, and checks its rows.
    private static func status(
        _ generation: Catalog.Generation, _ kind: ProjectionKind, _ directory: DataDirectory
    ) throws(LogError) -> (ProjectionHost.Status, rows: String?) {
        let path = "\(directory.projections)/\(generation.fileName)"
        let access = try readingAccess(path)
        let place: FollowedProjection.SavedPlace
        do throws(SQLiteError) {
            place = try FollowedProjection.readPlace(try ProjectionFile(path: path, access: access))
        } catch { throw .sqlite(error) }
        let status = ProjectionHost.Status(
            generation: generation, place: place.number, fingerprint: place.fingerprint, isLoading: place.isLoading,
            holdsErased: false)
        return (status, FingerprintChecker.problem(kind, path: path, access: access))
    }
}

extension LogError {
    /// Whether the fault is in the log, so that `verify` can report it.
    package var isOfLog: Bool {
        switch self {
        case .lost, .altered, .damaged, .notALog: true
        case .sqlite(let error): error.isCorruption
        default: false
        }
    }
}
