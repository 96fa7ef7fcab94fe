import Projections
import SQLite
package import Whereabouts

/// A fix in `fix`, `twin` or `withdrawn`. Its details are not decoded.
package struct FixRow {
    /// The owner of the device.
    let person: PersonID
    /// The device that reported the fix.
    package let device: DeviceID
    /// Time, place, accuracy and the other members.
    let columns: FixColumns
    /// The number of its event.
    package let number: Int64
    /// The receipt minus the device's time, in milliseconds, negative for a clock that runs ahead; `nil` for an
    /// import without a time of receipt.
    let receivedAfter: Int64?

    init(person: PersonID, device: DeviceID, columns: FixColumns, number: Int64, receivedAfter: Int64?) {
        (self.person, self.device, self.columns) = (person, device, columns)
        (self.number, self.receivedAfter) = (number, receivedAfter)
    }

    /// Reads the columns of ``FixColumns``, number, and receipt less device time.
    init(_ statement: borrowing Statement, of person: PersonID, _ device: DeviceID) {
        self.init(
            person: person, device: device, columns: FixColumns(statement, from: 0), number: statement.int(at: 5),
            receivedAfter: statement.optionalInt(at: 6))
    }

    /// What distinguishes it from the person's other fixes, but for its twins.
    var identity: FixIdentity {
        FixIdentity(
            timestamp: columns.timestamp, device: device, latitude: columns.latitude, longitude: columns.longitude)
    }

    /// About the bytes that it takes.
    var memory: Int { MemoryLayout<FixRow>.stride + (columns.details.map { $0.count + 32 } ?? 0) }

    /// When it was received.
    ///
    /// - Throws: A damaged projection if the sum is not a valid time.
    var receivedAt: Timestamp? {
        get throws(SQLiteError) {
            try receivedAfter.map { (delay) throws(SQLiteError) in
                try Timestamp(columns.timestamp.milliseconds, plus: delay)
            }
        }
    }

    /// The fix without its client's name for it. If the client gave no time of receipt, it is the house's.
    ///
    /// - Throws: A damaged projection if the details cannot be decoded, or for degrees or a time of receipt out of range.
    ///   Cost: decodes the details.
    package var fix: Fix {
        get throws(SQLiteError) {
            var fix = try columns.fix
            fix.receivedAt = try receivedAt
            return fix
        }
    }

    /// The part from which visits are derived.
    ///
    /// - Throws: A damaged projection for degrees or a time of receipt out of range.
    package var stored: StoredFix {
        get throws(SQLiteError) {
            StoredFix(
                device: device, timestamp: columns.timestamp, coordinate: try columns.coordinate,
                horizontalAccuracy: columns.horizontalAccuracy, receivedAt: try receivedAt)
        }
    }
}

extension FixRow {
    /// Binds the columns in the order of the insertions, from 1 to 9.
    func bind(to statement: borrowing Statement) throws(SQLiteError) {
        try statement.bind(person.rawValue, at: 1)
        try statement.bind(device.rawValue, at: 2)
        try columns.bind(to: statement, from: 3)
        try statement.bind(number, at: 8)
        try statement.bind(receivedAfter, at: 9)
    }
}

/// The identity of a person's fix. Twins have the same.
///
/// Ordered by time, device, stored latitude and stored longitude, as the primary keys of `fix`, `twin` and `withdrawn`.
struct FixIdentity: Comparable {
    let timestamp: Timestamp
    let device: DeviceID
    let latitude, longitude: FixColumns.Degrees

    static func < (a: FixIdentity, b: FixIdentity) -> Bool {
        if a.timestamp != b.timestamp { return a.timestamp < b.timestamp }
        if a.device != b.device { return a.device.rawValue < b.device.rawValue }
        if a.latitude != b.latitude { return a.latitude.stored < b.latitude.stored }
        return a.longitude.stored < b.longitude.stored
    }

    /// Binds time, device, latitude and longitude at `index` and the three after it.
    func bind(to statement: borrowing Statement, from index: Int32) throws(SQLiteError) {
        try statement.bind(timestamp.milliseconds, at: index)
        try statement.bind(device.rawValue, at: index + 1)
        try latitude.bind(to: statement, at: index + 2)
        try longitude.bind(to: statement, at: index + 3)
    }
}

extension FixIdentity {
    /// Reads time, device, latitude and longitude.
    init(_ statement: borrowing Statement, from column: Int32) {
        self.init(
            timestamp: Timestamp(milliseconds: statement.int(at: column)),
            device: DeviceID(rawValue: statement.int(at: column + 1)),
            latitude: FixColumns.Degrees(statement, at: column + 2),
            longitude: FixColumns.Degrees(statement, at: column + 3))
    }

    init(_ key: TimelineReader.FixKey) {
        self.init(
            timestamp: key.timestamp, device: key.device, latitude: FixColumns.Degrees(key.latitude),
            longitude: FixColumns.Degrees(key.longitude))
    }
}
