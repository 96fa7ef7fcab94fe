import Cryptography
import Glibc
import SQLite
import Whereabouts

// `projections/standing-vN-1.sqlite`: `entry(kind, id, body)` has the entries of `Standing.forEachEntry`, `head(stream,
// number, version, leaf)` the newest event of each stream, and the one row `place(number, leaf, log_id, epoch, fingerprint)`
// the log and the number up to which they are folded. `fingerprint` is the sum of the hashes of all these rows
// (`Fingerprint.swift`), each a CBOR array:
//
//     ["entry", kind, id, body]   ["head", stream, number, version, leaf]   ["place", number, leaf, log id, epoch]

/// The standing between two starts. The file is a cache: if it is missing, damaged, of another log or version, or disagrees
/// with the log, the standing is refolded from the log.
struct StandingFile: Sendable {
    /// Raised with every change of the fold or of the entries' bytes.
    static let version = 16

    /// The directory of the projections.
    let directory: String
    let path: String

    init(directory: String) {
        self.directory = directory
        path = "\(directory)/standing-v\(Self.version)-1.sqlite"
    }

    /// The saved standing and the newest event of each stream if they belong to `log`, else empty ones.
    ///
    /// The fingerprint finds damage. The newest event of each stream is compared with its row in the log, because the next
    /// event of the stream continues its version and leaf. Cost: about 3 µs per entry and per stream.
    ///
    /// - Throws: ``LogError/lost(_:)`` if the file is valid and has events that the log lacks.
    func load(log: LogIdentity, reader: LogReader) throws(LogError) -> (Standing, heads: [StreamID: StreamHead]) {
        guard access(path, F_OK) == 0 else { return (Standing(), [:]) }
        let saved: Saved?
        do throws(SQLiteError) { saved = try read(log: log) } catch {
            Diagnostics.note("standing.refold", "The saved standing cannot be read (\(error)); it is folded again.")
            remove()
            return (Standing(), [:])
        }
        if let saved {
            try LogWitness(log: log.id, epoch: log.epoch, number: saved.place, leaf: saved.leaf).check(log, reader)
            if let standing = try saved.standing(reader) { return (standing, saved.heads) }
            Diagnostics.note("standing.refold", "The saved standing does not agree with the log; it is folded again.")
        }
        remove()
        return (Standing(), [:])
    }

    private struct Saved {
        let place: Int64
        let leaf: Digest?
        let entries: [StandingEntry]
        let heads: [StreamID: StreamHead]

        /// The standing, if the log has the events that it lists as the newest of their streams.
        func standing(_ reader: LogReader) throws(LogError) -> Standing? {
            guard let standing = try? Standing(place: place, entries: entries),
                standing.versions == heads.mapValues(\.version)
            else { return nil }
            // In order of their numbers, so that neighbors share a page.
            for (stream, head) in heads.sorted(by: { $0.value.number < $1.value.number }) {
                guard try reader.holds(head, of: stream) else { return nil }
            }
            return standing
        }
    }

    /// The content of the file; `nil` if it belongs to another log.
    private func read(log: LogIdentity) throws(SQLiteError) -> Saved? {
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
        let entries = try connection.cached("SELECT kind, id, body FROM entry ORDER BY kind, id") {
            (statement) throws(SQLiteError) -> [StandingEntry] in
            var entries: [StandingEntry] = []
            while try statement.step() {
                guard let kind = StandingEntry.Kind(rawValue: statement.int(at: 0)) else {
                    throw SQLiteError.damagedRow
                }
                let entry = StandingEntry(kind: kind, id: statement.int(at: 1), body: statement.bytes(at: 2))
                sum.add(hasher.hash(entry))
                entries.append(entry)
            }
            return entries
        }
        let heads = try connection.cached("SELECT stream, number, version, leaf FROM head") {
            (statement) throws(SQLiteError) -> [StreamID: StreamHead] in
            var heads: [StreamID: StreamHead] = [:]
            while try statement.step() {
                guard let leaf = Digest(bytes: statement.bytes(at: 3)) else { throw SQLiteError.damagedRow }
                let stream = StreamID(rawValue: statement.int(at: 0))
                let head = StreamHead(number: statement.int(at: 1), version: statement.int(at: 2), leaf: leaf)
                sum.add(hasher.hash(head, of: stream))
                heads[stream] = head
            }
            return heads
        }
        guard sum == place.fingerprint else {
            throw SQLiteError(code: 11, message: "its rows do not give its fingerprint")
        }
        return Saved(place: place.number, leaf: place.leaf, entries: entries, heads: heads)
    }

    /// Replaces the content of the file. Cost: about 3 µs per entry and per stream.
    func save(_ standing: Standing, _ heads: [StreamID: StreamHead], log: LogIdentity) throws(LogError) {
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
            try connection.begin()
            try connection.execute("DELETE FROM entry; DELETE FROM head; DELETE FROM place;")
            try write(standing, heads, log, connection)
            try connection.commit()
            // An erased person's entries must not linger in the write-ahead log.
            _ = try connection.checkpoint(.truncate)
        } catch {
            if error.isCorruption {
                remove()
                return
            }
            throw .sqlite(error)
        }
    }

    private func write(
        _ standing: Standing, _ heads: [StreamID: StreamHead], _ log: LogIdentity, _ connection: borrowing Connection
    ) throws(SQLiteError) {
        let hasher = RowHasher()
        var sum = Fingerprint()
        let insertion = try connection.prepare("INSERT INTO entry (kind, id, body) VALUES (?, ?, ?)")
        try standing.forEachEntry { (entry: StandingEntry) throws(SQLiteError) in
            try insertion.bind(entry.kind.rawValue, at: 1)
            try insertion.bind(entry.id, at: 2)
            try insertion.bind(entry.body, at: 3)
            try insertion.run()
            sum.add(hasher.hash(entry))
        }
        // The place is the end of a batch, so no stream is ahead of it.
        for (stream, head) in heads {
            try connection.cached("INSERT INTO head (stream, number, version, leaf) VALUES (?, ?, ?, ?)") {
                (statement) throws(SQLiteError) in
                try statement.bind(stream.rawValue, at: 1)
                try statement.bind(head.number, at: 2)
                try statement.bind(head.version, at: 3)
                try statement.bind(head.leaf.bytes, at: 4)
                try statement.run()
            }
            sum.add(hasher.hash(head, of: stream))
        }
        let newest = heads.values.max { $0.number < $1.number }
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

    /// Removes the file; `false` if it still exists.
    @discardableResult
    func remove() -> Bool {
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
        return access(path, F_OK) != 0
    }
}

extension RowHasher {
    func hash(_ entry: StandingEntry) -> Fingerprint {
        hash { writer in
            writer.array(4)
            writer.text("entry")
            writer.integer(entry.kind.rawValue)
            writer.integer(entry.id)
            writer.byteString(entry.body)
        }
    }

    fileprivate func hash(_ head: StreamHead, of stream: StreamID) -> Fingerprint {
        hash { writer in
            writer.array(5)
            writer.text("head")
            writer.integer(stream.rawValue)
            writer.integer(head.number)
            writer.integer(head.version)
            writer.byteString(head.leaf.bytes)
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
