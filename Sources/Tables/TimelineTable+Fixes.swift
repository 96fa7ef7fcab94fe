import Cryptography
import Geodesy
import Projections
import SQLite
import Whereabouts

/// The rows of fixes, which are written as they come.
extension TimelineTable {
    /// A fix as a row of `fix` or `twin`.
    /// A row of `withdrawn` has the same columns.
    struct FixRow {
        /// The owner of the device.
        let person: PersonID
        /// The device that reported the fix.
        let device: DeviceID
        /// Time, place, accuracy and the other members.
        let columns: FixColumns
        /// The number of its event.
        let number: Int64
        /// The receipt minus the device's time, in milliseconds, negative for a clock that runs ahead; `nil` for an
        /// import without a time of receipt.
        let receivedAfter: Int64?
    }

    /// Writes the fixes of a batch. A fix whose identity has a row already is compared with it afterwards.
    ///
    /// A fix that equals its row in all content changes nothing.
    ///
    /// Cost: one insertion into the B-tree of `fix` for each fix, next to the one before if fixes come in order.
    func insertFixes(_ batch: ArraySlice<RecordedEvent>) throws(SQLiteError) {
        var known: [(FixRow, Fingerprint)] = []
        try file.connection.cached(Self.insertSQL) { (statement) throws(SQLiteError) in
            for event in batch {
                guard case .fixReported(let device, _, .open(let fix)) = event.event, let person = event.stream.person
                else { continue }
                let received = event.receipt(of: fix).map { $0.milliseconds - fix.timestamp.milliseconds }
                let row = FixRow(
                    person: person, device: device, columns: FixColumns(fix), number: event.number,
                    receivedAfter: received)
                try bind(row, to: statement)
                try statement.run()
                let hash = hash(person, device, row.columns)
                if file.connection.changes == 1 { file.fingerprint.add(hash) } else { known.append((row, hash)) }
            }
        }
        for (row, hash) in known { try insertAgain(row, hash) }
    }

    /// A fix whose identity has a row already makes no row.
    private static let insertSQL: StaticString = """
        INSERT INTO fix
            (person, device, timestamp_ms, latitude_degrees, longitude_degrees, horizontal_accuracy_meters, details,
            number, received_after_ms)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT DO NOTHING
        """

    /// Writes one fix.
    ///
    /// Used when a withdrawn fix comes back.
    func insert(_ row: FixRow) throws(SQLiteError) {
        let hash = hash(row.person, row.device, row.columns)
        let isNew = try file.connection.cached(Self.insertSQL) { (statement) throws(SQLiteError) in
            try bind(row, to: statement)
            try statement.run()
            return file.connection.changes == 1
        }
        if isNew { file.fingerprint.add(hash) } else { try insertAgain(row, hash) }
    }

    /// Binds the columns in the order of the insertions, from 1 to 9.
    func bind(_ row: FixRow, to statement: borrowing Statement) throws(SQLiteError) {
        try statement.bind(row.person.rawValue, at: 1)
        try statement.bind(row.device.rawValue, at: 2)
        try row.columns.bind(to: statement, from: 3)
        try statement.bind(row.number, at: 8)
        try statement.bind(row.receivedAfter, at: 9)
    }

    /// Inserts a fix whose identity has a row: a repeat, or a twin.
    ///
    /// The better of the two, in the order of ``precedes(_:_:_:_:)``, is in `fix` afterwards and the other in `twin`.
    /// Both count in the fingerprint, with the same hash in either table, so the exchange does not change it.
    private func insertAgain(_ row: FixRow, _ hash: Fingerprint) throws(SQLiteError) {
        let first = try storedFix(like: row)
        let firstHash = self.hash(first.person, first.device, first.columns)
        if firstHash == hash { return }
        let comesFirst = precedes(row, hash, first, firstHash)
        if comesFirst { try replaceFirst(with: row) }
        let (second, secondHash) = comesFirst ? (first, firstHash) : (row, hash)
        let isNew = try file.connection.cached(
            """
            INSERT INTO twin
                (person, device, timestamp_ms, latitude_degrees, longitude_degrees, horizontal_accuracy_meters, details,
                number, received_after_ms, content)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """
        ) { (statement) throws(SQLiteError) in
            try bind(second, to: statement)
            try statement.bind(Self.content(secondHash), at: 10)
            try statement.run()
            return file.connection.changes == 1
        }
        if isNew { file.fingerprint.add(hash) }
    }

    /// Writes a twin into the row of `fix` with its identity.
    ///
    /// The identity stays, so the primary key does not change. The caller corrects the fingerprint.
    func replaceFirst(with row: FixRow) throws(SQLiteError) {
        try file.connection.cached(
            """
            UPDATE fix
            SET horizontal_accuracy_meters = ?6, details = ?7, number = ?8, received_after_ms = ?9
            WHERE person = ?1 AND timestamp_ms = ?3 AND device = ?2 AND latitude_degrees = ?4 AND longitude_degrees = ?5
            """
        ) { (statement) throws(SQLiteError) in
            try bind(row, to: statement)
            try statement.run()
        }
    }

    /// The order of twins: the more accurate first, one without a valid accuracy last, then by the hash of all content.
    ///
    /// The second rule makes the order total, so the first twin does not depend on the order of arrival.
    func precedes(_ a: FixRow, _ aHash: Fingerprint, _ b: FixRow, _ bHash: Fingerprint) -> Bool {
        func rank(_ row: FixRow) -> Double {
            row.columns.horizontalAccuracy.map { $0 >= 0 ? $0 : .infinity } ?? .greatestFiniteMagnitude
        }
        return rank(a) == rank(b) ? aHash.sum < bHash.sum : rank(a) < rank(b)
    }

    /// The column `content` of a twin: the low 64 bits of its hash.
    ///
    /// Part of the primary key: a repeat of a twin makes no second row.
    static func content(_ hash: Fingerprint) -> Int64 { Int64(truncatingIfNeeded: hash.sum) }

    /// The row of `fix` with the same identity.
    ///
    /// - Throws: A damaged projection if there is none, because the insertion has just found it.
    private func storedFix(like row: FixRow) throws(SQLiteError) -> FixRow {
        try file.connection.cached(
            """
            SELECT timestamp_ms, latitude_degrees, longitude_degrees, horizontal_accuracy_meters, details, number,
                received_after_ms
            FROM fix
            WHERE person = ? AND timestamp_ms = ? AND device = ? AND latitude_degrees = ? AND longitude_degrees = ?
            """
        ) { (statement) throws(SQLiteError) in
            try statement.bind(row.person.rawValue, at: 1)
            try statement.bind(row.columns.timestamp.milliseconds, at: 2)
            try statement.bind(row.device.rawValue, at: 3)
            try row.columns.latitude.bind(to: statement, at: 4)
            try row.columns.longitude.bind(to: statement, at: 5)
            guard try statement.step() else { throw .damagedProjection }
            return FixRow(
                person: row.person, device: row.device, columns: FixColumns(statement, from: 0),
                number: statement.int(at: 5), receivedAfter: statement.optionalInt(at: 6))
        }
    }

    /// The hash of a fix, the same for a row of `fix` and of `twin`.
    func hash(_ person: PersonID, _ device: DeviceID, _ columns: FixColumns) -> Fingerprint {
        file.hasher.hash { writer in
            writer.array(8)
            writer.text("fix")
            writer.integer(person.rawValue)
            writer.integer(device.rawValue)
            columns.write(to: &writer)
        }
    }
}
