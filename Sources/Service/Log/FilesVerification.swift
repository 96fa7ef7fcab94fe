import Cryptography
import Glibc
import JSON
import SQLite
import Whereabouts

/// What `GET /v1/verify` checks, from the files alone: on read-only media, and where the damage keeps a service from
/// starting. Writes nothing but what SQLite needs beside a file to read it, and that only where it can.
package enum FilesVerification {
    /// Whether nothing can be written in the directory.
    package static func isReadOnly(_ path: String) -> Bool { access(path, F_OK) == 0 && access(path, W_OK) != 0 }

    /// Verifies log, keys and projections of a directory that no service runs on.
    ///
    /// - Returns: the JSON of `GET /v1/verify`. A log that lacks events that were durable is a problem of the log.
    /// - Throws: ``LogError`` when log or keys cannot be read at all.
    ///
    /// Cost: the time of a refold; the refolded projections are in memory, one at a time.
    package static func run(_ path: String) throws(LogError) -> [UInt8] {
        let directory = try DataDirectory(reading: path)
        guard access(directory.log, F_OK) == 0 else { throw .file(path: directory.log, errno: ENOENT) }
        let logAccess = try readingAccess(directory.log)
        let keys = try directory.openKeys(
            under: try directory.keyEncryptionKey(), access: try readingAccess(directory.keys))
        let verifier = try LogVerifier(path: directory.log, keys: keys, access: logAccess)
        let log = try verifier.verify { _, _ in }
        let reader = try LogReader(path: directory.log, keys: keys, access: logAccess)
        let identity = try? reader.identity()
        let loss = try identity.map { (identity) throws(LogError) in
            try LogWitness.loss(
                identity, reader,
                LogWitness.all(
                    besideLog: directory.log, projections: directory.projections, access: { try? readingAccess($0) }))
        }
        let problem = log.problem?.sentence ?? loss??.description
        var isGood = problem == nil && log.lostParts == 0
        var writer = JSONWriter()
        writer.beginObject()
        writer.object("log") { writer in
            writer.field("events", log.events)
            writer.field("root", log.root.hex)
            writer.field("ok", problem == nil)
            writer.field("number", log.problem?.number ?? loss??.from)
            writer.field("problem", problem)
        }
        writer.object("keys") { writer in
            writer.field("erased", log.erasedParts)
            writer.field("lost", log.lostParts)
        }
        writer.array("projections") { writer in
            for generation in generations(directory) {
                let found = check(generation, directory, reader)
                isGood = isGood && found.rows == "ok" && found.refold == RefoldCheck.Result.equal.rawValue
                writer.beginObject()
                writer.field("name", generation.name)
                writer.field("version", generation.version)
                writer.field("generation", generation.generation)
                writer.field("place", found.place?.number)
                writer.field("fingerprint", found.place?.fingerprint.hex)
                writer.field("rows", found.rows)
                writer.field("refold", found.refold)
                writer.endObject()
            }
        }
        writer.field("ok", isGood)
        writer.endObject()
        return writer.bytes
    }

    /// How a file can be read without being written.
    ///
    /// - Throws: ``LogError/hotJournal(path:)`` when a write-ahead log stands beside it that SQLite cannot read there.
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

    /// The active generations; none when the catalog cannot be read, as it is then made again.
    private static func generations(_ directory: DataDirectory) -> [Catalog.Generation] {
        guard let access = try? readingAccess(directory.catalog),
            let catalog = try? Catalog(path: directory.catalog, reading: access),
            let all = try? catalog.generations()
        else { return [] }
        return all.filter { $0.role == .active }
    }

    private static func check(
        _ generation: Catalog.Generation, _ directory: DataDirectory, _ reader: LogReader
    ) -> (place: FollowedProjection.SavedPlace?, rows: String, refold: String) {
        let path = "\(directory.projections)/\(generation.fileName)"
        guard let kind = ProjectionKind.all.first(where: { $0.name == generation.name }),
            kind.versions.contains(generation.version)
        else { return (nil, "of another version", RefoldCheck.Result.different.rawValue) }
        do throws(LogError) {
            let access = try readingAccess(path)
            let place: FollowedProjection.SavedPlace
            do throws(SQLiteError) {
                place = try FollowedProjection.readPlace(try ProjectionFile(path: path, access: access))
            } catch { throw .sqlite(error) }
            let rows = FingerprintChecker.problem(kind, path: path, access: access) ?? "ok"
            let status = ProjectionHost.Status(
                generation: generation, place: place.number, fingerprint: place.fingerprint,
                isLoading: place.isLoading, holdsErased: false)
            let refold = try RefoldCheck.run(
                status, kind: kind, directory: FollowedProjection.inMemory, reader: reader)
            return (place, rows, refold.rawValue)
        } catch { return (nil, "\(error)", RefoldCheck.Result.different.rawValue) }
    }
}

extension LogError {
    /// Whether the log itself is at fault, so that `verify` has something to say about it.
    package var isOfLog: Bool {
        switch self {
        case .lost, .altered, .damaged, .notALog: true
        case .sqlite(let error): error.isCorruption
        default: false
        }
    }
}
