import Projections
package import SQLite
package import Whereabouts

// Fixes that are withdrawn are in `withdrawn` and in no other table; the fold does not see them. Rows are moved at the
// event, so that later events of the same batch find them moved.
extension TimelineTable {
    /// Moves the visits that an event withdraws or restores, and derives everything from the first of them on again.
    ///
    /// An event without a person changes nothing.
    func reviseVisits(
        _ event: RecordedEvent, _ visits: FixNumbers, _ revision: Part<FixRevision>, isWithdrawal: Bool
    ) throws(SQLiteError) {
        guard let person = event.stream.person else { return }
        let moved = try reviseReports(visits, of: person, revision, isWithdrawal: isWithdrawal)
        let changes = try refold(moved, of: person, isWithdrawal: isWithdrawal, at: event.recordedAt)
        for change in changes { try apply(change) }
    }

    /// Moves the fixes that an event withdraws or restores, and derives everything from the first of them on again.
    ///
    /// An event without a person changes nothing.
    func revise(
        _ event: RecordedEvent, _ fixes: FixNumbers, _ revision: Part<FixRevision>, isWithdrawal: Bool
    ) throws(SQLiteError) {
        guard let person = event.stream.person else { return }
        let searched = Searched(fixes, of: person, revision)
        let moved = isWithdrawal ? try withdraw(searched) : try restore(searched)
        var fixes: [StoredFix] = []
        for row in moved { fixes.append(try row.stored) }
        let changes = try refold(fixes, of: person, isWithdrawal: isWithdrawal, at: event.recordedAt)
        for change in changes { try apply(change) }
    }

    /// A search for the rows of the fixes that an event names.
    ///
    /// An event names fixes by their device and a range of event numbers, and its sealed part has the times of the
    /// first and the last. The times make the search a range of the primary key.
    private struct Searched {
        /// The owner of the device.
        let person: PersonID
        /// The device and the range of event numbers.
        let fixes: FixNumbers
        /// Milliseconds since 1970 UTC.
        let from, to: Int64

        init(_ fixes: FixNumbers, of person: PersonID, _ revision: Part<FixRevision>) {
            (self.fixes, self.person) = (fixes, person)
            // Without its key the event still counts; the numbers suffice, and the search takes longer.
            from = revision.content?.time.lowerBound.milliseconds ?? .min
            to = revision.content?.time.upperBound.milliseconds ?? .max
        }
    }

    /// Moves fixes to `withdrawn`; of twins, the next one takes the row in `fix`.
    ///
    /// Returns the moved rows. Withdrawn fixes count in the fingerprint under another table name, so that a
    /// projection that forgot a withdrawal has another fingerprint.
    private func withdraw(_ searched: Searched) throws(SQLiteError) -> [FixRow] {
        let taken = try take(searched)
        for row in taken {
            let isNew = try file.connection.cached(
                """
                INSERT INTO withdrawn
                    (person, device, timestamp_ms, latitude_degrees, longitude_degrees, horizontal_accuracy_meters,
                    details, number, received_after_ms, content)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT DO NOTHING
                """
            ) { (statement) throws(SQLiteError) in
                try row.bind(to: statement)
                try statement.bind(Self.content(hash(row)), at: 10)
                try statement.run()
                return file.connection.changes == 1
            }
            if isNew { file.fingerprint.add(withdrawnHash(row)) }
        }
        return taken
    }

    /// Deletes the fixes of these events for good, because their keys are destroyed, also those that were withdrawn.
    ///
    /// - Returns: The fixes that counted until now.
    ///
    /// Cost: a look at all fixes of the person for each device.
    func retireFixes(_ numbers: ClosedRange<Int64>, of person: PersonID) throws(SQLiteError) -> [FixRow] {
        var taken: [FixRow] = []
        for device in try devicesWithFixes(of: person) {
            let searched = Searched(FixNumbers(device: device, numbers: numbers), of: person, .erased)
            taken += try take(searched)
            for row in try rows(Self.searchedWithdrawnSQL, searched) { try deleteWithdrawn(row) }
        }
        return taken
    }

    /// The devices that a search names, by number.
    func devices(_ sql: StaticString, of person: PersonID) throws(SQLiteError) -> [DeviceID] {
        try file.connection.cached(sql) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            var found: [DeviceID] = []
            while try statement.step() { found.append(DeviceID(rawValue: statement.int(at: 0))) }
            return found
        }
    }

    /// The devices that have fixes, also withdrawn ones, by number. Twins have the devices of their fixes.
    private func devicesWithFixes(of person: PersonID) throws(SQLiteError) -> [DeviceID] {
        var found = Set(try devices("SELECT DISTINCT device FROM withdrawn WHERE person = ?", of: person))
        try eachFixRow(of: person) { (fix) throws(SQLiteError) in
            found.insert(fix.device)
            return true
        }
        return found.sorted { $0.rawValue < $1.rawValue }
    }

    /// Deletes fixes; of twins, the next one takes the row in `fix`. Returns the deleted rows.
    private func take(_ searched: Searched) throws(SQLiteError) -> [FixRow] {
        let (twins, firsts) = (try rows(Self.searchedTwinsSQL, searched), try fixes(searched))
        for twin in twins { try deleteTwin(twin) }
        for first in firsts {
            let next = try twinsLike(first).min { precedes($0, hash($0), $1, hash($1)) }
            if let next {
                try deleteTwin(next)
                try blocks.replace(with: next)
            } else {
                try blocks.remove(first)
            }
        }
        for row in twins + firsts { file.fingerprint.subtract(hash(row)) }
        return twins + firsts
    }

    /// Moves fixes back from `withdrawn`.
    ///
    /// Returns the moved rows. A fix whose identity has a row meanwhile becomes its twin, or takes its place.
    private func restore(_ searched: Searched) throws(SQLiteError) -> [FixRow] {
        let found = try rows(Self.searchedWithdrawnSQL, searched)
        for row in found {
            try deleteWithdrawn(row)
            try insert(row)
        }
        return found
    }

    /// Deletes one withdrawn fix, by its identity and content.
    private func deleteWithdrawn(_ row: FixRow) throws(SQLiteError) {
        try run(
            """
            DELETE FROM withdrawn
            WHERE person = ? AND timestamp_ms = ? AND device = ? AND latitude_degrees = ? AND longitude_degrees = ?
                AND content = ?
            """, row)
        file.fingerprint.subtract(withdrawnHash(row))
    }

    // MARK: SQL

    /// The rows of `fix` that a search names.
    private func fixes(_ searched: Searched) throws(SQLiteError) -> [FixRow] {
        var found: [FixRow] = []
        try eachFixRow(of: searched.person, from: searched.from, through: searched.to) { (fix) throws(SQLiteError) in
            if fix.device == searched.fixes.device, searched.fixes.numbers.contains(fix.number) { found.append(fix) }
            return true
        }
        return found
    }

    /// By the primary key: the person's rows of the time.
    ///
    /// Parameters: person, first and last time, device, first and last number.
    static let searchedTwinsSQL: StaticString = """
        SELECT timestamp_ms, latitude_degrees, longitude_degrees, horizontal_accuracy_meters, details, number,
            received_after_ms
        FROM twin
        WHERE person = ?1 AND timestamp_ms BETWEEN ?2 AND ?3 AND device = ?4 AND number BETWEEN ?5 AND ?6
        """

    /// As ``searchedTwinsSQL``.
    static let searchedWithdrawnSQL: StaticString = """
        SELECT timestamp_ms, latitude_degrees, longitude_degrees, horizontal_accuracy_meters, details, number,
            received_after_ms
        FROM withdrawn
        WHERE person = ?1 AND timestamp_ms BETWEEN ?2 AND ?3 AND device = ?4 AND number BETWEEN ?5 AND ?6
        """

    /// Runs one of the two searches.
    private func rows(_ sql: StaticString, _ searched: Searched) throws(SQLiteError) -> [FixRow] {
        try file.connection.cached(sql) { (statement) throws(SQLiteError) in
            try statement.bind(searched.person.rawValue, at: 1)
            try statement.bind(searched.from, at: 2)
            try statement.bind(searched.to, at: 3)
            try statement.bind(searched.fixes.device.rawValue, at: 4)
            try statement.bind(searched.fixes.numbers.lowerBound, at: 5)
            try statement.bind(searched.fixes.numbers.upperBound, at: 6)
            var found: [FixRow] = []
            while try statement.step() {
                found.append(FixRow(statement, of: searched.person, searched.fixes.device))
            }
            return found
        }
    }

    /// The rows of `twin` with the identity of a fix.
    private func twinsLike(_ row: FixRow) throws(SQLiteError) -> [FixRow] {
        try file.connection.cached(
            """
            SELECT timestamp_ms, latitude_degrees, longitude_degrees, horizontal_accuracy_meters, details, number,
                received_after_ms
            FROM twin
            WHERE person = ? AND timestamp_ms = ? AND device = ? AND latitude_degrees = ? AND longitude_degrees = ?
            """
        ) { (statement) throws(SQLiteError) in
            try statement.bind(row.person.rawValue, at: 1)
            try row.identity.bind(to: statement, from: 2)
            var found: [FixRow] = []
            while try statement.step() { found.append(FixRow(statement, of: row.person, row.device)) }
            return found
        }
    }

    /// Deletes one twin, by its identity and content.
    private func deleteTwin(_ row: FixRow) throws(SQLiteError) {
        try run(
            """
            DELETE FROM twin
            WHERE person = ? AND timestamp_ms = ? AND device = ? AND latitude_degrees = ? AND longitude_degrees = ?
                AND content = ?
            """, row)
    }

    /// Runs a statement whose parameters are the identity of a fix and the hash of its content.
    private func run(_ sql: StaticString, _ row: FixRow) throws(SQLiteError) {
        try file.connection.cached(sql) { (statement) throws(SQLiteError) in
            try statement.bind(row.person.rawValue, at: 1)
            try row.identity.bind(to: statement, from: 2)
            try statement.bind(Self.content(hash(row)), at: 6)
            try statement.run()
        }
    }
}

extension TimelineReader {
    /// The person's withdrawn fixes with `from` ≤ timestamp < `to`, by time, device and place, after a page's end.
    ///
    /// One range of the primary key of `withdrawn`.
    package static func withdrawnFixes(
        of person: PersonID, from: Timestamp?, to: Timestamp?, after: FixKey? = nil, limit: Int,
        in connection: borrowing Connection
    ) throws(SQLiteError) -> [ReportedFix] {
        try connection.cached(withdrawnSQL) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.bind(max(from?.milliseconds ?? .min, after?.timestamp.milliseconds ?? .min), at: 2)
            try statement.bind(to?.milliseconds ?? .max, at: 3)
            // The key before all fixes.
            try statement.bind(after?.timestamp.milliseconds ?? .min, at: 4)
            try statement.bind(after?.device.rawValue ?? .min, at: 5)
            try FixColumns.Degrees(after?.latitude ?? 0).bind(to: statement, at: 6)
            try FixColumns.Degrees(after?.longitude ?? 0).bind(to: statement, at: 7)
            try statement.bind(limit, at: 8)
            var found: [ReportedFix] = []
            while try statement.step() { found.append(try ReportedFix(statement)) }
            return found
        }
    }

    /// The newest usable fix of a device that is not withdrawn, as ``CurrentTable`` chooses it among fixes of the same
    /// time; `nil` without one.
    ///
    /// Cost: a search from the person's newest fix to the device's newest usable one.
    ///
    /// - Throws: `SQLiteError`, and a damaged projection for a row that cannot be read.
    package static func newestUsable(
        of person: PersonID, _ device: DeviceID, in connection: borrowing Connection
    ) throws(SQLiteError) -> ReportedFix? {
        var found: [ReportedFix] = []
        // Collects the usable fixes of the newest time; `false` at an older one.
        func take(_ next: ReportedFix) -> Bool {
            if let first = found.first, next.fix.timestamp < first.fix.timestamp { return false }
            guard
                Fix.isUsable(
                    timestamp: next.fix.timestamp, coordinate: next.fix.coordinate,
                    horizontalAccuracy: next.fix.horizontalAccuracy, receivedAt: next.fix.receivedAt)
            else { return true }
            if let first = found.first, next.fix.timestamp > first.fix.timestamp { found = [] }
            found.append(next)
            return true
        }
        try FixBlocks.eachFixBackwards(of: person, in: connection) { (fix) throws(SQLiteError) in
            fix.device != device ? true : take(try ReportedFix(fix))
        }
        try connection.cached(newestTwinsSQL) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.bind(device.rawValue, at: 2)
            while try statement.step() { guard take(try ReportedFix(statement)) else { return } }
        }
        guard found.count > 1 else { return found.first }
        let hasher = RowHasher()
        return found.min { CurrentTable.precedes($0.fix, $1.fix, of: person, device, hasher) }
    }

    /// By the primary key; ?4 to ?7 are the key of the last fix of the page before, and ?2 is not before its time.
    static let withdrawnSQL: StaticString = """
        SELECT device, number, received_after_ms, timestamp_ms, latitude_degrees, longitude_degrees,
            horizontal_accuracy_meters, details
        FROM withdrawn
        WHERE person = ?1 AND timestamp_ms >= ?2 AND timestamp_ms < ?3
            AND (timestamp_ms, device, latitude_degrees, longitude_degrees) > (?4, ?5, ?6, ?7)
        ORDER BY timestamp_ms, device, latitude_degrees, longitude_degrees
        LIMIT ?8
        """

    /// A search from the end of the primary key. The caller stops at the first time that is older than the one found.
    ///
    /// Parameters: person, device.
    static let newestTwinsSQL: StaticString = """
        SELECT device, number, received_after_ms, timestamp_ms, latitude_degrees, longitude_degrees,
            horizontal_accuracy_meters, details
        FROM twin
        WHERE person = ?1 AND device = ?2
        ORDER BY timestamp_ms DESC
        """
}
