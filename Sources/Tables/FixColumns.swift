import Geodesy
import Projections
import SQLite
package import Whereabouts

/// The columns of a fix in the tables that store fixes.
///
/// Degrees are in columns of type ANY: as a whole number of 10⁻⁷ degrees (four bytes) if they are exactly that, as
/// receivers give them, otherwise as a REAL (eight bytes). The two cannot be confused, because a REAL with a whole
/// value would have been stored as a whole number.
///
/// `current`, `fix`, `twin` and `withdrawn` have these five columns, always in the order `timestamp_ms`,
/// `latitude_degrees`, `longitude_degrees`, `horizontal_accuracy_meters`, `details`.
///
/// For example, 48.2082 and 16.3738 are stored as the whole numbers 482082000 and 163738000.
struct FixColumns: Equatable {
    /// The device's time.
    /// Milliseconds since 1970, UTC.
    let timestamp: Timestamp
    /// WGS 84, in degrees.
    let latitude, longitude: Degrees
    /// Meters; negative if the device says that the coordinate is invalid, `nil` if it gave none.
    let horizontalAccuracy: Double?
    /// `FixDetails`; `nil` if the fix has none.
    let details: [UInt8]?

    /// Degrees as a column stores them.
    ///
    /// Whole numbers and REALs have different scales, so `<` in SQL does not compare degrees. A primary key needs
    /// only some fixed order, and equal degrees are always stored in the same form.
    struct Degrees: Equatable {
        /// The value in degrees.
        let value: Double
        /// The number of 10⁻⁷ degrees, if the value is exactly that.
        let whole: Int64?

        /// Any value in degrees; the range is checked where a coordinate is made.
        init(_ value: Double) { (self.value, whole) = (value, FixDetails.wholeDegrees(value)) }

        /// A whole number of 10⁻⁷ degrees.
        init(whole: Int64) { (value, self.whole) = (FixDetails.degrees(whole: whole), whole) }

        /// The number that the column has, by which rows are ordered.
        var stored: Double { whole.map(Double.init) ?? value }

        /// Binds an integer or a REAL.
        func bind(to statement: borrowing Statement, at index: Int32) throws(SQLiteError) {
            if let whole { try statement.bind(whole, at: index) } else { try statement.bind(value, at: index) }
        }

        /// Reads a column of type ANY. SQLite converts a REAL to an integer by cutting it, so the two values are
        /// equal only for a whole number.
        init(_ statement: borrowing Statement, at column: Int32) {
            let integer = statement.int(at: column)
            let real = statement.double(at: column)
            whole = Double(integer) == real ? integer : nil
            value = whole.map(FixDetails.degrees(whole:)) ?? real
        }

        /// Writes the stored form, so that the hash distinguishes a whole number from a REAL.
        func write(to writer: inout CBORWriter) {
            if let whole { writer.integer(whole) } else { writer.real(value) }
        }
    }

    init(
        timestamp: Timestamp, latitude: Degrees, longitude: Degrees, horizontalAccuracy: Double?, details: [UInt8]?
    ) {
        (self.timestamp, self.latitude, self.longitude) = (timestamp, latitude, longitude)
        (self.horizontalAccuracy, self.details) = (horizontalAccuracy, details)
    }

    /// The columns of a fix. −0 meters becomes 0, and no number becomes `nil`, as a column would return them.
    ///
    /// Cost: encodes the details, some tens of bytes.
    init(_ fix: Fix) {
        timestamp = fix.timestamp
        latitude = Degrees(fix.coordinate.latitude)
        longitude = Degrees(fix.coordinate.longitude)
        horizontalAccuracy = fix.horizontalAccuracy.flatMap { $0.isNaN ? nil : $0.positiveZero }
        details = FixDetails.encode(fix)
    }

    /// Binds time, latitude, longitude, accuracy and details at `index` and the four after it.
    func bind(to statement: borrowing Statement, from index: Int32) throws(SQLiteError) {
        try statement.bind(timestamp.milliseconds, at: index)
        try latitude.bind(to: statement, at: index + 1)
        try longitude.bind(to: statement, at: index + 2)
        try statement.bind(horizontalAccuracy, at: index + 3)
        try statement.bind(details, at: index + 4)
    }

    /// Reads the columns that ``bind(to:from:)`` bound, in the same order.
    ///
    /// Checks nothing: ``coordinate`` and ``fix`` do.
    init(_ statement: borrowing Statement, from column: Int32) {
        timestamp = Timestamp(milliseconds: statement.int(at: column))
        latitude = Degrees(statement, at: column + 1)
        longitude = Degrees(statement, at: column + 2)
        horizontalAccuracy = statement.optionalDouble(at: column + 3)
        details = statement.optionalBytes(at: column + 4)
    }

    /// Writes the five columns as items of a row's array.
    func write(to writer: inout CBORWriter) {
        writer.integer(timestamp.milliseconds)
        latitude.write(to: &writer)
        longitude.write(to: &writer)
        writer.optional(horizontalAccuracy)
        if let details { writer.byteString(details) } else { writer.null() }
    }

    /// The coordinate; throws a damaged projection if the degrees are out of range.
    var coordinate: Coordinate {
        get throws(SQLiteError) {
            do throws(CoordinateError) {
                return try Coordinate(latitude: latitude.value, longitude: longitude.value)
            } catch {
                throw .damagedProjection
            }
        }
    }

    /// The fix without its client's name for it and its time of receipt.
    ///
    /// - Throws: A damaged projection for degrees out of range, or for details that are not their CBOR array.
    var fix: Fix {
        get throws(SQLiteError) {
            let coordinate = try coordinate
            guard let details else {
                return Fix(timestamp: timestamp, coordinate: coordinate, horizontalAccuracy: horizontalAccuracy)
            }
            let fix = details.withUnsafeBytes {
                try? FixDetails.fix(timestamp, coordinate, horizontalAccuracy, details: $0)
            }
            guard let fix else { throw .damagedProjection }
            return fix
        }
    }

    /// The row's text in a comparison of two generations.
    ///
    /// Contains degrees, so it is shown to the operator in a comparison and never written to diagnostics.
    var summary: String {
        let accuracy = horizontalAccuracy.map { " ±\($0) m" } ?? ""
        return "\(latitude.value) \(longitude.value)\(accuracy)\(details.map { " +\($0.count) bytes" } ?? "")"
    }

    /// The columns in a comparison of two generations.
    var compared: [ProjectionRow.Column] {
        [
            .init("latitude_degrees", latitude.value), .init("longitude_degrees", longitude.value),
            .init("horizontal_accuracy_meters", horizontalAccuracy),
            .init("details", details.map { "\($0.count) bytes" }),
        ]
    }
}

/// A fix with its place in the log.
///
/// Made from a row of `current`, `fix`, `twin` or `withdrawn`. Equal fixes of two reports differ in their numbers.
package struct ReportedFix: Hashable, Sendable {
    /// The device that reported it.
    package let device: DeviceID
    /// Without its client's name for it. If the client gave no time of receipt, it is the house's.
    package let fix: Fix
    /// The number of its event.
    package let number: Int64

    /// The part of the fix from which visits are derived.
    package var stored: StoredFix {
        StoredFix(
            device: device, timestamp: fix.timestamp, coordinate: fix.coordinate,
            horizontalAccuracy: fix.horizontalAccuracy, receivedAt: fix.receivedAt)
    }

    /// Reads a row of device, number, receipt less device time, and the columns of ``FixColumns``.
    ///
    /// - Throws: A damaged projection if the details cannot be decoded or the time of receipt is out of range.
    init(_ statement: borrowing Statement) throws(SQLiteError) {
        device = DeviceID(rawValue: statement.int(at: 0))
        number = statement.int(at: 1)
        var fix = try FixColumns(statement, from: 3).fix
        fix.receivedAt = try statement.optionalInt(at: 2).map { (delay) throws(SQLiteError) in
            try Timestamp(fix.timestamp.milliseconds, plus: delay)
        }
        self.fix = fix
    }

    /// Decodes the details of a row.
    ///
    /// - Throws: A damaged projection as for a row of the file.
    init(_ row: FixRow) throws(SQLiteError) {
        (device, number, fix) = (row.device, row.number, try row.fix)
    }
}

extension Timestamp {
    /// A time stored as milliseconds after another one.
    ///
    /// - Throws: A damaged projection if the sum is not a valid time.
    init(_ milliseconds: Int64, plus delay: Int64) throws(SQLiteError) {
        let (sum, overflows) = milliseconds.addingReportingOverflow(delay)
        if overflows { throw .damagedProjection }
        self.init(milliseconds: sum)
    }
}
