package import Cryptography
import SQLite
package import Transparency
package import Whereabouts

/// The file of the log, `log.sqlite`. It belongs to one thread at a time: the writer's or the committing one.
package final class SQLiteLogEngine: LogEngine {
    private let connection: Connection
    /// The row `log` as it was when the file was opened.
    package let identity: LogIdentity
    private let insertion: Statement

    /// Opens or creates the file.
    ///
    /// - Parameter isCopy: Whether another engine has every event before the file. A power cut may then take the newest
    ///   events from the file, and no commit waits for the disk.
    /// - Throws: ``LogError/notALog(path:)``, ``LogError/newerFormat(_:)``, ``LogError/altered(path:_:)`` if the tables
    ///   differ, ``LogError/damaged(number:_:)`` if the row `log` does not match the events.
    package init(path: String, isCopy: Bool = false) throws(LogError) {
        do throws(SQLiteError) {
            connection = try Connection(path: path, access: .readWrite)
        } catch { throw .sqlite(error) }
        try Self.checkFormat(connection, path)
        do throws(SQLiteError) {
            // The writer makes checkpoints in idle moments: an automatic checkpoint inside a commit costs 20 ms.
            try connection.execute(
                """
                PRAGMA journal_mode = WAL;
                PRAGMA synchronous = FULL;
                PRAGMA wal_autocheckpoint = 0;
                PRAGMA cache_size = -32768;
                """)
            if isCopy { try connection.execute("PRAGMA synchronous = NORMAL") }
            if try Self.userVersion(connection) == 0 { try Self.create(connection, id: .random(), epoch: 1) }
        } catch { throw .sqlite(error) }
        do throws(SQLiteError) {
            if let difference = try LogSchema.difference(connection) {
                throw SQLiteError(code: 11, message: difference)
            }
            identity = try LogIdentity.read(connection)
            insertion = try connection.prepare(
                """
                INSERT INTO event (number, stream, version, kind, recorded_at_ms, actor, correlation, cause, body, leaf)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
        } catch {
            throw error.isCorruption ? .altered(path: path, error.message) : .sqlite(error)
        }
        let size = identity.size
        let newest = try newestNumber()
        guard newest == size else {
            throw .damaged(number: min(newest, size) + 1, "the log counts \(size) events but has \(newest)")
        }
    }

    /// The format in the file's header; 0 for an empty file.
    private static func userVersion(_ connection: borrowing Connection) throws(SQLiteError) -> Int64 {
        try connection.cached("PRAGMA user_version") { (statement) throws(SQLiteError) in
            try statement.step() ? statement.int(at: 0) : 0
        }
    }

    /// Throws unless the file is empty or a log of a version that this program reads. Writes nothing.
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

    /// Makes the tables of an empty file.
    private static func create(
        _ connection: borrowing Connection, id: Identifier128, epoch: Int64
    ) throws(SQLiteError) {
        try connection.begin()
        do throws(SQLiteError) {
            try LogSchema.create(connection)
            try connection.cached(
                "INSERT INTO log (id, format, epoch, size, compact_range, head) VALUES (?, ?, ?, 0, x'', x'')"
            ) { (statement) throws(SQLiteError) in
                try statement.bind(id.bytes, at: 1)
                try statement.bind(LogSchema.format, at: 2)
                try statement.bind(epoch, at: 3)
                try statement.run()
            }
            try connection.commit()
        } catch {
            try? connection.rollback()
            throw error
        }
    }

    /// The highest number of an event; 0 if there is none.
    private func newestNumber() throws(LogError) -> Int64 {
        do throws(SQLiteError) {
            return try connection.cached("SELECT max(number) FROM event") { (statement) throws(SQLiteError) in
                try statement.step() ? statement.int(at: 0) : 0
            }
        } catch { throw .sqlite(error) }
    }

    package func begin() throws(LogError) {
        do throws(SQLiteError) { try connection.begin() } catch { throw .sqlite(error) }
    }

    package func insert(_ header: EventHeader, body: UnsafeRawBufferPointer, _ leaf: Digest) throws(LogError) {
        do throws(SQLiteError) { try bindAndInsert(header, body: body, leaf) } catch { throw .sqlite(error) }
    }

    /// Never `CommitOutcome.fenced`: the lock of the data directory keeps other processes out.
    package func commit(_ end: LogEnd, after previous: Int64) -> CommitOutcome {
        do throws(SQLiteError) {
            try connection.cached("UPDATE log SET size = ?, compact_range = ?, head = ?, epoch = ?") {
                (statement) throws(SQLiteError) in
                try statement.bind(end.range.size, at: 1)
                try statement.bind(end.range.bytes, at: 2)
                try statement.bind(end.head?.bytes ?? [], at: 3)
                try statement.bind(end.epoch, at: 4)
                try statement.run()
            }
        } catch { return .failed(.sqlite(error)) }
        do throws(SQLiteError) { try connection.commit() } catch {
            return error.isFull ? .failed(.sqlite(error)) : .unknown(.sqlite(error))
        }
        return .committed
    }

    /// Nothing to do: the lock of the data directory is held.
    package func confirm() {}

    package func rollBack() {
        // After some errors, SQLite has rolled back already.
        if connection.isInTransaction { try? connection.rollback() }
    }

    /// Inserts one event. The blobs are bound without a copy.
    private func bindAndInsert(_ header: EventHeader, body: UnsafeRawBufferPointer, _ leaf: Digest) throws(SQLiteError)
    {
        try insertion.bind(header.number, at: 1)
        try insertion.bind(header.stream.rawValue, at: 2)
        try insertion.bind(header.version, at: 3)
        try insertion.bind(header.kind, at: 4)
        try insertion.bind(header.recordedAt.milliseconds, at: 5)
        try insertion.bind(header.actor.rawValue, at: 6)
        try insertion.bind(header.cause, at: 8)
        try insertion.bindUncopied(body, at: 9)
        // Each run binds all parameters again, so that no dangling pointer is read.
        let result: Result<Void, SQLiteError> = withUnsafeBytes(
            of: (header.correlation.high.bigEndian, header.correlation.low.bigEndian)
        ) { correlation in
            leaf.withBytes { leaf in
                do throws(SQLiteError) {
                    try insertion.bindUncopied(correlation, at: 7)
                    try insertion.bindUncopied(leaf, at: 10)
                    try insertion.run()
                    return .success(())
                } catch { return .failure(error) }
            }
        }
        try result.get()
    }

    /// Moves pages that no reader needs from the write-ahead log into the database, without waiting for readers.
    package func checkpoint() throws(LogError) {
        do throws(SQLiteError) { _ = try connection.checkpoint(.passive) } catch {
            // On a full disk the pages stay in the write-ahead log, which is complete.
            guard error.isFull else { throw .sqlite(error) }
        }
    }

    /// Makes every event of a copy durable, before the file becomes the only place of the log.
    package static func makeDurable(path: String) throws(LogError) {
        do throws(SQLiteError) {
            let connection = try Connection(path: path, access: .readWrite)
            try connection.execute(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;")
            _ = try connection.checkpoint(.truncate)
        } catch { throw .sqlite(error) }
    }

    /// Raises the epoch of a restored log, so that nothing folded from the abandoned events is used for it.
    package static func raiseEpoch(path: String) throws(LogError) {
        do throws(SQLiteError) {
            try Connection(path: path, access: .readWrite).execute("UPDATE log SET epoch = epoch + 1")
        } catch { throw .sqlite(error) }
    }
}

/// A log that is made from events in their stored form, as a restore from shipped batches and the copy of another engine do.
extension SQLiteLogEngine {
    /// Makes the file of an empty log with this id and epoch.
    package convenience init(newAt path: String, id: Identifier128, epoch: Int64) throws(LogError) {
        do throws(SQLiteError) {
            try Self.create(try Connection(path: path, access: .readWrite), id: id, epoch: epoch)
        } catch { throw .sqlite(error) }
        try self.init(path: path)
    }

    /// Inserts the next events in one transaction, as they are. A verification finds damaged ones.
    ///
    /// - Parameter range: The tree after the last of them.
    package func copy(_ events: ArraySlice<LogReader.StoredEvent>, epoch: Int64, range: CompactRange) throws(LogError) {
        do throws(LogError) {
            try begin()
            for event in events {
                let result: Result<Void, LogError> = event.body.withUnsafeBytes { body in
                    do throws(LogError) { return .success(try insert(event.header, body: body, event.leaf)) } catch {
                        return .failure(error)
                    }
                }
                try result.get()
            }
            try commit(
                LogEnd(epoch: epoch, range: range, head: events.last?.leaf),
                after: range.size - Int64(events.count)
            ).get()
        } catch {
            rollBack()
            throw error
        }
        try checkpoint()
    }

    /// The leaf of the event with this number; `nil` if there is none.
    package func leaf(of number: Int64) throws(LogError) -> Digest? { try connection.leaf(of: number) }
}
