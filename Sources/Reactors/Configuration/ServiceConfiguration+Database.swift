import JSON
package import PostgreSQL
package import Posting

// In `config.json`, for a log that is in a PostgreSQL database:
//
//     "log": {"postgresql": "service=whereabouts", "quorum": true}
//
// and for a reader, which follows that log and never writes it:
//
//     "log": {"postgresql": "service=replica", "writers": ["https://first.example", "https://second.example"]}

extension ServiceConfiguration {
    /// The database that has the log.
    package struct Database: Sendable, Equatable {
        /// How libpq finds it. A password is in a file that this names, or in `~/.pgpass`.
        package let connection: ConnectionString
        /// Whether an event must also be on a standby before it is acknowledged.
        package let needsQuorum: Bool
        /// The addresses of the processes of which one writes the log; empty unless this process is a reader.
        package let writers: [Origin]
        /// A PEM file of certificates to trust for the writers, instead of the system's.
        package let writersCAFile: String?
    }

    /// The most writers: one works, and the others wait.
    private static let writersMax = 8

    static func database(_ value: JSONValue) throws(ReadError) -> Database {
        guard let members = value.members else { throw .badValue("log", "an object") }
        var connection: ConnectionString?
        var needsQuorum = false
        var writers: [Origin] = []
        var caFile: String?
        for (key, value) in members {
            switch key {
            case "postgresql": connection = try connectionString(try text(value, key))
            case "quorum":
                guard let flag = value.bool else { throw .badValue(key, "true or false") }
                needsQuorum = flag
            case "writers": writers = value.isNull ? [] : try self.writers(value)
            case "writersCAFile": caFile = value.isNull ? nil : try text(value, key)
            default: throw .unknownKey(key, in: "\"log\"")
            }
        }
        guard let connection else {
            throw .badValue("postgresql", "given in \"log\", for example \"service=whereabouts\"")
        }
        return Database(
            connection: connection, needsQuorum: needsQuorum, writers: writers, writersCAFile: caFile)
    }

    private static func writers(_ value: JSONValue) throws(ReadError) -> [Origin] {
        guard let items = value.array.map(Array.init), (1...writersMax).contains(items.count) else {
            throw .badValue("writers", "a list of 1 to \(writersMax) addresses")
        }
        var writers: [Origin] = []
        for item in items {
            let address = try text(item, "writers")
            guard let origin = Origin(address.last == "/" ? String(address.dropLast()) : address) else {
                throw .badValue("writers", "addresses without a path, for example \"https://first.example\"")
            }
            guard origin.isEncrypted || origin.isLoopback else {
                throw .badValue("writers", "addresses with https; http is allowed only for this machine")
            }
            writers.append(origin)
        }
        return writers
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
