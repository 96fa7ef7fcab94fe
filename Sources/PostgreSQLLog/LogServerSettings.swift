package import PostgreSQL

/// The database server that has the log, as `config.json` names it.
package struct LogServerSettings: Sendable {
    /// How libpq finds the database.
    package let connection: ConnectionString
    /// Whether an event must also be on a standby before it is acknowledged. The server decides which standbys count
    /// (`synchronous_standby_names`).
    package let needsQuorum: Bool

    /// The server of this connection string.
    package init(_ connection: ConnectionString, needsQuorum: Bool) {
        (self.connection, self.needsQuorum) = (connection, needsQuorum)
    }
}
