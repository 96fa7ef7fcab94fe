import Glibc
package import Log
package import PostgreSQLLog
import SQLite

/// The data directory of a process that waits to take a log over: its events follow the database, and keys that were destroyed
/// there are destroyed here.
package struct WaitingCopy {
    private let directory: DataDirectory
    /// How many keys the database said were destroyed when the last pass ended.
    private var destroyed = 0

    /// The copy in a directory that no service has open.
    package init(in directory: DataDirectory) { self.directory = directory }

    /// Copies the newest events, at most some seconds' work, and destroys keys.
    ///
    /// - Returns: Whether the copy has every event of the database.
    /// - Throws: ``LogError/lost(_:)`` if the database lacks events that the copy has.
    package mutating func follow(_ server: LogServer) throws(LogError) -> Bool {
        guard let place = try server.follow(for: directory) else { return true }
        if access(directory.keys, F_OK) == 0, let gone = try server.destroyedKeys(unless: destroyed) {
            do throws(SQLiteError) { try KeyRing.destroy(gone, of: [], in: directory.keys) } catch {
                throw .sqlite(error)
            }
            destroyed = gone.count
        }
        return place.copy == place.log
    }
}
