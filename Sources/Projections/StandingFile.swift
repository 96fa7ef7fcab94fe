import Cryptography
import Glibc
import Log
import SQLite
import Synchronization
import Threading
import Whereabouts

// `projections/standing-vN-1.sqlite`: `entry(kind, id, body)` has the entries of `Standing.forEachEntry` but the
// versions of the streams, `head(stream, number, version, leaf)` the newest event of each stream, and the one row
// `place(number, leaf, log_id, epoch, fingerprint)` the log and the number up to which they are folded. `fingerprint`
// is the sum of the hashes of the entries and of the place (`Fingerprint.swift`), each a CBOR array:
//
//     ["entry", kind, id, body]   ["place", number, leaf, log id, epoch]
//
// The heads are not in it: each is compared with the log when the file is loaded.

/// The standing between two starts. The file is a cache: if it is missing, damaged, of another log or version, or
/// disagrees with the log, the standing is refolded from the log.
package struct StandingFile: SavedStanding {
    /// Raised with every change of the fold or of the entries' bytes.
    package static let version = 25

    /// The directory of the projections, and the file in it.
    let directory, path: String
    /// The known content of the file.
    private let known = Known()

    /// The fingerprint of the file's content since the last load or save; `nil` if it is unknown. The
    /// changes that a standing knows of are those since then.
    private final class Known: Sendable {
        private let fingerprint = Mutex<Fingerprint?>(nil)
        var value: Fingerprint? {
            get { fingerprint.withLock { $0 } }
            set { fingerprint.withLock { $0 = newValue } }
        }
    }

    /// The saved standing in the folder of the projections.
    package init(directory: String) {
        self.directory = directory
        path = "\(directory)/standing-v\(Self.version)-1.sqlite"
    }

    func witnesses() -> [LogWitness] { ProjectionFile.witnesses(in: directory) }

    /// The saved standing and the newest event of each stream if they belong to `log`, else empty ones.
    ///
    /// The fingerprint finds damage. The newest event of each stream is compared with its row in the log, because the
    /// next event of the stream continues its version and leaf. Meanwhile other threads load the devices and the rest.
    ///
    /// Cost: about 1.5 µs of processor time per entry and 0.5 µs per stream and per event, on three threads.
    ///
    /// - Throws: ``LogError/lost(_:)`` if the file is valid and has events that the log lacks.
    func load(log: LogIdentity, reader: LogReader) throws(LogError) -> (Standing, heads: StreamHeads) {
        guard access(path, F_OK) == 0 else { return (Standing(), [:]) }
        let saved: Saved?
        do throws(SQLiteError) { saved = try read(log: log, reader) } catch {
            Diagnostics.note("standing.refold", "The saved standing cannot be read (\(error)); it is folded again.")
            remove()
            return (Standing(), [:])
        }
        if let saved {
            try LogWitness(log: log.id, epoch: log.epoch, number: saved.place, leaf: saved.leaf).check(log, reader)
            if try saved.isInLog.get(), let standing = saved.standing {
                known.value = saved.fingerprint
                return (standing, saved.heads)
            }
            Diagnostics.note("standing.refold", "The saved standing does not agree with the log; it is folded again.")
        }
        remove()
        return (Standing(), [:])
    }

    private struct Saved {
        let place: Int64
        let leaf: Digest?
        let fingerprint: Fingerprint
        /// `nil` if an entry is not what this version writes.
        let standing: Standing?
        let heads: StreamHeads
        /// Whether the heads agree with the log.
        let isInLog: Result<Bool, LogError>
    }

    /// Whether the log has the events that are listed as the newest of their streams, and no stream is missing: each
    /// event is in one stream, so the versions of all streams add up to the number of events.
    private static func isInLog(_ heads: StreamHeads, upTo place: Int64, _ reader: LogReader) throws(LogError) -> Bool {
        guard heads.events == place else { return false }
        return try reader.holds(heads, upTo: place)
    }

    /// The content of the file; `nil` if it belongs to another log.
    private func read(log: LogIdentity, _ reader: LogReader) throws(SQLiteError) -> Saved? {
        let connection = try Connection(path: path, access: .readOnly)
        let hasher = RowHasher()
        var sum = Fingerprint()
        let place = try connection.cached("SELECT number, leaf, log_id, epoch, fingerprint FROM place") {
            (statement) throws(SQLiteError) -> (number: Int64, leaf: Digest?, fingerprint: Fingerprint)? in
            guard try statement.step(), let fingerprint = Fingerprint(bytes: statement.bytes(at: 4)),
                let id = statement.withBytes(at: 2, { Identifier128(bytes: $0) })
            else { throw SQLiteError.damagedRow }
            let number = statement.int(at: 0)
            let leaf = Digest(bytes: statement.bytes(at: 1))
            guard id == log.id, statement.int(at: 3) == log.epoch else { return nil }
            sum.add(hasher.hash(place: number, leaf, log))
            return (number, leaf, fingerprint)
        }
        guard let place else { return nil }
        let device = StandingEntry.Kind.device.rawValue
        let devices = Loading(path, [device...device])
        let others = Loading(path, [.min...device - 1, device + 1 ... .max])
        let found: Result<StreamHeads, SQLiteError>
        var isInLog: Result<Bool, LogError> = .success(false)
        do throws(SQLiteError) {
            let heads = try heads(connection)
            do throws(LogError) {
                isInLog = .success(try Self.isInLog(heads, upTo: place.number, reader))
            } catch { isInLog = .failure(error) }
            found = .success(heads)
        } catch { found = .failure(error) }
        let loaded = (devices: devices.finish(), others: others.finish())
        let heads = try found.get()
        let (loadedDevices, loadedOthers) = (try loaded.devices.get(), try loaded.others.get())
        sum.add(loadedDevices.sum)
        sum.add(loadedOthers.sum)
        guard sum == place.fingerprint else {
            throw SQLiteError(code: 11, message: "its rows do not give its fingerprint")
        }
        var standing = loadedOthers.standing
        if let devices = loadedDevices.standing { standing?.takeDevices(of: devices) } else { standing = nil }
        standing?.finishLoading(place: place.number, heads: heads)
        return Saved(
            place: place.number, leaf: place.leaf, fingerprint: place.fingerprint, standing: standing, heads: heads,
            isInLog: isInLog)
    }

    private func heads(_ connection: borrowing Connection) throws(SQLiteError) -> StreamHeads {
        var heads = StreamHeads()
        try connection.cached("SELECT stream, number, version, leaf FROM head ORDER BY stream") {
            (statement) throws(SQLiteError) in
            while try statement.step() {
                guard let leaf = statement.withBytes(at: 3, { Digest(bytes: $0) }) else {
                    throw SQLiteError.damagedRow
                }
                let stream = StreamID(rawValue: statement.int(at: 0))
                let head = StreamHead(number: statement.int(at: 1), version: statement.int(at: 2), leaf: leaf)
                heads[stream] = head
            }
        }
        return heads
    }

    /// Saves this standing in the file. If the file is known to have an earlier one, only the changes are written; the
    /// caller then has the standing forget its changes.
    ///
    /// Cost: about 3 µs per entry and per stream, of all or of those that changed.
    func save(_ standing: Standing, _ heads: StreamHeads, log: LogIdentity) throws(LogError) {
        let before = known.value
        known.value = nil
        do throws(SQLiteError) {
            let connection = try Connection(path: path, access: .readWrite)
            // Appending waits for the save, so the save does not wait for another process that holds the file.
            try connection.execute("PRAGMA busy_timeout = 100")
            try connection.execute(
                """
                PRAGMA journal_mode = WAL;
                PRAGMA synchronous = NORMAL;
                PRAGMA secure_delete = ON;
                CREATE TABLE IF NOT EXISTS place (
                    number INTEGER NOT NULL, leaf BLOB NOT NULL, log_id BLOB NOT NULL, epoch INTEGER NOT NULL,
                    fingerprint BLOB NOT NULL
                ) STRICT;
                CREATE TABLE IF NOT EXISTS entry (
                    kind INTEGER NOT NULL, id INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (kind, id)
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE IF NOT EXISTS head (
                    stream INTEGER PRIMARY KEY, number INTEGER NOT NULL, version INTEGER NOT NULL, leaf BLOB NOT NULL
                ) STRICT;
                """)
            let writer = StandingWriter(connection)
            try writer.connection.begin()
            if let before, try writer.place() == before {
                try writer.update(standing, heads, log, from: before)
            } else {
                try writer.connection.execute("DELETE FROM entry; DELETE FROM head; DELETE FROM place;")
                try writer.write(standing, heads, log)
            }
            try writer.connection.commit()
            // An erased person's entries must not linger in the write-ahead log.
            _ = try writer.connection.checkpoint(.truncate)
            known.value = writer.sum
        } catch {
            if error.isCorruption {
                remove()
                return
            }
            throw .sqlite(error)
        }
    }

    /// Removes the file; `false` if it still exists.
    @discardableResult
    func remove() -> Bool {
        known.value = nil
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
        return access(path, F_OK) != 0
    }
}

/// Loads the entries of some kinds on a separate thread.
private final class Loading: Sendable {
    struct Loaded: Sendable {
        /// `nil` if an entry is not what this version writes.
        var standing: Standing?
        /// Of these entries.
        var sum = Fingerprint()
    }

    private let result: Mutex<Result<Loaded, SQLiteError>>
    private let thread: Mutex<WorkerThread?>

    /// Starts to load the entries of these kinds, one range after the other; ``finish()`` must follow.
    init(_ path: String, _ kinds: [ClosedRange<Int64>]) {
        result = Mutex(.failure(SQLiteError.damagedRow))
        thread = Mutex(nil)
        let started = WorkerThread { [self] in
            let loaded: Result<Loaded, SQLiteError>
            do throws(SQLiteError) { loaded = .success(try Self.load(path, kinds)) } catch {
                loaded = .failure(error)
            }
            result.withLock { $0 = loaded }
        }
        thread.withLock { $0 = started }
    }

    /// Waits for the end.
    func finish() -> Result<Loaded, SQLiteError> {
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
        return result.withLock { $0 }
    }

    private static func load(
        _ path: String, _ kinds: [ClosedRange<Int64>]
    ) throws(SQLiteError) -> Loaded {
        let connection = try Connection(path: path, access: .readOnly)
        let hasher = RowHasher()
        var standing = Standing()
        func count(_ kind: StandingEntry.Kind) throws(SQLiteError) -> Int {
            guard kinds.contains(where: { $0.contains(kind.rawValue) }) else { return 0 }
            return try connection.cached("SELECT count(*) FROM entry WHERE kind = ?") {
                (statement) throws(SQLiteError) in
                try statement.bind(kind.rawValue, at: 1)
                return try statement.step() ? Int(statement.int(at: 0)) : 0
            }
        }
        standing.reserve(persons: try count(.person), devices: try count(.device))
        var sum = Fingerprint()
        var isGood = true
        for range in kinds {
            try connection.cached("SELECT kind, id, body FROM entry WHERE kind BETWEEN ? AND ? ORDER BY kind, id") {
                (statement) throws(SQLiteError) in
                try statement.bind(range.lowerBound, at: 1)
                try statement.bind(range.upperBound, at: 2)
                while try statement.step() {
                    guard let kind = StandingEntry.Kind(rawValue: statement.int(at: 0)) else {
                        throw SQLiteError.damagedRow
                    }
                    let id = statement.int(at: 1)
                    statement.withBytes(at: 2) { body in
                        sum.add(hasher.hash(kind, id, body))
                        // An undecodable entry is noted only if the fingerprint is right; otherwise the file is
                        // damaged.
                        do throws(CBORError) { try standing.load(kind, id: id, body: body) } catch { isGood = false }
                    }
                }
            }
        }
        return Loaded(standing: isGood ? standing : nil, sum: sum)
    }
}

/// Writes the rows of a standing and sums up their hashes.
private final class StandingWriter {
    let connection: Connection
    private let hasher = RowHasher()
    private(set) var sum = Fingerprint()

    init(_ connection: consuming Connection) { self.connection = connection }

    /// The fingerprint of the file's content.
    func place() throws(SQLiteError) -> Fingerprint? {
        try connection.cached("SELECT fingerprint FROM place") { (statement) throws(SQLiteError) in
            try statement.step() ? Fingerprint(bytes: statement.bytes(at: 0)) : nil
        }
    }

    /// Writes everything into empty tables.
    func write(
        _ standing: Standing, _ heads: StreamHeads, _ log: LogIdentity
    ) throws(SQLiteError) {
        try standing.forEachEntry { (entry: StandingEntry) throws(SQLiteError) in
            // The heads have them.
            if entry.kind != .version { try insert(entry) }
        }
        for (stream, head) in heads { try insert(head, of: stream) }
        try writePlace(standing, heads, log)
    }

    /// Writes the changes since the tables had rows of this fingerprint.
    func update(
        _ standing: Standing, _ heads: StreamHeads, _ log: LogIdentity, from before: Fingerprint
    ) throws(SQLiteError) {
        sum = before
        try standing.forEachChange { (kind, id, body) throws(SQLiteError) in
            let old = try connection.cached("SELECT body FROM entry WHERE kind = ? AND id = ?") {
                (statement) throws(SQLiteError) -> [UInt8]? in
                try statement.bind(kind.rawValue, at: 1)
                try statement.bind(id, at: 2)
                return try statement.step() ? statement.bytes(at: 0) : nil
            }
            try replace(
                old.map { StandingEntry(kind: kind, id: id, body: $0) },
                by: body.map { StandingEntry(kind: kind, id: id, body: $0) })
        }
        var left: [StandingEntry.Kind: [Int64: [UInt8]]] = [:]
        for kind in Standing.furtherKinds { left[kind] = try bodies(of: kind) }
        try standing.forEachFurtherEntry { (entry: StandingEntry) throws(SQLiteError) in
            let old = left[entry.kind]?.removeValue(forKey: entry.id)
            try replace(old.map { StandingEntry(kind: entry.kind, id: entry.id, body: $0) }, by: entry)
        }
        for (kind, bodies) in left {
            for (id, body) in bodies { try replace(StandingEntry(kind: kind, id: id, body: body), by: nil) }
        }
        for stream in standing.changedStreams {
            if let head = heads[stream] { try insert(head, of: stream) } else { try remove(headOf: stream) }
        }
        try removePlace(log)
        try writePlace(standing, heads, log)
    }

    private func bodies(of kind: StandingEntry.Kind) throws(SQLiteError) -> [Int64: [UInt8]] {
        try connection.cached("SELECT id, body FROM entry WHERE kind = ?") { (statement) throws(SQLiteError) in
            try statement.bind(kind.rawValue, at: 1)
            var bodies: [Int64: [UInt8]] = [:]
            while try statement.step() { bodies[statement.int(at: 0)] = statement.bytes(at: 1) }
            return bodies
        }
    }

    private func replace(_ old: StandingEntry?, by new: StandingEntry?) throws(SQLiteError) {
        if old == new { return }
        if let old {
            try connection.cached("DELETE FROM entry WHERE kind = ? AND id = ?") { (statement) throws(SQLiteError) in
                try statement.bind(old.kind.rawValue, at: 1)
                try statement.bind(old.id, at: 2)
                try statement.run()
            }
            sum.subtract(hasher.hash(old))
        }
        if let new { try insert(new) }
    }

    private func insert(_ entry: StandingEntry) throws(SQLiteError) {
        try connection.cached("INSERT INTO entry (kind, id, body) VALUES (?, ?, ?)") {
            (statement) throws(SQLiteError) in
            try statement.bind(entry.kind.rawValue, at: 1)
            try statement.bind(entry.id, at: 2)
            try statement.bind(entry.body, at: 3)
            try statement.run()
        }
        sum.add(hasher.hash(entry))
    }

    private func insert(_ head: StreamHead, of stream: StreamID) throws(SQLiteError) {
        try connection.cached("INSERT OR REPLACE INTO head (stream, number, version, leaf) VALUES (?, ?, ?, ?)") {
            (statement) throws(SQLiteError) in
            try statement.bind(stream.rawValue, at: 1)
            try statement.bind(head.number, at: 2)
            try statement.bind(head.version, at: 3)
            try statement.bind(head.leaf.bytes, at: 4)
            try statement.run()
        }
    }

    private func remove(headOf stream: StreamID) throws(SQLiteError) {
        try connection.cached("DELETE FROM head WHERE stream = ?") { (statement) throws(SQLiteError) in
            try statement.bind(stream.rawValue, at: 1)
            try statement.run()
        }
    }

    private func removePlace(_ log: LogIdentity) throws(SQLiteError) {
        let old = try connection.cached("SELECT number, leaf FROM place") {
            (statement) throws(SQLiteError) -> (Int64, Digest?)? in
            try statement.step() ? (statement.int(at: 0), statement.withBytes(at: 1) { Digest(bytes: $0) }) : nil
        }
        guard let (number, leaf) = old else { return }
        try connection.execute("DELETE FROM place")
        sum.subtract(hasher.hash(place: number, leaf, log))
    }

    /// The place is the end of a batch, so no stream is ahead of it.
    private func writePlace(
        _ standing: Standing, _ heads: StreamHeads, _ log: LogIdentity
    ) throws(SQLiteError) {
        let newest = heads.newest
        sum.add(hasher.hash(place: standing.place, newest?.leaf, log))
        try connection.cached(
            "INSERT INTO place (number, leaf, log_id, epoch, fingerprint) VALUES (?, ?, ?, ?, ?)"
        ) { (statement) throws(SQLiteError) in
            try statement.bind(standing.place, at: 1)
            try statement.bind(newest?.leaf.bytes ?? [], at: 2)
            try statement.bind(log.id.bytes, at: 3)
            try statement.bind(log.epoch, at: 4)
            try statement.bind(sum.bytes, at: 5)
            try statement.run()
        }
    }
}

extension RowHasher {
    func hash(_ entry: StandingEntry) -> Fingerprint {
        entry.body.withUnsafeBytes { hash(entry.kind, entry.id, $0) }
    }

    fileprivate func hash(_ kind: StandingEntry.Kind, _ id: Int64, _ body: UnsafeRawBufferPointer) -> Fingerprint {
        hash { writer in
            writer.array(4)
            writer.text("entry")
            writer.integer(kind.rawValue)
            writer.integer(id)
            writer.byteString(body)
        }
    }

    fileprivate func hash(place number: Int64, _ leaf: Digest?, _ log: LogIdentity) -> Fingerprint {
        hash { writer in
            writer.array(5)
            writer.text("place")
            writer.integer(number)
            writer.byteString(leaf?.bytes ?? [])
            writer.byteString(log.id.bytes)
            writer.integer(log.epoch)
        }
    }
}
