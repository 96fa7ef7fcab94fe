import Cryptography
import Geodesy
import Projections
import SQLite
import Whereabouts

/// Reads rows back: for the fold and for erasing. The fold reads its own rows only, by the protocol
/// `TimelineRows`, which documents each function.
extension TimelineTable: TimelineRows {
    /// Merges `fix` with `twin` and `reported` by time and device. Withdrawn fixes are not among them.
    ///
    /// - Throws: A damaged projection for degrees out of range or an unknown kind of moment.
    func eachFix(
        of person: PersonID, from: Timestamp?, _ body: (StoredFix) throws(SQLiteError) -> Bool
    ) throws(SQLiteError) {
        let from = from?.milliseconds ?? .min
        try file.connection.cached(Self.otherRowsSQL) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.bind(from, at: 2)
            var others = try OtherRows(statement)
            var wantsMore = true
            try eachFixRow(of: person, from: from) { (row) throws(SQLiteError) in
                while let next = others.next, !row.precedes(next) {
                    try others.advance(statement)
                    wantsMore = try body(next)
                    if !wantsMore { return false }
                }
                wantsMore = try body(try row.stored)
                return wantsMore
            }
            while wantsMore, let next = others.next {
                try others.advance(statement)
                wantsMore = try body(next)
            }
        }
    }

    /// Gives the person's fixes as rows of `fix`, after the changes that are not in the file yet are written.
    func eachFixRow(
        of person: PersonID, from: Int64 = .min, through: Int64 = .max,
        _ body: (FixRow) throws(SQLiteError) -> Bool
    ) throws(SQLiteError) {
        try blocks.write(person)
        try FixBlocks.eachFix(of: person, from: from, through: through, in: file.connection, body)
    }

    /// The rows of `twin` and `reported`, of which the next one is at hand.
    private struct OtherRows {
        /// `nil` after the last one.
        private(set) var next: StoredFix?
        /// The reported moments of the time of the last one.
        private var moments: [StoredFix] = []

        /// - Parameter statement: One of ``otherRowsSQL``.
        init(_ statement: borrowing Statement) throws(SQLiteError) { try advance(statement) }

        /// - Throws: A damaged projection for degrees out of range or an unknown kind of moment.
        mutating func advance(_ statement: borrowing Statement) throws(SQLiteError) {
            next = nil
            while next == nil, try statement.step() {
                let fix = try StoredFix(statement)
                if fix.report != nil {
                    // A moment that several events report has several rows and counts once.
                    if moments.last?.timestamp != fix.timestamp { moments.removeAll() }
                    if moments.contains(where: { $0.isSameMoment(as: fix) }) { continue }
                    moments.append(fix)
                }
                next = fix
            }
        }
    }

    /// Two ordered searches whose results SQLite merges.
    ///
    /// Parameters: person, from. Each of the two is a range of its primary key, so nothing is sorted.
    static let otherRowsSQL: StaticString = """
        SELECT timestamp_ms, latitude_degrees, longitude_degrees, horizontal_accuracy_meters, received_after_ms, device,
            NULL, NULL
        FROM twin
        WHERE person = ?1 AND timestamp_ms >= ?2
        UNION ALL
        SELECT timestamp_ms, latitude_degrees, longitude_degrees, horizontal_accuracy_meters, received_after_ms, device,
            kind, until_ms
        FROM reported
        WHERE person = ?1 AND timestamp_ms >= ?2
        ORDER BY timestamp_ms, device
        """

    func leads(of person: PersonID, from: Timestamp?) throws(SQLiteError) -> [Lead] {
        try TimelineReader.leads(of: person, from: from, to: nil, in: file.connection)
    }

    /// One row by the primary key of `receipt`.
    func newestReceipt(of person: PersonID) throws(SQLiteError) -> Timestamp? {
        try file.connection.cached("SELECT newest_ms FROM receipt WHERE person = ?") {
            (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            return try statement.step() ? Timestamp(milliseconds: statement.int(at: 0)) : nil
        }
    }

    /// Needed only after fixes were withdrawn, when the stored newest receipt may belong to one of them.
    func latestReceipt(of person: PersonID) throws(SQLiteError) -> Timestamp? {
        var latest = try file.connection.cached(Self.latestReceiptSQL) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            return try statement.step() ? statement.optionalInt(at: 0).map(Timestamp.init(milliseconds:)) : nil
        }
        try eachFixRow(of: person) { (fix) throws(SQLiteError) in
            let receipt = try fix.receivedAt ?? fix.columns.timestamp
            latest = max(latest ?? receipt, receipt)
            return true
        }
        return latest
    }

    /// A fix without a time of receipt counts with its device time.
    static let latestReceiptSQL: StaticString = """
        SELECT max(latest)
        FROM (
            SELECT max(timestamp_ms + coalesce(received_after_ms, 0)) AS latest FROM twin WHERE person = ?1
            UNION ALL
            SELECT max(timestamp_ms + received_after_ms) FROM reported WHERE person = ?1
        )
        """

    /// Removed regions are among them, because crossings before the removal still count.
    func regions(of person: PersonID) throws(SQLiteError) -> [WatchedRegion] {
        try file.connection.cached(
            """
            SELECT region, content, removed_at_ms
            FROM region
            WHERE person = ?
            ORDER BY region
            """
        ) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            var found: [WatchedRegion] = []
            while try statement.step() { found.append(try Self.region(statement, from: 0)) }
            return found
        }
    }

    /// One search backwards by the primary key (person, closed).
    ///
    /// - Throws: A damaged projection for a wrong checksum.
    func restart(of person: PersonID, closedBefore moment: Timestamp?) throws(SQLiteError) -> Restart? {
        try file.connection.cached(
            """
            SELECT seed_ms, closed_ms, state
            FROM restart
            WHERE person = ? AND closed_ms < ?
            ORDER BY closed_ms DESC
            LIMIT 1
            """
        ) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.bind(moment?.milliseconds ?? .max, at: 2)
            return try statement.step() ? restart(statement, person) : nil
        }
    }

    func restart(of person: PersonID, closedAt moment: Timestamp) throws(SQLiteError) -> Restart? {
        try file.connection.cached("SELECT seed_ms, closed_ms, state FROM restart WHERE person = ? AND closed_ms = ?") {
            (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.bind(moment.milliseconds, at: 2)
            return try statement.step() ? restart(statement, person) : nil
        }
    }

    /// A range of the primary key (person, arrival).
    func visits(
        of person: PersonID, arrivingFrom from: Timestamp?, before: Timestamp?
    ) throws(SQLiteError) -> [Visit] {
        try file.connection.cached(
            """
            SELECT id, arrival_ms, departure_ms, latitude_degrees, longitude_degrees, horizontal_accuracy_meters, fixes,
                first_reported_ms, departure_reported_ms, last_seen_ms, tellable_from_ms
            FROM visit
            WHERE person = ? AND arrival_ms >= ? AND arrival_ms < ?
            ORDER BY arrival_ms
            """
        ) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.bind(from?.milliseconds ?? .min, at: 2)
            try statement.bind(before?.milliseconds ?? .max, at: 3)
            var found: [Visit] = []
            while try statement.step() { found.append(try Visit(statement, from: 0)) }
            return found
        }
    }

    /// A range of the primary key by time; the rows are then filtered by their confirmation.
    func crossings(
        of person: PersonID, from: Timestamp?, confirmedAfter after: Timestamp?, through: Timestamp?
    ) throws(SQLiteError) -> [Crossing] {
        try file.connection.cached(
            """
            SELECT region, kind, time_ms, confirmed_ms, reported_ms
            FROM crossing
            WHERE person = ?1 AND time_ms >= ?2 AND time_ms <= ?4 AND confirmed_ms > ?3 AND confirmed_ms <= ?4
            ORDER BY time_ms, region, kind
            """
        ) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.bind(from?.milliseconds ?? .min, at: 2)
            try statement.bind(after?.milliseconds ?? .min, at: 3)
            try statement.bind(through?.milliseconds ?? .max, at: 4)
            var found: [Crossing] = []
            while try statement.step() { found.append(try Crossing(statement, from: 0)) }
            return found
        }
    }

    /// A restart whose checksum is right; throws a damaged projection otherwise.
    private func restart(_ statement: borrowing Statement, _ person: PersonID) throws(SQLiteError) -> Restart {
        let bytes = statement.bytes(at: 2)
        let restart = Restart(
            seed: Timestamp(milliseconds: statement.int(at: 0)), closed: Timestamp(milliseconds: statement.int(at: 1)),
            state: bytes.dropLast(16))
        guard bytes.suffix(16).elementsEqual(checksum(of: restart, person)) else { throw .damagedProjection }
        return restart
    }

    /// Reads region, content and time of removal.
    ///
    /// - Throws: A damaged projection if the content is not an encoded region.
    static func region(_ statement: borrowing Statement, from column: Int32) throws(SQLiteError)
        -> WatchedRegion
    {
        guard let region = Region(encoded: statement.bytes(at: column + 1)) else { throw .damagedProjection }
        return WatchedRegion(
            id: RegionID(rawValue: statement.int(at: column)), region: region,
            removedAt: statement.optionalInt(at: column + 2).map(Timestamp.init(milliseconds:)))
    }
}

extension Visit {
    /// Binds the columns that ``init(_:from:)`` reads, in the same order.
    ///
    /// Eleven columns. The id is bound as a signed number with the same 64 bits.
    func bind(to statement: borrowing Statement, from index: Int32) throws(SQLiteError) {
        try statement.bind(Int64(bitPattern: id), at: index)
        try statement.bind(arrival.milliseconds, at: index + 1)
        try statement.bind(departure?.milliseconds, at: index + 2)
        try statement.bind(coordinate.latitude, at: index + 3)
        try statement.bind(coordinate.longitude, at: index + 4)
        try statement.bind(horizontalAccuracy, at: index + 5)
        try statement.bind(fixes, at: index + 6)
        try statement.bind(firstReported.milliseconds, at: index + 7)
        try statement.bind(departureReported?.milliseconds, at: index + 8)
        try statement.bind(lastSeen?.milliseconds, at: index + 9)
        try statement.bind(tellableFrom?.milliseconds, at: index + 10)
    }

    /// Reads the columns id, arrival, departure, latitude, longitude, accuracy, fixes, first report, report of the
    /// departure, last seen and `tellable_from_ms`.
    ///
    /// - Throws: A damaged projection for degrees out of range.
    init(_ statement: borrowing Statement, from column: Int32) throws(SQLiteError) {
        guard
            let coordinate = try? Coordinate(
                latitude: statement.double(at: column + 3), longitude: statement.double(at: column + 4))
        else { throw .damagedProjection }
        self.init(
            id: UInt64(bitPattern: statement.int(at: column)),
            arrival: Timestamp(milliseconds: statement.int(at: column + 1)),
            departure: statement.optionalInt(at: column + 2).map(Timestamp.init(milliseconds:)), coordinate: coordinate,
            horizontalAccuracy: statement.double(at: column + 5), fixes: statement.int(at: column + 6),
            firstReported: Timestamp(milliseconds: statement.int(at: column + 7)),
            departureReported: statement.optionalInt(at: column + 8).map(Timestamp.init(milliseconds:)),
            lastSeen: statement.optionalInt(at: column + 9).map(Timestamp.init(milliseconds:)),
            tellableFrom: statement.optionalInt(at: column + 10).map(Timestamp.init(milliseconds:)))
    }
}

extension Crossing {
    /// Binds the columns that ``init(_:from:)`` reads, in the same order.
    func bind(to statement: borrowing Statement, from index: Int32) throws(SQLiteError) {
        try statement.bind(region.rawValue, at: index)
        try statement.bind(kind.rawValue, at: index + 1)
        try statement.bind(time.milliseconds, at: index + 2)
        try statement.bind(confirmed.milliseconds, at: index + 3)
        try statement.bind(reported.milliseconds, at: index + 4)
    }

    /// Reads region, kind, time, confirmation and time of report.
    ///
    /// - Throws: A damaged projection for a kind that is neither an entry nor an exit.
    init(_ statement: borrowing Statement, from column: Int32) throws(SQLiteError) {
        guard let kind = Kind(rawValue: statement.int(at: column + 1)) else { throw .damagedProjection }
        self.init(
            region: RegionID(rawValue: statement.int(at: column)), kind: kind,
            time: Timestamp(milliseconds: statement.int(at: column + 2)),
            confirmed: Timestamp(milliseconds: statement.int(at: column + 3)),
            reported: Timestamp(milliseconds: statement.int(at: column + 4)))
    }
}

extension Lead {
    /// Reads from and device.
    init(_ statement: borrowing Statement, from column: Int32) {
        self.init(
            from: Timestamp(milliseconds: statement.int(at: column)),
            device: DeviceID(rawValue: statement.int(at: column + 1)))
    }
}

extension FixRow {
    /// Whether it comes before a row of `twin` or `reported` in the order of time and device. Of equal ones, it does.
    fileprivate func precedes(_ other: StoredFix) -> Bool {
        columns.timestamp == other.timestamp
            ? device.rawValue <= other.device.rawValue : columns.timestamp < other.timestamp
    }
}

extension StoredFix {
    /// Reads time, latitude, longitude, accuracy, receipt less device time, device, and kind and end of a moment.
    ///
    /// - Throws: A damaged projection for degrees out of range or an unknown kind of moment.
    fileprivate init(_ statement: borrowing Statement) throws(SQLiteError) {
        let timestamp = statement.int(at: 0)
        let latitude = FixColumns.Degrees(statement, at: 1).value
        let longitude = FixColumns.Degrees(statement, at: 2).value
        guard let coordinate = try? Coordinate(latitude: latitude, longitude: longitude) else {
            throw .damagedProjection
        }
        let kind = statement.optionalInt(at: 6)
        let report = kind.flatMap(ReportedMoment.Kind.init(rawValue:)).map {
            ReportedMoment(kind: $0, until: Timestamp(milliseconds: statement.int(at: 7)))
        }
        if kind != nil, report == nil { throw .damagedProjection }
        let accuracy = statement.optionalDouble(at: 3)
        self.init(
            device: DeviceID(rawValue: statement.int(at: 5)), timestamp: Timestamp(milliseconds: timestamp),
            coordinate: coordinate, horizontalAccuracy: report != nil && accuracy == -1 ? nil : accuracy,
            receivedAt: try statement.optionalInt(at: 4).map { (delay) throws(SQLiteError) in
                try Timestamp(timestamp, plus: delay)
            },
            report: report)
    }

    /// Whether both are the same moment of a reported visit, whenever each was received.
    fileprivate func isSameMoment(as other: StoredFix) -> Bool {
        device == other.device && timestamp == other.timestamp && report == other.report
            && coordinate == other.coordinate && horizontalAccuracy == other.horizontalAccuracy
    }
}
