import JSON
package import PostgreSQL

// In `config.json`, for a log that is in a PostgreSQL database:
//
//     "log": {"postgresql": "service=whereabouts", "quorum": true}

extension ServiceConfiguration {
    /// The database that has the log.
    package struct Database: Sendable, Equatable {
        /// How libpq finds it. A password is in a file that this names, or in `~/.pgpass`.
        package let connection: ConnectionString
        /// Whether an event must also be on a standby before it is acknowledged.
        package let needsQuorum: Bool
    }

    static func database(_ value: JSONValue) throws(ReadError) -> Database {
        guard let members = value.members else { throw .badValue("log", "an object") }
        var connection: ConnectionString?
        var needsQuorum = false
        for (key, value) in members {
            switch key {
            case "postgresql": connection = try connectionString(try text(value, key))
            case "quorum":
                guard let flag = value.bool else { throw .badValue(key, "true or false") }
                needsQuorum = flag
            default: throw .unknownKey(key, in: "\"log\"")
            }
        }
        guard let connection else {
            throw .badValue("postgresql", "given in \"log\", for example \"service=whereabouts\"")
        }
        return Database(connection: connection, needsQuorum: needsQuorum)
    }

    private static func connectionString(_ text: String) throws(ReadError) -> ConnectionString {
        do throws(ConnectionString.Fault) { return try ConnectionString(text) } catch {
            switch error {
            case .hasPassword:
                throw .badValue(
                    "postgresql", "free of passwords; name a file with passfile=, or a service file with service=")
            case .malformed(let why): throw .badValue("postgresql", "a connection string of libpq (\(why))")
            }
        }
    }
}
