import Cryptography
import Glibc
import SQLite
import Whereabouts

// `projections/standing-vN-1.sqlite`: `entry(kind, id, body)` as `Standing.forEachEntry` gives them, `head(stream, leaf)`
// with the leaf of each stream's newest event, and the one row `place(number, leaf, log_id, epoch)` that says up to where
// of which log they are folded.

/// The standing between two starts. A cache: when the file is missing, damaged, of another log or another version, the
/// standing is folded from the log again.
struct StandingFile: Sendable {
    /// Raised with every change of the fold or of the entries' bytes.
    static let version = 10

    let path: String

    init(directory: String) { path = "\(directory)/standing-v\(Self.version)-1.sqlite" }

    /// The saved standing and the leaf of each stream's newest event, if they belong to `log`; empty ones otherwise.
    func load(log: LogIdentity, reader: LogReader) throws(LogError) -> (Standing, leaves: [StreamID: Digest]) {
        guard access(path, F_OK) == 0 else { return (Standing(), [:]) }
        do throws(SQLiteError) {
            if let (standing, leaves, leaf) = try read(log: log), try isPlace(standing.place, leaf, reader) {
                return (standing, leaves)
            }
        } catch {
            Diagnostics.note("standing.refold", "The saved standing cannot be read (\(error)); it is folded again.")
        }
        remove()
        return (Standing(), [:])
    }

    private func isPlace(_ number: Int64, _ leaf: Digest?, _ reader: LogReader) throws(SQLiteError) -> Bool {
        if number == 0 { return true }
        guard let stored = try? reader.storedEvents(after: number - 1, limit: 1).first else { return false }
        return stored.header.number == number && stored.leaf == leaf
    }

    private func read(log: LogIdentity) throws(SQLiteError) -> (Standing, [StreamID: Digest], Digest?)? {
        let connection = try Connection(path: path, access: .readOnly)
        let place = try connection.cached("SELECT number, leaf, log_id, epoch FROM place") {
            (statement) throws(SQLiteError) -> (Int64, Digest?)? in
            guard try statement.step(), statement.withBytes(at: 2, { Identifier128(bytes: $0) }) == log.id,
                statement.int(at: 3) == log.epoch
            else { return nil }
            return (statement.int(at: 0), Digest(bytes: statement.bytes(at: 1)))
        }
        guard let place else { return nil }
        let entries = try connection.cached("SELECT kind, id, body FROM entry ORDER BY kind, id") {
            (statement) throws(SQLiteError) -> [StandingEntry] in
            var entries: [StandingEntry] = []
            while try statement.step() {
                guard let kind = StandingEntry.Kind(rawValue: statement.int(at: 0)) else {
                    throw SQLiteError.damagedRow
                }
                entries.append(StandingEntry(kind: kind, id: statement.int(at: 1), body: statement.bytes(at: 2)))
            }
            return entries
        }
        let leaves = try connection.cached("SELECT stream, leaf FROM head") {
            (statement) throws(SQLiteError) -> [StreamID: Digest] in
            var leaves: [StreamID: Digest] = [:]
            while try statement.step() {
                guard let leaf = Digest(bytes: statement.bytes(at: 1)) else { throw SQLiteError.damagedRow }
                leaves[StreamID(rawValue: statement.int(at: 0))] = leaf
            }
            return leaves
        }
        do throws(CBORError) {
            return (try Standing(place: place.0, entries: entries), leaves, place.1)
        } catch { throw .damagedRow }
    }

    /// Replaces what is saved. Cost: about 2 µs an entry.
    func save(_ standing: Standing, _ sealer: borrowing LogSealer, log: LogIdentity) throws(LogError) {
        do throws(SQLiteError) {
            let connection = try Connection(path: path, access: .readWrite)
            try connection.execute(
                """
                PRAGMA journal_mode = WAL;
                PRAGMA synchronous = NORMAL;
                PRAGMA secure_delete = ON;
                CREATE TABLE IF NOT EXISTS place (
                    number INTEGER NOT NULL, leaf BLOB NOT NULL, log_id BLOB NOT NULL, epoch INTEGER NOT NULL
                ) STRICT;
                CREATE TABLE IF NOT EXISTS entry (
                    kind INTEGER NOT NULL, id INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (kind, id)
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE IF NOT EXISTS head (stream INTEGER PRIMARY KEY, leaf BLOB NOT NULL) STRICT;
                """)
            try connection.begin()
            try connection.execute("DELETE FROM entry; DELETE FROM head; DELETE FROM place;")
            try standing.forEachEntry { (entry: StandingEntry) throws(SQLiteError) in
                try connection.cached("INSERT INTO entry (kind, id, body) VALUES (?, ?, ?)") {
                    (statement) throws(SQLiteError) in
                    try statement.bind(entry.kind.rawValue, at: 1)
                    try statement.bind(entry.id, at: 2)
                    try statement.bind(entry.body, at: 3)
                    try statement.run()
                }
            }
            for (stream, leaf) in sealer.leaves {
                try connection.cached("INSERT INTO head (stream, leaf) VALUES (?, ?)") {
                    (statement) throws(SQLiteError) in
                    try statement.bind(stream.rawValue, at: 1)
                    try statement.bind(leaf.bytes, at: 2)
                    try statement.run()
                }
            }
            try connection.cached("INSERT INTO place (number, leaf, log_id, epoch) VALUES (?, ?, ?, ?)") {
                (statement) throws(SQLiteError) in
                try statement.bind(standing.place, at: 1)
                try statement.bind(sealer.headLeaf?.bytes ?? [], at: 2)
                try statement.bind(log.id.bytes, at: 3)
                try statement.bind(log.epoch, at: 4)
                try statement.run()
            }
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

    private func remove() {
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
    }
}
