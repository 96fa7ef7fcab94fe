import Cryptography
import SQLite
import Whereabouts

/// The file of the log and the sealing of events: what the writer's thread owns.
final class LogStore {
    private let connection: Connection
    private let keys: KeyRing
    private let sha256 = SHA256()
    private let cipher = AES256GCM()
    private var nonces = NonceSource()
    private var head = CBORWriter()
    private var body = CBORWriter()
    private var ciphertext: [UInt8] = []
    private(set) var identity: LogIdentity
    private var range: CompactRange
    private var headLeaf: Digest?
    /// This month's keys, by person and class.
    private var sealing: [Int64: (id: Int64, key: SymmetricKey)] = [:]
    private var sealingPeriod: Int64 = 0
    private var sealingGeneration: Int
    private let insertion: Statement
    /// About how many pages were written since the last checkpoint.
    private(set) var pagesSinceCheckpoint = 0
    private var bytesInTransaction = 0

    /// Opens or creates the file.
    init(path: String, keys: KeyRing) throws(LogError) {
        self.keys = keys
        sealingGeneration = keys.currentGeneration
        do throws(SQLiteError) {
            connection = try Connection(path: path, access: .readWrite)
        } catch { throw .sqlite(error) }
        try Self.checkFormat(connection, path)
        do throws(SQLiteError) {
            // The writer checkpoints by itself in idle moments: an automatic checkpoint inside a commit costs 20 ms.
            try connection.execute(
                """
                PRAGMA journal_mode = WAL;
                PRAGMA synchronous = FULL;
                PRAGMA wal_autocheckpoint = 0;
                PRAGMA cache_size = -32768;
                """)
            if try Self.userVersion(connection) == 0 { try Self.create(connection) }
        } catch { throw .sqlite(error) }
        do throws(SQLiteError) {
            identity = try LogIdentity.read(connection)
            insertion = try connection.prepare(
                """
                INSERT INTO event (number, stream, version, kind, recorded_at_ms, actor, correlation, cause, body, leaf)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
        } catch {
            throw error.isCorruption ? .notALog(path: path) : .sqlite(error)
        }
        range = identity.range
        headLeaf = identity.head
        let newest = try newestNumber()
        guard newest == range.size else {
            throw .damaged(
                number: min(newest, range.size) + 1, "the log says it has \(range.size) events and has \(newest)")
        }
    }

    private static func userVersion(_ connection: borrowing Connection) throws(SQLiteError) -> Int64 {
        try connection.cached("PRAGMA user_version") { (statement) throws(SQLiteError) in
            try statement.step() ? statement.int(at: 0) : 0
        }
    }

    /// Throws unless the file is a log this version reads, or empty; writes nothing.
    private static func checkFormat(_ connection: borrowing Connection, _ path: String) throws(LogError) {
        let format: Int64
        let application: Int64
        let tables: Int64
        do throws(SQLiteError) {
            format = try userVersion(connection)
            application = try connection.cached("PRAGMA application_id") { (statement) throws(SQLiteError) in
                try statement.step() ? statement.int(at: 0) : 0
            }
            tables = try connection.cached("SELECT count(*) FROM sqlite_schema") { (statement) throws(SQLiteError) in
                try statement.step() ? statement.int(at: 0) : 0
            }
        } catch { throw error.isCorruption ? .notALog(path: path) : .sqlite(error) }
        if tables == 0, format == 0 { return }
        guard application == LogSchema.applicationID else { throw .notALog(path: path) }
        guard format <= LogSchema.format else { throw .newerFormat(format) }
    }

    private static func create(_ connection: borrowing Connection) throws(SQLiteError) {
        try connection.begin()
        do throws(SQLiteError) {
            try connection.execute(LogSchema.create)
            let random = randomBytes(16).withUnsafeBytes {
                ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            }
            try connection.cached(
                "INSERT INTO log (id, format, epoch, size, compact_range, head) VALUES (?, ?, 1, 0, x'', x'')"
            ) { (statement) throws(SQLiteError) in
                try statement.bind(Identifier128(random: random.0, random.1).bytes, at: 1)
                try statement.bind(LogSchema.format, at: 2)
                try statement.run()
            }
            try connection.commit()
        } catch {
            try? connection.rollback()
            throw error
        }
    }

    private func newestNumber() throws(LogError) -> Int64 {
        do throws(SQLiteError) {
            return try connection.cached("SELECT max(number) FROM event") { (statement) throws(SQLiteError) in
                try statement.step() ? statement.int(at: 0) : 0
            }
        } catch { throw .sqlite(error) }
    }

    /// Leaf of the newest event; `nil` when there is none.
    var currentHead: Digest? { headLeaf }

    func begin() throws(LogError) {
        do throws(SQLiteError) { try connection.begin() } catch { throw .sqlite(error) }
    }

    /// Makes the keys that `event` needs durable, before it gets a number.
    func prepareKeys(for encoded: EventCoding.Encoded, at time: Timestamp) throws(LogError) {
        for part in encoded.parts { _ = try key(for: part, at: time) }
    }

    private func key(for part: PlainPart, at time: Timestamp) throws(LogError) -> (id: Int64, key: SymmetricKey) {
        let generation = keys.currentGeneration
        let period = KeyRing.period(of: time)
        if generation != sealingGeneration || period != sealingPeriod {
            sealing = [:]
            cipher.forgetKeys()
            (sealingGeneration, sealingPeriod) = (generation, period)
        }
        let slot = part.person.rawValue << 1 | part.keyClass.rawValue
        if let known = sealing[slot] { return known }
        let key = try keys.sealingKey(for: part.person, part.keyClass, at: time)
        sealing[slot] = key
        return key
    }

    /// Seals, hashes and inserts one event; returns its leaf.
    ///
    /// Cost: about 5 µs, of which SQLite takes half.
    func insert(
        _ header: EventHeader, _ encoded: EventCoding.Encoded, previous: Hash256?
    ) throws(LogError) -> Hash256 {
        head.reset()
        header.write(to: &head)
        body.reset()
        body.array(1 + encoded.parts.count)
        body.raw(encoded.clear)
        for (index, part) in encoded.parts.enumerated() {
            let key = try key(for: part, at: header.recordedAt)
            body.array(3)
            body.integer(key.id)
            ciphertext.removeAll(keepingCapacity: true)
            nonces.withNext { nonce in
                body.byteString(nonce)
                part.plaintext.withUnsafeBytes { plaintext in
                    head.bytes.withUnsafeBytes { head in
                        cipher.seal(
                            plaintext, key: key.key, nonce: nonce, associated: head, UInt8(index), into: &ciphertext)
                    }
                }
            }
            body.byteString(ciphertext)
        }
        let leaf = body.bytes.withUnsafeBytes {
            EventHeader.leaf(headWithoutPrevious: &head, body: $0, previous: previous?.digest, sha256)
        }
        do throws(SQLiteError) { try insertRow(header, leaf) } catch { throw .sqlite(error) }
        range.append(leaf, sha256)
        headLeaf = leaf
        return Hash256(leaf)
    }

    private func insertRow(_ header: EventHeader, _ leaf: Digest) throws(SQLiteError) {
        try insertion.bind(header.number, at: 1)
        try insertion.bind(header.stream.rawValue, at: 2)
        try insertion.bind(header.version, at: 3)
        try insertion.bind(header.kind, at: 4)
        try insertion.bind(header.recordedAt.milliseconds, at: 5)
        try insertion.bind(header.actor.rawValue, at: 6)
        try insertion.bind(header.cause, at: 8)
        // Every run binds all parameters anew, so that no dangling pointer is ever read.
        let result: Result<Void, SQLiteError> = withUnsafeBytes(
            of: (header.correlation.high.bigEndian, header.correlation.low.bigEndian)
        ) { correlation in
            body.bytes.withUnsafeBytes { body in
                leaf.withBytes { leaf in
                    do throws(SQLiteError) {
                        try insertion.bindUncopied(correlation, at: 7)
                        try insertion.bindUncopied(body, at: 9)
                        try insertion.bindUncopied(leaf, at: 10)
                        try insertion.run()
                        return .success(())
                    } catch { return .failure(error) }
                }
            }
        }
        try result.get()
        bytesInTransaction += body.bytes.count + 90
    }

    /// Writes the log's own row and makes the transaction durable.
    func commit() throws(LogError) {
        do throws(SQLiteError) {
            try connection.cached("UPDATE log SET size = ?, compact_range = ?, head = ?") {
                (statement) throws(SQLiteError) in
                try statement.bind(range.size, at: 1)
                try statement.bind(range.bytes, at: 2)
                try statement.bind(headLeaf?.bytes ?? [], at: 3)
                try statement.run()
            }
            try connection.commit()
        } catch { throw .sqlite(error) }
        // The row of the log, the newest leaf page, its parent and the first page, and what the events fill.
        pagesSinceCheckpoint += 4 + bytesInTransaction / 4096
        bytesInTransaction = 0
    }

    /// Moves what no reader needs from the write-ahead log into the database, without waiting for readers.
    func checkpoint() throws(LogError) {
        do throws(SQLiteError) { _ = try connection.checkpoint(.passive) } catch { throw .sqlite(error) }
        pagesSinceCheckpoint = 0
    }

    func backup(to path: String) throws(LogError) {
        do throws(SQLiteError) { try connection.backup(to: path) { _, _ in } } catch { throw .sqlite(error) }
    }
}
