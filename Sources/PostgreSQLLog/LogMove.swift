import Cryptography
import Glibc
package import Log
import LogVerifying
import PostgreSQL
import SQLite
import Transparency
import Whereabouts

/// Moves a log from its file into a database, and back. The events, their leaves and the root are the same at both places.
///
/// A move can be interrupted at any moment and begun again: it goes on after the events that are there. The old place stays
/// in charge until the new one has every event; the last one, `LogMoved`, says which place counts.
package struct LogMove {
    /// What a move is doing, for the display of its progress.
    package enum Step: Sendable {
        case copying, verifying
    }

    /// The result of a move.
    package struct Outcome: Sendable {
        /// The number of events, the one of the move among them; for a move that a service keeps from its end, the number of
        /// those that were copied.
        package let events: Int64
        /// The root of the Merkle tree over them, in hexadecimal digits.
        package let root: String
        /// Whether the new place is in charge.
        package let isOver: Bool
    }

    private let server: LogServer
    private let progress: (Step, _ done: Int64, _ all: Int64) -> Void
    private static let eventsPerTransaction = 4096

    /// - Parameters:
    ///   - server: Its session is used for the move alone.
    ///   - progress: Called every few thousand events.
    package init(
        _ server: LogServer, progress: @escaping (Step, _ done: Int64, _ all: Int64) -> Void = { _, _, _ in }
    ) { (self.server, self.progress) = (server, progress) }

    // MARK: Into the database

    /// Copies events of the log in a data directory while a service appends to it. The move is not over then.
    package func copyIntoDatabase(reading directory: DataDirectory) throws(LogError) -> Outcome {
        try server.checkReadiness(for: directory, acceptingLoss: true)
        let keys = try directory.openKeys(under: try directory.keyEncryptionKey(), access: .readOnly)
        let reader = try LogReader(path: directory.log, keys: keys)
        let identity = try reader.identity()
        let row = try begin(identity, reader, keys)
        let range = try copy(reader, from: row, to: identity.size)
        return Outcome(events: range.size, root: range.root(SHA256()).hex, isOver: false)
    }

    /// Moves the log of a data directory into the database.
    ///
    /// - Parameter record: Appends `LogMoved` to the log in the file, by the service's own ways, and closes the log.
    /// - Throws: ``LogError/otherLog(_:)`` if the database has another log, or is in charge already. The file stays in charge
    ///   unless the last event was recorded; the same call then ends the move.
    package func moveIntoDatabase(
        _ directory: DataDirectory, record: () throws(LogError) -> Void
    ) throws(LogError) -> Outcome {
        try server.checkReadiness(for: directory, acceptingLoss: true)
        // The service, which records the move, is the only one to write keys.
        let keys = try directory.openKeys(under: try directory.keyEncryptionKey(), access: .readOnly)
        if try !isVerified(directory.log, keys) { try record() }
        let reader = try LogReader(path: directory.log, keys: keys)
        let identity = try reader.identity()
        guard let row = try server.row() else { throw .server("its tables are gone") }
        _ = try copy(reader, from: row, to: identity.size)
        // All that the service's last start and stop may have changed.
        try takeCharge(with: try keys.table(), LogEnd(identity))
        return Outcome(events: identity.size, root: identity.root(SHA256()).hex, isOver: true)
    }

    /// Copies the log, and computes its tree from what the database then has.
    ///
    /// - Returns: Whether the log's last event is that of this move, which was interrupted after it.
    private func isVerified(_ path: String, _ keys: KeyRing) throws(LogError) -> Bool {
        let reader = try LogReader(path: path, keys: keys)
        let identity = try reader.identity()
        _ = try copy(reader, from: try begin(identity, reader, keys), to: identity.size)
        guard try recompute(to: identity.size).subtrees == identity.range.subtrees else {
            throw .damaged(number: identity.size, "the tree over the copied events is not the tree of the log")
        }
        let last = try reader.storedEvents(after: max(identity.size - 1, 0), limit: 1).first
        return last.flatMap(LogPlace.init(movedBy:)) == .postgresql
    }

    /// The row of the log in the database; makes the tables if there are none. Called once for a session.
    private func begin(_ identity: LogIdentity, _ reader: LogReader, _ keys: KeyRing) throws(LogError) -> LogRow {
        guard let row = try server.row() else {
            try server.create(
                id: identity.id, epoch: identity.epoch, keyCheck: try keys.table().check, isInCharge: false)
            return try begin(identity, reader, keys)
        }
        guard row.id == identity.id else {
            throw .otherLog("The database has another log; name an empty database.")
        }
        guard !row.isInCharge else {
            throw .otherLog("The log is in this database already; name it as \"log\" in config.json.")
        }
        let isBeginning =
            if row.size == 0 {
                true
            } else if row.size <= identity.size, row.epoch == identity.epoch,
                let stored = try reader.storedEvents(after: row.size - 1, limit: 1).first
            {
                stored.leaf == row.head
            } else {
                false
            }
        guard isBeginning else {
            throw .otherLog(
                "The database has events of this log that the file does not have; they are of an earlier move. Drop its schema whereabouts, and move again."
            )
        }
        do throws(PostgreSQLError) { try server.session.prepare("event", LogTables.insertion) } catch {
            throw LogError(error)
        }
        return row
    }

    /// Copies the events after those of `row`, and returns the tree over all of them.
    private func copy(_ reader: LogReader, from row: LogRow, to size: Int64) throws(LogError) -> CompactRange {
        var (range, head, parameters) = (row.range, row.head, Parameters())
        let sha256 = SHA256()
        while range.size < size {
            let limit = Int(min(Int64(Self.eventsPerTransaction), size - range.size))
            let events = try reader.storedEvents(after: range.size, limit: limit)
            guard !events.isEmpty else { throw .damaged(number: range.size + 1, "it is missing") }
            let before = range.size
            do throws(PostgreSQLError) {
                try server.session.send("BEGIN")
                for event in events {
                    event.body.withUnsafeBytes { parameters.set(event.header, body: $0, event.leaf) }
                    try server.session.send(prepared: "event", parameters)
                    range.append(event.leaf, sha256)
                    head = event.leaf
                }
                var end: Parameters = [before, range.size]
                end.append(range.bytes)
                end.append(head?.bytes ?? [])
                try server.session.send(
                    """
                    UPDATE whereabouts.log SET size = CASE WHEN size = $1 AND NOT in_charge THEN $2::bigint END,
                        compact_range = $3, head = $4
                    """, end)
                try server.session.send("COMMIT")
                _ = try server.session.finish()
            } catch {
                server.session.rollBack()
                if error.isConstraint { throw .otherLog("Another move into this database is under way.") }
                throw LogError(error)
            }
            progress(.copying, range.size, size)
        }
        return range
    }

    /// The tree over the events of the database.
    private func recompute(to size: Int64) throws(LogError) -> CompactRange {
        var tree = RecomputedTree()
        while tree.range.size < size {
            let events = try LogCopy.events(
                after: tree.range.size, limit: Int64(Self.eventsPerTransaction), server.session)
            guard !events.isEmpty else { throw .damaged(number: tree.range.size + 1, "the database has no such event") }
            for event in events { try tree.append(event) }
            progress(.verifying, tree.range.size, size)
        }
        return tree.range
    }

    /// Puts the keys into the database, and the database in charge.
    private func takeCharge(with keys: KeyTable, _ end: LogEnd) throws(LogError) {
        let session = server.session
        do throws(PostgreSQLError) {
            try session.send("BEGIN")
            try session.send("DELETE FROM whereabouts.key")
            try session.send("DELETE FROM whereabouts.destroyed")
            for key in keys.keys { try PostgreSQLKeys.insert(key, session) }
            for id in keys.destroyed { try session.send("INSERT INTO whereabouts.destroyed (id) VALUES ($1)", [id]) }
            var parameters: Parameters = [end.range.size, end.epoch]
            parameters.append(keys.check)
            try session.send(
                """
                UPDATE whereabouts.log SET size = CASE WHEN size = $1 AND NOT in_charge THEN size END,
                    in_charge = true, term = term + 1, epoch = $2, key_check = $3
                """, parameters)
            try session.send("COMMIT")
            _ = try session.finish()
        } catch {
            session.rollBack()
            throw LogError(error)
        }
        if let warning = session.takeWarnings().first { throw .server(warning.message) }
    }

    // MARK: Out of the database

    /// Moves the log of a database into the file of a data directory, where a copy of it is.
    ///
    /// - Parameter record: Appends `LogMoved` to the log, by the service's own ways, and closes the log. The service takes the
    ///   log itself, so this object must not have the turn.
    package func moveOutOfDatabase(
        _ directory: DataDirectory, record: () throws(LogError) -> Void
    ) throws(LogError) -> Outcome {
        guard let row = try server.row() else { throw .otherLog("The database has no log.") }
        guard row.isInCharge else {
            throw .otherLog("The log is not in this database any more; remove \"log\" from config.json.")
        }
        try follow(row, in: directory)
        let newest = try LogCopy.events(after: max(row.size - 1, 0), limit: 1, server.session).first
        if newest.flatMap(LogPlace.init(movedBy:)) != .sqlite { try record() }
        guard try server.takeTurnSoon() else {
            throw .otherLog("Another process has taken the log; stop it, and move again.")
        }
        let last = try server.raiseTerm()
        try follow(last, in: directory)
        let keys = try directory.openKeys(under: try directory.keyEncryptionKey(), access: .readOnly)
        let found = try LogVerifier(path: directory.log, keys: keys).verify { progress(.verifying, $0, $1) }
        if let problem = found.problem { throw .damaged(number: problem.number, problem.sentence) }
        guard found.events == last.size, found.root.hex == last.root else {
            throw .damaged(number: found.events, "the tree in the database is not the tree of the copy")
        }
        try SQLiteLogEngine.makeDurable(path: directory.log)
        do throws(PostgreSQLError) {
            try server.session.run("UPDATE whereabouts.log SET in_charge = false, term = term + 1")
        } catch { throw LogError(error) }
        return Outcome(events: last.size, root: last.root, isOver: true)
    }
}

extension LogMove {
    /// Completes the copy, and closes it.
    private func follow(_ row: LogRow, in directory: DataDirectory) throws(LogError) {
        var copy = try LogCopy(path: directory.log, of: row, server.session)
        try copy.follow(to: row.size, server.session) { progress(.copying, $0, row.size) }
    }
}

extension LogPlace {
    /// The place that a `LogMoved` names; `nil` for another event.
    fileprivate init?(movedBy stored: LogReader.StoredEvent) {
        guard stored.header.kind == EventKind.logMoved.rawValue else { return nil }
        let event = stored.body.withUnsafeBytes { body -> Event? in
            var reader = CBORReader(body)
            guard (try? reader.array()) == 1 else { return nil }
            let clear = UnsafeRawBufferPointer(rebasing: body.dropFirst(1))
            return try? EventCoding.decode(kind: .logMoved, in: .house, at: nil, clear: clear, parts: OpenedParts())
        }
        guard case .logMoved(let place)? = event else { return nil }
        self = place
    }
}

extension LogEnd {
    fileprivate init(_ identity: LogIdentity) {
        self.init(epoch: identity.epoch, range: identity.range, head: identity.head)
    }
}
