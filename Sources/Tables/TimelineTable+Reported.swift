import Cryptography
import Geodesy
import Projections
import SQLite
import Whereabouts

/// The moments of the visits that devices reported, which are written as they come.
///
/// Two events can report the same moment. It then has one row for each event but counts once in the fingerprint, until
/// both are withdrawn.
extension TimelineTable {
    /// A moment as a row of `reported` or `withdrawn_reported`.
    private struct ReportedRow {
        let person: PersonID
        let moment: StoredFix
        let report: ReportedMoment
        /// Milliseconds from the device's time to the receipt.
        let receivedAfter: Int64
        let number: Int64
    }

    /// Writes the moments of the visits of a batch.
    func insertReports(_ batch: ArraySlice<RecordedEvent>) throws(SQLiteError) {
        // By index into a span: a loop over the events would copy each of them.
        let events = batch.span
        for index in events.indices {
            guard case .sightingReported(let device, _, .open(.visit(let visit))) = events[index].event,
                let person = events[index].stream.person
            else { continue }
            let recordedAt = events[index].recordedAt
            for moment in StoredFix.moments(of: visit, device: device, receivedAt: recordedAt) {
                guard let report = moment.report else { continue }
                try insert(
                    ReportedRow(
                        person: person, moment: moment, report: report,
                        receivedAfter: recordedAt.milliseconds - moment.timestamp.milliseconds,
                        number: events[index].number))
            }
        }
    }

    /// Withdraws or restores the moments of the visits that an event names.
    ///
    /// - Returns: The moments that count no longer, or again.
    func reviseReports(
        _ visits: FixNumbers, of person: PersonID, _ revision: Part<FixRevision>, isWithdrawal: Bool
    ) throws(SQLiteError) -> [StoredFix] {
        let found = try rows(
            isWithdrawal ? Self.searchedReportsSQL : Self.searchedWithdrawnReportsSQL, visits, of: person,
            revision.content?.time)
        for row in found {
            if isWithdrawal {
                try delete(row)
                try insertWithdrawn(row)
            } else {
                try deleteWithdrawn(row)
                try insert(row)
            }
        }
        return found.map(\.moment)
    }

    /// Deletes the moments of these events for good, because their keys are destroyed, also those that were withdrawn.
    ///
    /// - Returns: The moments that counted until now.
    func retireReports(_ numbers: ClosedRange<Int64>, of person: PersonID) throws(SQLiteError) -> [StoredFix] {
        var taken: [StoredFix] = []
        for device in try devices(Self.reportingDevicesSQL, of: person) {
            let named = FixNumbers(device: device, numbers: numbers)
            for row in try rows(Self.searchedReportsSQL, named, of: person, nil) {
                try delete(row)
                taken.append(row.moment)
            }
            for row in try rows(Self.searchedWithdrawnReportsSQL, named, of: person, nil) { try deleteWithdrawn(row) }
        }
        return taken
    }

    /// The devices that have reported visits, also withdrawn ones.
    private static let reportingDevicesSQL: StaticString = """
        SELECT device FROM reported WHERE person = ?1
        UNION
        SELECT device FROM withdrawn_reported WHERE person = ?1
        ORDER BY device
        """

    private func insert(_ row: ReportedRow) throws(SQLiteError) {
        if try count(Self.countedSQL, like: row) == 0 { file.fingerprint.add(hash(row.person, row.moment)) }
        try run(
            """
            INSERT INTO reported
                (person, timestamp_ms, device, kind, until_ms, latitude_degrees, longitude_degrees,
                horizontal_accuracy_meters, received_after_ms, number)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """, row, withReceipt: true)
    }

    private func insertWithdrawn(_ row: ReportedRow) throws(SQLiteError) {
        if try count(Self.countedWithdrawnSQL, like: row) == 0 {
            file.fingerprint.add(withdrawnHash(row.person, row.moment))
        }
        try run(
            """
            INSERT INTO withdrawn_reported
                (person, timestamp_ms, device, kind, until_ms, latitude_degrees, longitude_degrees,
                horizontal_accuracy_meters, received_after_ms, number)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """, row, withReceipt: true)
    }

    private func delete(_ row: ReportedRow) throws(SQLiteError) {
        try run(
            """
            DELETE FROM reported
            WHERE person = ? AND timestamp_ms = ? AND device = ? AND kind = ? AND until_ms = ? AND latitude_degrees = ?
                AND longitude_degrees = ? AND horizontal_accuracy_meters = ? AND number = ?
            """, row, withReceipt: false)
        if try count(Self.countedSQL, like: row) == 0 { file.fingerprint.subtract(hash(row.person, row.moment)) }
    }

    private func deleteWithdrawn(_ row: ReportedRow) throws(SQLiteError) {
        try run(
            """
            DELETE FROM withdrawn_reported
            WHERE person = ? AND timestamp_ms = ? AND device = ? AND kind = ? AND until_ms = ? AND latitude_degrees = ?
                AND longitude_degrees = ? AND horizontal_accuracy_meters = ? AND number = ?
            """, row, withReceipt: false)
        if try count(Self.countedWithdrawnSQL, like: row) == 0 {
            file.fingerprint.subtract(withdrawnHash(row.person, row.moment))
        }
    }

    /// The hash of a row of `withdrawn_reported`.
    func withdrawnHash(_ person: PersonID, _ moment: StoredFix) -> Fingerprint {
        file.hasher.hash { writer in
            writer.array(9)
            writer.text("withdrawn reported")
            write(person, moment, to: &writer)
        }
    }

    // MARK: SQL

    /// The rows of the same moment.
    static let countedSQL: StaticString = """
        SELECT count(*)
        FROM reported
        WHERE person = ? AND timestamp_ms = ? AND device = ? AND kind = ? AND until_ms = ? AND latitude_degrees = ?
            AND longitude_degrees = ? AND horizontal_accuracy_meters = ?
        """

    /// As ``countedSQL``.
    static let countedWithdrawnSQL: StaticString = """
        SELECT count(*)
        FROM withdrawn_reported
        WHERE person = ? AND timestamp_ms = ? AND device = ? AND kind = ? AND until_ms = ? AND latitude_degrees = ?
            AND longitude_degrees = ? AND horizontal_accuracy_meters = ?
        """

    /// By the primary key: the person's rows of the time.
    static let searchedReportsSQL: StaticString = """
        SELECT timestamp_ms, kind, until_ms, latitude_degrees, longitude_degrees, horizontal_accuracy_meters,
            received_after_ms, number
        FROM reported
        WHERE person = ?1 AND timestamp_ms BETWEEN ?2 AND ?3 AND device = ?4 AND number BETWEEN ?5 AND ?6
        """

    /// As ``searchedReportsSQL``.
    static let searchedWithdrawnReportsSQL: StaticString = """
        SELECT timestamp_ms, kind, until_ms, latitude_degrees, longitude_degrees, horizontal_accuracy_meters,
            received_after_ms, number
        FROM withdrawn_reported
        WHERE person = ?1 AND timestamp_ms BETWEEN ?2 AND ?3 AND device = ?4 AND number BETWEEN ?5 AND ?6
        """

    /// - Parameter time: The times of the moments; `nil` for any, if the event's key is lost.
    private func rows(
        _ sql: StaticString, _ visits: FixNumbers, of person: PersonID, _ time: ClosedRange<Timestamp>?
    ) throws(SQLiteError) -> [ReportedRow] {
        try file.connection.cached(sql) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.bind(time?.lowerBound.milliseconds ?? .min, at: 2)
            try statement.bind(time?.upperBound.milliseconds ?? .max, at: 3)
            try statement.bind(visits.device.rawValue, at: 4)
            try statement.bind(visits.numbers.lowerBound, at: 5)
            try statement.bind(visits.numbers.upperBound, at: 6)
            var found: [ReportedRow] = []
            while try statement.step() {
                let accuracy = statement.double(at: 5)
                guard let kind = ReportedMoment.Kind(rawValue: statement.int(at: 1)),
                    let coordinate = try? Coordinate(
                        latitude: statement.double(at: 3), longitude: statement.double(at: 4))
                else { throw .damagedProjection }
                let report = ReportedMoment(kind: kind, until: Timestamp(milliseconds: statement.int(at: 2)))
                let moment = StoredFix(
                    device: visits.device, timestamp: Timestamp(milliseconds: statement.int(at: 0)),
                    coordinate: coordinate, horizontalAccuracy: accuracy == -1 ? nil : accuracy,
                    receivedAt: try Timestamp(statement.int(at: 0), plus: statement.int(at: 6)), report: report)
                found.append(
                    ReportedRow(
                        person: person, moment: moment, report: report, receivedAfter: statement.int(at: 6),
                        number: statement.int(at: 7)))
            }
            return found
        }
    }

    private func count(_ sql: StaticString, like row: ReportedRow) throws(SQLiteError) -> Int64 {
        try file.connection.cached(sql) { (statement) throws(SQLiteError) in
            try bindMoment(of: row, to: statement)
            return try statement.step() ? statement.int(at: 0) : 0
        }
    }

    /// - Parameter withReceipt: Whether the receipt comes before the number.
    private func run(_ sql: StaticString, _ row: ReportedRow, withReceipt: Bool) throws(SQLiteError) {
        try file.connection.cached(sql) { (statement) throws(SQLiteError) in
            try bindMoment(of: row, to: statement)
            if withReceipt { try statement.bind(row.receivedAfter, at: 9) }
            try statement.bind(row.number, at: withReceipt ? 10 : 9)
            try statement.run()
        }
    }

    /// Binds person, time, device, kind, end, latitude, longitude and accuracy, from 1 to 8.
    private func bindMoment(of row: ReportedRow, to statement: borrowing Statement) throws(SQLiteError) {
        try statement.bind(row.person.rawValue, at: 1)
        try statement.bind(row.moment.timestamp.milliseconds, at: 2)
        try statement.bind(row.moment.device.rawValue, at: 3)
        try statement.bind(row.report.kind.rawValue, at: 4)
        try statement.bind(row.report.until.milliseconds, at: 5)
        try statement.bind(row.moment.coordinate.latitude + 0, at: 6)
        try statement.bind(row.moment.coordinate.longitude + 0, at: 7)
        try statement.bind(row.moment.horizontalAccuracy ?? -1, at: 8)
    }
}
