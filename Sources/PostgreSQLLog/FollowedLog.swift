package import Log
import PostgreSQL
import Whereabouts

/// The log on a database server as a reader follows it, from the primary or from a standby. The copy in the reader's data
/// directory grows behind it; nothing is written to the server.
///
/// Use it on one thread at a time. After `LogError.server` it connects again with the next call.
package final class FollowedLog {
    /// How far the copy is.
    package struct Place: Sendable {
        /// The number of the newest event in the copy.
        package let copy: Int64
        /// The number of the newest event on the server.
        package let server: Int64
    }

    private let settings: LogServerSettings
    private var server: LogServer?
    private var copy: LogCopy
    private let id: Identifier128
    private let epoch: Int64
    /// Names the log beside its copy, so that a copy whose beginning is damaged is known as one.
    private let witness: WitnessFile
    /// The highest id of a key that was copied.
    private var highestKey: Int64 = 0

    /// The most events of one call, so that its caller can fold them and go on.
    private static let eventsPerCall: Int64 = 16_384

    /// Connects, and copies every event that is durable. A copy that is damaged or of an earlier epoch is replaced.
    ///
    /// - Parameter progress: Called every few thousand events with their number and the size of the log.
    /// - Throws: ``LogError/server(_:)`` if the server cannot be reached, or is a standby that lacks events of the copy yet;
    ///   the same call may succeed later. ``LogError/lost(_:)`` if a primary lacks events of the copy.
    package init(
        _ settings: LogServerSettings, in directory: DataDirectory,
        progress: (_ done: Int64, _ all: Int64) -> Void = { _, _ in }
    ) throws(LogError) {
        self.settings = settings
        let server = try LogServer(settings)
        guard let row = try server.row(), row.isInCharge else {
            throw .server("it has no log, or one that is being moved")
        }
        do throws(LogError) { copy = try LogCopy(path: directory.log, of: row, server.session) } catch {
            // A standby may have read less than the one that was asked before.
            guard case .lost(let loss) = error, try server.isStandby() else { throw error }
            throw .server(
                "it is a standby with \(loss.has) events, and the copy here has \(loss.known); it must catch up")
        }
        (self.server, id, epoch) = (server, row.id, row.epoch)
        witness = WitnessFile(besideLog: directory.log)
        let durable = try Self.vouchedFor(server.session)
        while copy.size < durable {
            try copy.follow(to: min(durable, copy.size + Self.eventsPerCall), server.session)
            progress(copy.size, durable)
        }
        try noteWitness()
    }

    /// The server's version and address, in words; `nil` while it is out of reach.
    package var serverPlace: String? { server?.place }

    /// Makes `keys` a copy of the keys on the server. Called once, before any event is read.
    package func copyKeys(to keys: KeyRing) throws(LogError) {
        let server = try connected()
        guard let row = try server.row() else { throw .server("its tables are gone") }
        let table = try PostgreSQLKeys.table(server.session, check: row.keyCheck)
        try keys.copy(table)
        highestKey = max(table.keys.last?.id ?? 0, table.destroyed.last ?? 0)
    }

    /// Copies the next durable events, and the new keys that they need.
    ///
    /// The events of the newest transaction may be on no standby yet, so they are left out unless the process that writes
    /// the log has said that they are durable. A later transaction vouches for those before it.
    ///
    /// - Parameter acknowledged: The newest event that the process that writes the log called durable.
    /// - Throws: ``LogError/server(_:)`` if the server cannot be reached, and the next call tries again.
    ///   ``LogError/copyBehind(_:)`` if the log has another history than the copy: only a new start helps.
    package func follow(addingKeysTo keys: KeyRing, acknowledged: Int64) throws(LogError) -> Place {
        let isNew = server == nil
        let server = try connected()
        do throws(LogError) {
            guard let row = try server.row(), row.isInCharge else {
                throw .copyBehind("the log has moved away from the database")
            }
            guard row.id == id, row.epoch == epoch else {
                throw .copyBehind("the log in the database has begun epoch \(row.epoch), and the copy has \(epoch)")
            }
            if isNew, row.size >= copy.size, try !copy.isBeginning(server.session) {
                throw .copyBehind("the database has another event \(copy.size) than the copy")
            }
            guard row.size > copy.size else { return Place(copy: copy.size, server: row.size) }
            let durable = min(row.size, max(try Self.vouchedFor(server.session), acknowledged))
            if durable > copy.size {
                try copy.follow(to: min(durable, copy.size + Self.eventsPerCall), server.session)
                // After the events: a key is durable before the first event under it.
                let new = try PostgreSQLKeys.rows(after: highestKey, server.session)
                try keys.add(new)
                highestKey = new.last?.id ?? highestKey
                try noteWitness()
            }
            return Place(copy: copy.size, server: row.size)
        } catch {
            if case .server = error { self.server = nil }
            throw error
        }
    }

    private func noteWitness() throws(LogError) {
        witness.note(LogWitness(log: id, epoch: epoch, number: copy.size, leaf: try copy.newestLeaf()))
    }

    private func connected() throws(LogError) -> LogServer {
        if let server { return server }
        let new = try LogServer(settings)
        server = new
        return new
    }

    /// The newest event that is not of the newest transaction; 0 without one.
    private static func vouchedFor(_ session: Session) throws(LogError) -> Int64 {
        do throws(PostgreSQLError) {
            let rows = try session.run(LogTables.vouchedFor)
            return rows.count == 1 ? rows.int(0, 0) : 0
        } catch { throw LogError(error) }
    }
}

extension LogServer {
    /// Whether the server follows another one.
    package func isStandby() throws(LogError) -> Bool {
        do throws(PostgreSQLError) { return try session.run("SELECT pg_is_in_recovery()").int(0, 0) == 1 } catch {
            throw LogError(error)
        }
    }
}
