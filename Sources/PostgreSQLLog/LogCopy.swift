import Cryptography
import Glibc
import Log
import PostgreSQL
import SQLite
import Transparency
import Whereabouts

/// The copy of a server's log in `log.sqlite`, from which this machine reads. Every event in it was durable, so a server with
/// fewer events has lost some.
struct LogCopy {
    private let path: String
    private let file: SQLiteLogEngine
    private let epoch: Int64
    private var range: CompactRange
    private let sha256 = SHA256()

    /// The events read at once.
    private static let eventsPerRead: Int64 = 4096

    /// The number of events in the copy.
    var size: Int64 { range.size }

    /// Opens the copy, or makes an empty one. A copy that is damaged or of an earlier epoch is replaced by an empty one.
    ///
    /// - Parameter acceptingLoss: Whether a copy with events that the server lacks is replaced too.
    /// - Throws: ``LogError/lost(_:)`` if the server lacks events of the copy, ``LogError/otherLog(_:)`` if the file is
    ///   another log, or later than the server's.
    init(path: String, of row: LogRow, _ session: Session, acceptingLoss: Bool = false) throws(LogError) {
        self.path = path
        epoch = row.epoch
        if let there = try Self.open(path, of: row), there.identity.size > 0 || there.identity.id == row.id {
            let identity = there.identity
            guard identity.id == row.id else {
                throw .otherLog(
                    "\(path) is another log than the one in the database; name the data directory that belongs to it, or an empty one."
                )
            }
            guard identity.epoch <= row.epoch else {
                throw .otherLog(
                    "The log of \(path) was restored or lost events (epoch \(identity.epoch)), and the database has epoch \(row.epoch). Move this log to an empty database with `log move`, or remove the file if the database is right."
                )
            }
            if identity.epoch == row.epoch {
                if try Self.holds(identity, row, session) {
                    (file, range) = (there, identity.range)
                    return
                }
                if !acceptingLoss {
                    throw .lost(LogLoss(has: row.size, known: identity.size, epoch: identity.epoch, isOnServer: true))
                }
            }
        }
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
        file = try SQLiteLogEngine(newAt: path, id: row.id, epoch: row.epoch)
        range = CompactRange()
    }

    /// The file; `nil` if there is none, or none that can be read.
    private static func open(_ path: String, of row: LogRow) throws(LogError) -> SQLiteLogEngine? {
        if access(path, F_OK) != 0 { return nil }
        do throws(LogError) { return try SQLiteLogEngine(path: path, isCopy: true) } catch {
            switch error {
            case .damaged, .altered: return nil
            case .sqlite(let fault) where fault.isCorruption: return nil
            // A file whose beginning is damaged, if the witness beside it says that it was this log.
            case .notALog where WitnessFile.read(WitnessFile.path(besideLog: path)).contains { $0.log == row.id }:
                return nil
            default: throw error
            }
        }
    }

    /// The leaf of the newest event; `nil` for an empty copy.
    func newestLeaf() throws(LogError) -> Digest? { size == 0 ? nil : try file.leaf(of: size) }

    /// Whether the server has the newest event of the copy, which is open.
    func isBeginning(_ session: Session) throws(LogError) -> Bool {
        if size == 0 { return true }
        guard let leaf = try newestLeaf() else { return false }
        do throws(PostgreSQLError) {
            let rows = try session.run("SELECT leaf FROM whereabouts.event WHERE number = $1", [size])
            return rows.count == 1 && rows.bytes(0, 0) == leaf.bytes
        } catch { throw LogError(error) }
    }

    /// Whether the server has the newest event of the copy.
    private static func holds(_ identity: LogIdentity, _ row: LogRow, _ session: Session) throws(LogError) -> Bool {
        guard identity.size <= row.size else { return false }
        if identity.size == 0 { return true }
        do throws(PostgreSQLError) {
            let rows = try session.run("SELECT leaf FROM whereabouts.event WHERE number = $1", [identity.size])
            return rows.count == 1 && rows.bytes(0, 0) == identity.head?.bytes
        } catch { throw LogError(error) }
    }

    /// Copies the events up to a size.
    ///
    /// - Parameter progress: Called every few thousand events with the size of the copy.
    mutating func follow(
        to size: Int64, _ session: Session, progress: (Int64) -> Void = { _ in }
    ) throws(LogError) {
        while range.size < size {
            let events = try Self.events(after: range.size, limit: min(Self.eventsPerRead, size - range.size), session)
            var after = range
            for event in events {
                guard event.header.number == after.size + 1 else {
                    throw .damaged(number: after.size + 1, "the database has no such event")
                }
                after.append(event.leaf, sha256)
            }
            guard !events.isEmpty else { throw .damaged(number: range.size + 1, "the database has no such event") }
            try file.copy(events[...], epoch: epoch, range: after)
            range = after
            progress(range.size)
        }
    }

    /// Throws unless the server has the same tree over the leaves.
    func check(_ row: LogRow) throws(LogError) {
        guard range.size == row.size, range.subtrees == row.range.subtrees else {
            throw .damaged(number: range.size, "the tree in the database is not the tree over its events")
        }
    }

    /// Events of the server, in order.
    static func events(after number: Int64, limit: Int64, _ session: Session) throws(LogError) -> [LogReader
        .StoredEvent]
    {
        let rows: Rows
        do throws(PostgreSQLError) { rows = try session.run(LogTables.events, [number, limit]) } catch {
            throw LogError(error)
        }
        var events: [LogReader.StoredEvent] = []
        events.reserveCapacity(rows.count)
        for row in 0..<rows.count {
            let number = rows.int(row, 0)
            guard let correlation = rows.withBytes(row, 6, { RequestID(bytes: $0) }),
                let leaf = rows.withBytes(row, 9, { Digest(bytes: $0) })
            else { throw .damaged(number: number, "a column in the database has another length") }
            let header = EventHeader(
                number: number, stream: StreamID(rawValue: rows.int(row, 1)), version: rows.int(row, 2),
                kind: rows.int(row, 3), recordedAt: Timestamp(milliseconds: rows.int(row, 4)),
                actor: PrincipalID(rawValue: rows.int(row, 5)), correlation: correlation, cause: rows.int(row, 7))
            if let fault = header.fault { throw .damaged(number: number, fault) }
            events.append(.init(header: header, body: rows.bytes(row, 8), leaf: leaf))
        }
        return events
    }
}
