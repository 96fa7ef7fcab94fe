import Cryptography
import Log
import PostgreSQL
import Transparency
package import Whereabouts

/// The row `log` of a server.
package struct LogRow: Sendable {
    /// The id of the log, made with it.
    package let id: Identifier128
    /// Raised whenever a process takes the log.
    package let term: Int64
    /// Whether the log is in this database.
    package let isInCharge: Bool
    /// Raised by each restore and each accepted loss.
    package let epoch: Int64
    /// The tree over all leaves.
    let range: CompactRange
    /// The leaf of the newest event; `nil` for an empty log.
    let head: Digest?
    /// The value by which the key-encryption key is recognized.
    let keyCheck: [UInt8]

    /// The number of events.
    package var size: Int64 { range.size }
    /// The root of the Merkle tree, in hexadecimal digits.
    package var root: String { range.root(SHA256()).hex }

    /// Reads the row; `nil` if the database has no log.
    ///
    /// - Throws: ``LogError/otherLog(_:)`` if a later version wrote it, ``LogError/server(_:)`` if it has another form.
    static func read(_ session: Session) throws(LogError) -> LogRow? {
        let rows: Rows
        do throws(PostgreSQLError) {
            rows = try session.run(LogTables.row)
        } catch {
            // No such schema, or no such table.
            if ["3F000", "42P01"].contains(error.state) {
                session.rollBack()
                return nil
            }
            throw .server("\(error)")
        }
        guard rows.count == 1 else { throw .server("its table log has \(rows.count) rows") }
        guard rows.int(0, 1) <= LogTables.format else {
            throw .otherLog(
                "The database has a log of format \(rows.int(0, 1)), which a later version wrote; this one reads up to \(LogTables.format). Install the later version."
            )
        }
        let head = rows.bytes(0, 7)
        guard let id = rows.withBytes(0, 0, { Identifier128(bytes: $0) }), rows.int(0, 5) >= 0,
            let range = CompactRange(size: rows.int(0, 5), bytes: rows.bytes(0, 6)),
            head.count == (range.size == 0 ? 0 : 32)
        else { throw .server("the row of its table log is damaged") }
        return LogRow(
            id: id, term: rows.int(0, 2), isInCharge: rows.int(0, 3) == 1, epoch: rows.int(0, 4), range: range,
            head: Digest(bytes: head), keyCheck: rows.bytes(0, 8))
    }
}

extension LogError {
    /// An error outside a commit: what the server stored of it, if anything, does not count.
    init(_ error: PostgreSQLError) { self = .server("\(error)") }
}
