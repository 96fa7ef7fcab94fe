import Cryptography
import Geodesy
import Projections
import SQLite
import Whereabouts

/// Fixes, visits and crossings.
///
/// `fix` has one row for each identity. Twins have the same identity and different contents; all but the first, in the
/// order of their contents, are in `twin`, so that a fix without twins costs nothing more. `reported` has the moments
/// of visits that devices reported, with −1 for a missing accuracy. Rows of these three tables are written as they
/// arrive, the others by the changes of `TimelineFold`.
package final class TimelineTable: Projection {
    static let name = "timeline"
    static let versions: [Int64] = VisitRules.all.map(\.version)
    /// Not in the fingerprint, because they depend on the order in which fixes came: `number`, `received_after_ms`
    /// (receipt minus device time; NULL for an import without one), `first_reported_ms`, `departure_reported_ms`,
    /// `reported_ms`, the table `restart` (the state with which the derivation continues; each row has a checksum), and
    /// ``TimelineNews``.
    ///
    /// Times are milliseconds since 1970, UTC.
    /// - `fix`, `twin`: degrees are whole numbers of 10⁻⁷ degrees if they are exactly that, else doubles
    ///   (``FixColumns``). `details` is a CBOR array of the other members; NULL if there are none. `content`
    ///   distinguishes the twins of one identity.
    /// - `reported`: `kind` is `ReportedMoment.Kind`, `until_ms` the end of the stay that begins at this time, or
    ///   this time.
    /// - `visit`: `id` is a hash as 64 bits, `fixes` the number of fixes inside, `last_seen_ms` the last moment with
    ///   evidence of presence, `tellable_from_ms` the time from which silence alone makes it a visit.
    /// - `crossing`: `kind` is 1 for an entry, 2 for an exit. `confirmed_ms` is the time of the fix that decides it.
    /// - `region`: `content` is the encoded region. A removed one stays, with `removed_at_ms`, for its earlier
    ///   crossings.
    /// - `lead`: from `from_ms` on, `device` represents the person.
    /// - `restart`: a state of the derivation, from which a late fix is worked in.
    /// - `receipt`: the newest time of receipt of the person's fixes.
    /// - `told_visit`, `told_crossing`: the news by `number` (the event that caused them) and `ordinal`.
    static let schema: StaticString = """
        CREATE TABLE fix (
            person INTEGER NOT NULL,
            timestamp_ms INTEGER NOT NULL,
            device INTEGER NOT NULL,
            latitude_degrees ANY NOT NULL,
            longitude_degrees ANY NOT NULL,
            horizontal_accuracy_meters REAL,
            details BLOB,
            number INTEGER NOT NULL,
            received_after_ms INTEGER,
            PRIMARY KEY (person, timestamp_ms, device, latitude_degrees, longitude_degrees)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE twin (
            person INTEGER NOT NULL,
            timestamp_ms INTEGER NOT NULL,
            device INTEGER NOT NULL,
            latitude_degrees ANY NOT NULL,
            longitude_degrees ANY NOT NULL,
            horizontal_accuracy_meters REAL,
            details BLOB,
            number INTEGER NOT NULL,
            received_after_ms INTEGER,
            content INTEGER NOT NULL,
            PRIMARY KEY (person, timestamp_ms, device, latitude_degrees, longitude_degrees, content)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE reported (
            person INTEGER NOT NULL,
            timestamp_ms INTEGER NOT NULL,
            device INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            until_ms INTEGER NOT NULL,
            latitude_degrees REAL NOT NULL,
            longitude_degrees REAL NOT NULL,
            horizontal_accuracy_meters REAL NOT NULL,
            received_after_ms INTEGER NOT NULL,
            PRIMARY KEY (person, timestamp_ms, device, kind, until_ms, latitude_degrees, longitude_degrees,
                horizontal_accuracy_meters)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE visit (
            person INTEGER NOT NULL,
            arrival_ms INTEGER NOT NULL,
            departure_ms INTEGER,
            id INTEGER NOT NULL,
            latitude_degrees REAL NOT NULL,
            longitude_degrees REAL NOT NULL,
            horizontal_accuracy_meters REAL NOT NULL,
            fixes INTEGER NOT NULL,
            first_reported_ms INTEGER NOT NULL,
            departure_reported_ms INTEGER,
            last_seen_ms INTEGER,
            tellable_from_ms INTEGER,
            PRIMARY KEY (person, arrival_ms)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE crossing (
            person INTEGER NOT NULL,
            time_ms INTEGER NOT NULL,
            region INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            confirmed_ms INTEGER NOT NULL,
            reported_ms INTEGER NOT NULL,
            PRIMARY KEY (person, time_ms, region, kind)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE region (
            person INTEGER NOT NULL,
            region INTEGER NOT NULL,
            identifier TEXT NOT NULL,
            content BLOB NOT NULL,
            tells_entries INTEGER NOT NULL,
            tells_exits INTEGER NOT NULL,
            removed_at_ms INTEGER,
            PRIMARY KEY (person, region)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE lead (
            person INTEGER NOT NULL,
            from_ms INTEGER NOT NULL,
            device INTEGER NOT NULL,
            PRIMARY KEY (person, from_ms, device)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE restart (
            person INTEGER NOT NULL,
            closed_ms INTEGER NOT NULL,
            seed_ms INTEGER NOT NULL,
            state BLOB NOT NULL,
            PRIMARY KEY (person, closed_ms)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE receipt (
            person INTEGER PRIMARY KEY,
            newest_ms INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE told_visit (
            person INTEGER NOT NULL,
            number INTEGER NOT NULL,
            ordinal INTEGER NOT NULL,
            is_withdrawn INTEGER NOT NULL,
            id INTEGER NOT NULL,
            arrival_ms INTEGER NOT NULL,
            departure_ms INTEGER,
            latitude_degrees REAL NOT NULL,
            longitude_degrees REAL NOT NULL,
            horizontal_accuracy_meters REAL NOT NULL,
            fixes INTEGER NOT NULL,
            first_reported_ms INTEGER NOT NULL,
            departure_reported_ms INTEGER,
            last_seen_ms INTEGER,
            tellable_from_ms INTEGER,
            PRIMARY KEY (person, number, ordinal)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE told_crossing (
            person INTEGER NOT NULL,
            number INTEGER NOT NULL,
            ordinal INTEGER NOT NULL,
            is_withdrawn INTEGER NOT NULL,
            region INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            time_ms INTEGER NOT NULL,
            confirmed_ms INTEGER NOT NULL,
            reported_ms INTEGER NOT NULL,
            PRIMARY KEY (person, number, ordinal)
        ) STRICT, WITHOUT ROWID
        """
    static let indexes: StaticString = ""

    let file: ProjectionFile
    private let rules: VisitRules
    private var timeline: TimelineFold
    var news = TimelineNews()

    init(file: ProjectionFile, version: Int64) {
        self.file = file
        guard let rules = VisitRules.version(version) else {
            preconditionFailure("A projection is folded by one of its versions.")
        }
        self.rules = rules
        do throws(GeodesyError) {
            timeline = try TimelineFold(rules)
        } catch {
            preconditionFailure("PROJ cannot make its simplest conversion: \(error)")
        }
    }

    /// Folds the events between erasures together, and erases in between.
    func fold(_ batch: [RecordedEvent]) throws(SQLiteError) {
        var rest = batch[...]
        while let end = rest.firstIndex(where: { if case .personErased = $0.event { true } else { false } }) {
            try fold(rest[..<end])
            if case .personErased(let person) = rest[end].event { try erase(person) }
            rest = rest[(end + 1)...]
        }
        try fold(rest)
    }

    /// Folds events without an erasure among them.
    private func fold(_ batch: ArraySlice<RecordedEvent>) throws(SQLiteError) {
        if batch.isEmpty { return }
        news.note(batch)
        let changes = try timeline.fold(batch, reading: self)
        try insertFixes(batch)
        if rules.usesReportedVisits { try insertReports(batch) }
        for change in changes { try apply(change) }
    }

    /// Settles the derivation and writes the news.
    func flush() throws(SQLiteError) {
        for change in try timeline.settle(reading: self) { try apply(change) }
        try writeNews()
    }

    func forget() {
        timeline.forget()
        news = TimelineNews()
    }

    func erase(_ person: PersonID) throws(SQLiteError) {
        timeline.forget(person)
        news.forget(person)
        var sum = Fingerprint()
        try eachRow(of: person) { row throws(SQLiteError) in sum.add(row.hash) }
        file.fingerprint.subtract(sum)
        try delete(from: "DELETE FROM fix WHERE person = ?", person)
        try delete(from: "DELETE FROM twin WHERE person = ?", person)
        try delete(from: "DELETE FROM reported WHERE person = ?", person)
        try delete(from: "DELETE FROM visit WHERE person = ?", person)
        try delete(from: "DELETE FROM crossing WHERE person = ?", person)
        try delete(from: "DELETE FROM region WHERE person = ?", person)
        try delete(from: "DELETE FROM lead WHERE person = ?", person)
        try delete(from: "DELETE FROM restart WHERE person = ?", person)
        try delete(from: "DELETE FROM receipt WHERE person = ?", person)
        try delete(from: "DELETE FROM told_visit WHERE person = ?", person)
        try delete(from: "DELETE FROM told_crossing WHERE person = ?", person)
    }

    /// Runs a deletion for a person.
    private func delete(from sql: StaticString, _ person: PersonID) throws(SQLiteError) {
        try file.connection.cached(sql) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.run()
        }
    }

    func eachRow(_ body: (ProjectionRow) throws(SQLiteError) -> Void) throws(SQLiteError) {
        try flush()
        try eachRow(of: nil, body)
    }
}

// MARK: - Fixes

extension TimelineTable {
    /// A fix as a row of `fix` or `twin`.
    private struct FixRow {
        let person: PersonID
        let device: DeviceID
        let columns: FixColumns
        let number: Int64
        let receivedAfter: Int64?
    }

    /// Writes the fixes of a batch. A fix whose identity has a row already is compared with it afterwards.
    private func insertFixes(_ batch: ArraySlice<RecordedEvent>) throws(SQLiteError) {
        var known: [(FixRow, Fingerprint)] = []
        try file.connection.cached(
            """
            INSERT INTO fix
                (person, device, timestamp_ms, latitude_degrees, longitude_degrees, horizontal_accuracy_meters, details,
                number, received_after_ms)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """
        ) { (statement) throws(SQLiteError) in
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

    /// Writes the moments of the visits that devices reported.
    private func insertReports(_ batch: ArraySlice<RecordedEvent>) throws(SQLiteError) {
        for event in batch {
            guard case .sightingReported(let device, _, .open(.visit(let report))) = event.event,
                let person = event.stream.person
            else { continue }
            for moment in StoredFix.moments(of: report, device: device, receivedAt: event.recordedAt) {
                try insert(moment, event.recordedAt, of: person)
            }
        }
    }

    /// Writes one moment, unless it is there already.
    private func insert(_ moment: StoredFix, _ receipt: Timestamp, of person: PersonID) throws(SQLiteError) {
        guard let report = moment.report else { return }
        let isNew = try file.connection.cached(
            """
            INSERT INTO reported
                (person, timestamp_ms, device, kind, until_ms, latitude_degrees, longitude_degrees,
                horizontal_accuracy_meters, received_after_ms)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """
        ) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.bind(moment.timestamp.milliseconds, at: 2)
            try statement.bind(moment.device.rawValue, at: 3)
            try statement.bind(report.kind.rawValue, at: 4)
            try statement.bind(report.until.milliseconds, at: 5)
            try statement.bind(moment.coordinate.latitude + 0, at: 6)
            try statement.bind(moment.coordinate.longitude + 0, at: 7)
            try statement.bind(moment.horizontalAccuracy ?? -1, at: 8)
            try statement.bind(receipt.milliseconds - moment.timestamp.milliseconds, at: 9)
            try statement.run()
            return file.connection.changes == 1
        }
        if isNew { file.fingerprint.add(hash(person, moment)) }
    }

    /// Binds the columns in the order of the insertions, from 1 to 9.
    private func bind(_ row: FixRow, to statement: borrowing Statement) throws(SQLiteError) {
        try statement.bind(row.person.rawValue, at: 1)
        try statement.bind(row.device.rawValue, at: 2)
        try row.columns.bind(to: statement, from: 3)
        try statement.bind(row.number, at: 8)
        try statement.bind(row.receivedAfter, at: 9)
    }

    /// Inserts a fix whose identity has a row: a repeat, or a twin.
    private func insertAgain(_ row: FixRow, _ hash: Fingerprint) throws(SQLiteError) {
        let first = try storedFix(like: row)
        let firstHash = self.hash(first.person, first.device, first.columns)
        if firstHash == hash { return }
        let comesFirst = precedes(row, hash, first, firstHash)
        if comesFirst {
            try file.connection.cached(
                """
                UPDATE fix
                SET horizontal_accuracy_meters = ?6, details = ?7, number = ?8, received_after_ms = ?9
                WHERE person = ?1 AND timestamp_ms = ?3 AND device = ?2
                    AND latitude_degrees = ?4 AND longitude_degrees = ?5
                """
            ) { (statement) throws(SQLiteError) in
                try bind(row, to: statement)
                try statement.run()
            }
        }
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

    /// The order of twins: the more accurate first, one without a valid accuracy last, then by the hash of all content.
    private func precedes(_ a: FixRow, _ aHash: Fingerprint, _ b: FixRow, _ bHash: Fingerprint) -> Bool {
        func rank(_ row: FixRow) -> Double {
            row.columns.horizontalAccuracy.map { $0 >= 0 ? $0 : .infinity } ?? .greatestFiniteMagnitude
        }
        return rank(a) == rank(b) ? aHash.sum < bHash.sum : rank(a) < rank(b)
    }

    /// The column `content` of a twin: the low 64 bits of its hash.
    private static func content(_ hash: Fingerprint) -> Int64 { Int64(truncatingIfNeeded: hash.sum) }

    /// The row of `fix` with the same identity.
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
