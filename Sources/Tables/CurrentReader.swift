package import SQLite
package import Whereabouts

/// Reads the newest locations of persons. Fixes that cannot be used, for example from the future, are not among them.
///
/// Nothing here checks a grant. Callers must pass the fix through the requester's permit before they show it.
package enum CurrentReader {
    /// The newest usable fix of a device.
    package struct Newest: Hashable, Sendable {
        /// The fix.
        package let reported: ReportedFix
        /// Whether it no longer counts. The timeline then has the newest fix that counts
        /// (`TimelineReader.newestUsable`).
        package let isWithdrawn: Bool
    }

    /// The newest usable fix of each of the person's devices, by device.
    ///
    /// A range of the primary key (person, device): one row for each device that ever reported a usable fix, removed
    /// devices included.
    ///
    /// - Throws: `SQLiteError` if the file cannot be read, and a damaged projection for degrees out of range.
    package static func fixes(
        of person: PersonID, in connection: borrowing Connection
    ) throws(SQLiteError) -> [Newest] {
        try connection.cached(devicesSQL) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            var found: [Newest] = []
            while try statement.step() {
                found.append(
                    Newest(reported: try ReportedFix(statement), isWithdrawn: statement.int(at: 8) != 0))
            }
            return found
        }
    }

    /// The newest of several fixes. If two have the same time, the more accurate one, then that of the device with the
    /// lower number.
    ///
    /// `nil` for an empty list. A fix without an accuracy comes after every fix that has one.
    package static func newest(of fixes: [ReportedFix]) -> ReportedFix? {
        func accuracy(_ reported: ReportedFix) -> Double { reported.fix.horizontalAccuracy ?? .infinity }
        return fixes.min { one, other in
            if one.fix.timestamp != other.fix.timestamp { return one.fix.timestamp > other.fix.timestamp }
            return accuracy(one) == accuracy(other) ? one.device < other.device : accuracy(one) < accuracy(other)
        }
    }

    /// By the primary key. The columns are in the order that `ReportedFix` reads, then the mark.
    static let devicesSQL: StaticString = """
        SELECT device, number, received_after_ms, timestamp_ms, latitude_degrees, longitude_degrees,
            horizontal_accuracy_meters, details, is_withdrawn
        FROM current
        WHERE person = ?
        ORDER BY device
        """
}
