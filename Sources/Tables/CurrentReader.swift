package import SQLite
package import Whereabouts

/// Reads the newest locations of persons. Fixes that cannot be used, for example from the future, are not among them.
package enum CurrentReader {
    /// The person's newest usable fix, or `nil`. If two devices have one at the same time, the more accurate wins, then
    /// the device with the lower number.
    package static func fix(
        of person: PersonID, in connection: borrowing Connection
    ) throws(SQLiteError) -> ReportedFix? {
        try connection.cached(newestSQL) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            return try statement.step() ? try ReportedFix(statement) : nil
        }
    }

    /// The newest usable fix of each of the person's devices, by device.
    package static func fixes(
        of person: PersonID, in connection: borrowing Connection
    ) throws(SQLiteError) -> [ReportedFix] {
        try connection.cached(devicesSQL) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            var found: [ReportedFix] = []
            while try statement.step() { found.append(try ReportedFix(statement)) }
            return found
        }
    }

    /// Sorts the rows of one person, one per device.
    static let newestSQL: StaticString = """
        SELECT device, number, received_after_ms, timestamp_ms, latitude_degrees, longitude_degrees,
            horizontal_accuracy_meters, details
        FROM current
        WHERE person = ?
        ORDER BY timestamp_ms DESC, horizontal_accuracy_meters NULLS LAST, device
        LIMIT 1
        """

    static let devicesSQL: StaticString = """
        SELECT device, number, received_after_ms, timestamp_ms, latitude_degrees, longitude_degrees,
            horizontal_accuracy_meters, details
        FROM current
        WHERE person = ?
        ORDER BY device
        """
}
