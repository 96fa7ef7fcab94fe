package import Cryptography
import Glibc
package import Log
package import SQLite
import Threading
package import Whereabouts

/// One generation of a projection with its file open, at its place in the log. Used by one thread at a time.
package final class FollowedProjection {
    /// The row of the catalog. The host changes its role.
    package var generation: Catalog.Generation
    let kind: ProjectionKind
    private let file: ProjectionFile
    /// The tables of ``file``, which keep rows in memory between commits.
    private let projection: any Projection
    /// The log and epoch that the file belongs to.
    private let log: LogIdentity
    /// Up to where the file has folded the log.
    private var reached: Reached
    /// The state to which a rollback returns; `nil` without an open transaction.
    private var kept: Kept?
    /// Whether rows are being loaded into an empty file, whose indexes are made last.
    private(set) var isLoading: Bool
    /// Whether the write-ahead log may still have rows of an erased person.
    private(set) var holdsErased = false
    /// The rate at which it is folded from zero.
    var pace = FoldingPace()
    /// How long the last batch took.
    var lastFoldSeconds = 0.0
    /// The reason why it cannot be written now; `nil` if it can.
    var trouble: ProjectionTrouble?

    private struct Reached {
        /// The number of the last event that the file has folded.
        let place: Int64
        /// The leaf of that event, by which the file is recognized as one of this log; `nil` at place 0.
        let leaf: Digest?
    }

    /// The state of the file at the beginning of a transaction, and the time of that.
    private struct Kept {
        let reached: Reached
        let fingerprint: Fingerprint
        let seconds: Double
    }

    /// A loading file is committed after so many seconds. A page into which several batches put rows is then written once,
    /// also beside traffic, where batches are short. A process that is killed does at most that work again.
    private static let secondsOfACommit = 2.0
    /// About the size of a write-ahead log that is checkpointed at every 1000 pages.
    private static let usualJournalBytes = 8 << 20
    /// The directory of a generation that is kept in memory only.
    package static let inMemory = ":memory:"

    /// Why a file cannot be followed.
    package enum OpenFailure: Error {
        /// The file is damaged, or belongs to another log or epoch. It is deleted and folded again.
        case unusable(String)
        /// The file cannot be used now, for example on a full disk. It is kept.
        case fault(SQLiteError)
    }

    /// Opens or creates the file of `generation`.
    ///
    /// - Throws: ``OpenFailure/unusable(_:)`` if the file is damaged, of another log, epoch, version or form, or at a
    ///   place that is not in the log; ``OpenFailure/fault(_:)`` for any other error.
    package init(
        _ generation: Catalog.Generation, kind: ProjectionKind, directory: String, log: LogIdentity, reader: LogReader
    ) throws(OpenFailure) {
        self.generation = generation
        self.kind = kind
        self.log = log
        do throws(SQLiteError) {
            let path = directory == Self.inMemory ? directory : "\(directory)/\(generation.fileName)"
            file = try ProjectionFile(path: path, access: .readWrite)
            try file.connection.execute(
                """
                PRAGMA journal_mode = WAL;
                PRAGMA synchronous = NORMAL;
                PRAGMA secure_delete = ON;
                """)
            if try !Self.hasPlace(file) {
                try file.connection.begin()
                try file.connection.execute(ProjectionFile.placeSchema)
                try file.connection.execute("INSERT INTO place VALUES (0, x'', x'', 0, 0, x'', x'', 1, x'')")
                try file.connection.execute(kind.schema)
                try Self.write(
                    SavedPlace(
                        number: 0, leaf: nil, logID: log.id, epoch: log.epoch, version: generation.version,
                        form: kind.form, fingerprint: file.fingerprint, isLoading: true), to: file)
                try file.connection.commit()
            }
            let saved = try Self.readPlace(file)
            guard saved.logID == log.id, saved.epoch == log.epoch, saved.version == generation.version,
                saved.form == kind.form
            else { throw SQLiteError.damagedRow }
            reached = Reached(place: saved.number, leaf: saved.leaf)
            isLoading = saved.isLoading
            // The process may have ended between the deletion of an erased person's rows and this.
            _ = try file.connection.checkpoint(.truncate)
            // Only a foreign process can hold the lock, and the other projections wait meanwhile.
            try file.connection.execute("PRAGMA busy_timeout = 100")
            try Self.setCaches(of: file.connection, isLoading: saved.isLoading)
            file.fingerprint = saved.fingerprint
        } catch {
            throw error.meansDamage ? .unusable("\(error)") : .fault(error)
        }
        projection = kind.make(file, generation.version)
        if place > 0 {
            let stored = try? reader.storedEvents(after: place - 1, limit: 1).first
            guard let stored, stored.header.number == place, stored.leaf == leaf else {
                throw .unusable("its place is not in this log")
            }
        }
    }

    /// The number of the last event that the file has folded.
    var place: Int64 { reached.place }
    /// The leaf of that event; `nil` at place 0.
    private var leaf: Digest? { reached.leaf }
    /// The sum over all rows at ``place``, after a `commit()`.
    var fingerprint: Fingerprint { file.fingerprint }
    /// The place and the sum that stay if the process is killed now.
    var committed: (place: Int64, fingerprint: Fingerprint) {
        kept.map { ($0.reached.place, $0.fingerprint) } ?? (place, fingerprint)
    }

    /// Folds the events after ``place`` of a batch in one transaction. While rows are loaded, a transaction has several
    /// batches.
    ///
    /// - Parameter last: The number and leaf of the batch's last event, also if its events lack that one because it is of
    ///   a kind that is passed over.
    /// - Parameter byTime: Whether to settle the derivation after the events of each time, and not once at the end of the
    ///   batch. A row then has the report time of the event that produced it. Report times are outside the fingerprint.
    /// - Throws: ``SQLiteError``. The transaction is then rolled back, everything kept in memory dropped, and ``place`` is
    ///   what it was when the transaction began.
    package func fold(
        _ batch: [RecordedEvent], endingWith last: (number: Int64, leaf: Digest), byTime: Bool = false
    ) throws(SQLiteError) {
        guard last.number > place else { return }
        let first = batch.firstIndex { $0.number > place } ?? batch.count
        let events = first == 0 ? batch : Array(batch[first...])
        let removesRows = events.contains { $0.event.removesRows }
        try begin()
        do throws(SQLiteError) {
            if byTime {
                for group in Self.byTime(events) {
                    try projection.fold(group)
                    try projection.flush()
                }
            } else {
                try projection.fold(events)
            }
        } catch {
            rollBack()
            throw error
        }
        reached = Reached(place: last.number, leaf: last.leaf)
        if !isLoading || removesRows || isDue { try commit() }
        if removesRows {
            projection.forget()
            holdsErased = true
            try overwriteErased()
        }
    }

    /// Begins a transaction unless one is open.
    private func begin() throws(SQLiteError) {
        if kept != nil { return }
        try file.connection.begin()
        kept = Kept(reached: reached, fingerprint: file.fingerprint, seconds: MonotonicClock.seconds)
    }

    /// Whether the transaction has been open for long enough.
    private var isDue: Bool { kept.map { MonotonicClock.seconds - $0.seconds >= Self.secondsOfACommit } ?? false }

    /// Writes the rows kept in memory and the place, and commits the open transaction. Without one, does nothing. On an
    /// error, the transaction is rolled back.
    func commit() throws(SQLiteError) {
        guard kept != nil else { return }
        do throws(SQLiteError) {
            try projection.flush()
            try writePlace(number: place, leaf: leaf, isLoading: isLoading)
            try file.connection.commit()
            kept = nil
        } catch {
            rollBack()
            throw error
        }
    }

    private func rollBack() {
        guard let kept else { return }
        try? file.connection.rollback()
        (reached, file.fingerprint) = (kept.reached, kept.fingerprint)
        self.kept = nil
        projection.forget()
    }

    /// The events in their order, in one group for each time at which the log recorded some.
    private static func byTime(_ events: [RecordedEvent]) -> [[RecordedEvent]] {
        var groups: [[RecordedEvent]] = []
        for event in events {
            if groups.last?.last?.recordedAt == event.recordedAt {
                groups[groups.count - 1].append(event)
            } else {
                groups.append([event])
            }
        }
        return groups
    }

    /// Reads rows by the connection that writes them.
    func read<R>(
        _ body: (borrowing Connection) throws(SQLiteError) -> R
    ) throws(SQLiteError) -> R { try body(file.connection) }

    /// Makes the indexes once all rows are loaded. Answers may then be read.
    package func finishLoading() throws(SQLiteError) {
        guard isLoading else { return }
        try commit()
        try file.connection.begin()
        do throws(SQLiteError) {
            try file.connection.execute(kind.indexes)
            try writePlace(number: place, leaf: leaf, isLoading: false)
            try file.connection.commit()
        } catch {
            try? file.connection.rollback()
            throw error
        }
        isLoading = false
        try Self.setCaches(of: file.connection, isLoading: false)
        // Gives back what the journal took while rows were loaded; a reader delays that to no harm.
        var journal = stat()
        if stat(file.path + "-wal", &journal) == 0, journal.st_size > Self.usualJournalBytes {
            _ = try? file.connection.checkpoint(.truncate)
        }
    }

    /// While rows are loaded, a page that several batches fill is kept in memory and written to the file once.
    private static func setCaches(of connection: borrowing Connection, isLoading: Bool) throws(SQLiteError) {
        if isLoading {
            try connection.execute("PRAGMA wal_autocheckpoint = 8000; PRAGMA cache_size = -65536")
        } else {
            try connection.execute("PRAGMA wal_autocheckpoint = 1000; PRAGMA cache_size = -16384")
        }
    }

    /// Truncates the write-ahead log, so that no erased row remains in it. If a reader is active, this does not wait:
    /// ``holdsErased`` stays set, and this must be called again.
    func overwriteErased() throws(SQLiteError) {
        guard holdsErased else { return }
        try file.connection.execute("PRAGMA busy_timeout = 0")
        defer { try? file.connection.execute("PRAGMA busy_timeout = 100") }
        do throws(SQLiteError) {
            // The checkpoint that waits for no one leaves less to copy while readers are locked out.
            _ = try file.connection.checkpoint(.passive)
            let result = try file.connection.checkpoint(.truncate)
            holdsErased = result.walFrames != result.checkpointed
        } catch {
            guard error.isBusy else { throw error }
        }
    }

    /// Whether the file has the bookkeeping table, and so was made completely.
    private static func hasPlace(_ file: ProjectionFile) throws(SQLiteError) -> Bool {
        try file.connection.cached("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'place'") {
            (statement) throws(SQLiteError) in try statement.step()
        }
    }

    /// The bookkeeping row of a file.
    package struct SavedPlace {
        /// The number of the newest event folded; 0 if there is none.
        package let number: Int64
        let leaf: Digest?
        let logID: Identifier128?
        let epoch: Int64
        let version: Int64
        let form: Digest?
        /// The sum of the hashes of the rows.
        package let fingerprint: Fingerprint
        /// Whether the file is being folded from zero and has no indexes yet.
        package let isLoading: Bool
    }

    /// The bookkeeping row.
    ///
    /// - Throws: ``SQLiteError``, also if the checksum of the row is wrong: a damaged place must not witness the log.
    package static func readPlace(_ file: ProjectionFile) throws(SQLiteError) -> SavedPlace {
        try file.connection.cached(
            "SELECT number, leaf, log_id, epoch, version, form, fingerprint, is_loading, checksum FROM place"
        ) { (statement) throws(SQLiteError) in
            guard try statement.step(), let fingerprint = Fingerprint(bytes: statement.bytes(at: 6)) else {
                throw SQLiteError.damagedRow
            }
            let saved = SavedPlace(
                number: statement.int(at: 0), leaf: Digest(bytes: statement.bytes(at: 1)),
                logID: statement.withBytes(at: 2) { Identifier128(bytes: $0) }, epoch: statement.int(at: 3),
                version: statement.int(at: 4), form: Digest(bytes: statement.bytes(at: 5)), fingerprint: fingerprint,
                isLoading: statement.int(at: 7) != 0)
            guard saved.number >= 0, statement.bytes(at: 8) == checksum(saved, file.hasher) else {
                throw SQLiteError.damagedRow
            }
            return saved
        }
    }

    /// Writes the place, the fingerprint and the checksum in the transaction of the rows.
    private func writePlace(number: Int64, leaf: Digest?, isLoading: Bool) throws(SQLiteError) {
        try Self.write(
            SavedPlace(
                number: number, leaf: leaf, logID: log.id, epoch: log.epoch, version: generation.version,
                form: kind.form, fingerprint: file.fingerprint, isLoading: isLoading), to: file)
    }

    /// Writes the bookkeeping row.
    static func write(_ place: SavedPlace, to file: ProjectionFile) throws(SQLiteError) {
        try file.connection.cached(
            """
            UPDATE place
            SET number = ?, leaf = ?, log_id = ?, epoch = ?, version = ?, form = ?, fingerprint = ?, is_loading = ?,
                checksum = ?
            """
        ) { (statement) throws(SQLiteError) in
            try statement.bind(place.number, at: 1)
            try statement.bind(place.leaf?.bytes ?? [], at: 2)
            try statement.bind(place.logID?.bytes ?? [], at: 3)
            try statement.bind(place.epoch, at: 4)
            try statement.bind(place.version, at: 5)
            try statement.bind(place.form?.bytes ?? [], at: 6)
            try statement.bind(place.fingerprint.bytes, at: 7)
            try statement.bind(place.isLoading ? 1 : 0, at: 8)
            try statement.bind(checksum(place, file.hasher), at: 9)
            try statement.run()
        }
    }

    /// The first 128 bits of SHA-256 over the row, as ``ProjectionFile`` specifies.
    private static func checksum(_ place: SavedPlace, _ hasher: RowHasher) -> [UInt8] {
        hasher.hash { writer in
            writer.array(9)
            writer.text("place")
            writer.integer(place.number)
            writer.byteString(place.leaf?.bytes ?? [])
            writer.byteString(place.logID?.bytes ?? [])
            writer.integer(place.epoch)
            writer.integer(place.version)
            writer.byteString(place.form?.bytes ?? [])
            writer.byteString(place.fingerprint.bytes)
            writer.bool(place.isLoading)
        }.bytes
    }
}

/// The reason why a projection cannot be opened or written, and the time of the next try, after growing pauses.
struct ProjectionTrouble {
    /// The reason, for the operator.
    let sentence: String
    /// The pause until the next try.
    let pauseSeconds: Double
    /// On the monotonic clock.
    let retrySeconds: Double

    private static let shortestPauseSeconds = 0.5
    private static let longestPauseSeconds = 30.0

    /// - Parameter earlier: The trouble before; the pause is then twice as long, at most 30 s.
    init(_ sentence: String, after earlier: ProjectionTrouble?) {
        self.sentence = sentence
        pauseSeconds = earlier.map { min($0.pauseSeconds * 2, Self.longestPauseSeconds) } ?? Self.shortestPauseSeconds
        retrySeconds = MonotonicClock.seconds + pauseSeconds
    }

    /// Whether the next try may be made.
    var isDue: Bool { retrySeconds <= MonotonicClock.seconds }
}

extension Event {
    /// Whether rows about a person must not stay anywhere in a file after it.
    fileprivate var removesRows: Bool {
        switch self {
        case .personErased, .retentionApplied: true
        default: false
        }
    }
}
