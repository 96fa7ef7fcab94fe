import Cryptography
import Geodesy
import Projections
import SQLite
import Whereabouts

/// The newest usable fix of each device; the person's is the newest of these.
///
/// The newest by the device's time. At the same time, the more accurate; with the same accuracy, the lower by latitude,
/// longitude and then by the hash of all content. The order of arrival never decides. Rows are kept in memory and
/// written before a commit.
///
/// After the keys of old fixes were destroyed, a device whose newest fix was among them has no row until its next fix.
///
/// A fix that is withdrawn keeps its row, with a mark, until the device reports a newer one: the table knows no older
/// fix. Readers then look up the newest fix that counts in the timeline (`TimelineReader.newestUsable`).
///
/// One row for each person and device, keyed by both. Erasing a person deletes the person's rows.
package final class CurrentTable: Projection {
    static let name = "current"
    static let versions: [Int64] = [1]
    static let concerns: FactConcerns? = .current
    /// `number` and `received_after_ms` (receipt less device time; NULL for an import without one) depend on how the
    /// fix came and are outside the fingerprint.
    ///
    /// The other columns: `timestamp_ms` is the device's time, milliseconds since 1970, UTC. The degrees, the
    /// accuracy in meters and `details` are those of ``FixColumns``. `is_withdrawn` is 0 or 1.
    static let schema: StaticString = """
        CREATE TABLE current (
            person INTEGER NOT NULL,
            device INTEGER NOT NULL,
            timestamp_ms INTEGER NOT NULL,
            latitude_degrees ANY NOT NULL,
            longitude_degrees ANY NOT NULL,
            horizontal_accuracy_meters REAL,
            details BLOB,
            number INTEGER NOT NULL,
            received_after_ms INTEGER,
            is_withdrawn INTEGER NOT NULL,
            PRIMARY KEY (person, device)
        ) STRICT, WITHOUT ROWID
        """
    /// None: every search is by the primary key.
    static let indexes: StaticString = ""

    /// The devices kept in memory between commits.
    ///
    /// Past this number all are dropped after a commit, and loaded again when needed.
    private static let mostEntries = 65_536

    /// The primary key of a row: the person's and the device's number.
    private struct Key: Hashable {
        let person, device: Int64

        /// A device is one person's, so its number is enough.
        func hash(into hasher: inout Hasher) { hasher.combine(device) }
    }

    /// The newest fix of a device, as of the events folded so far. A class, so that a fix is not copied to be compared.
    private final class Entry {
        var fix: Fix
        /// The number of the fix in the log.
        var number: Int64
        /// The receipt less the device time, in milliseconds; `nil` for an import without a time of receipt.
        var receivedAfter: Int64?
        /// Whether the fix is withdrawn.
        var isWithdrawn: Bool
        /// The hash of the row as written; `nil` for a new one.
        var written: Fingerprint?
        var isDirty = false

        init(fix: Fix, number: Int64, receivedAfter: Int64?, isWithdrawn: Bool = false, written: Fingerprint? = nil) {
            (self.fix, self.number, self.receivedAfter) = (fix, number, receivedAfter)
            (self.isWithdrawn, self.written) = (isWithdrawn, written)
        }
    }

    private let file: ProjectionFile
    /// By person and device; a device without an entry is loaded from the file.
    private var entries: [Key: Entry] = [:]
    /// The entries that are not written.
    private var dirty: [Key] = []

    init(file: ProjectionFile, version: Int64) { self.file = file }

    /// Takes fixes in the order of their numbers. A fix without a usable time or coordinate is ignored, and so is one
    /// that is older than the device's newest.
    ///
    /// Cost: a dictionary access for each fix; a search by the primary key for a device that is not in memory.
    func fold(_ batch: [RecordedEvent]) throws(SQLiteError) {
        // By index into a span: a loop over the events would copy each of them.
        let events = batch.span
        for index in events.indices {
            let person = events[index].stream.person
            switch events[index].event {
            case .fixReported(let device, _, .open(let fix)):
                guard let person else { continue }
                try take(
                    fix, receivedAt: events[index].receipt(of: fix), number: events[index].number,
                    Key(person: person.rawValue, device: device.rawValue))
            case .fixesWithdrawn(let fixes, _): try mark(fixes, of: person, isWithdrawn: true)
            case .fixesRestored(let fixes, _): try mark(fixes, of: person, isWithdrawn: false)
            case .personErased(let person): try erase(person)
            case .retentionApplied(_, let kept):
                if let person { try retire(person, but: kept?.content?.devices ?? []) }
            // Its key is gone.
            case .fixReported: continue
            default: events[index].event.isPassedOver(by: .current)
            }
        }
    }

    /// Takes a fix if it is usable and precedes the device's newest one.
    ///
    /// A fix is usable if `Fix.isUsable` says so, for example not if its time is over 60 s after its receipt. A fix
    /// that is taken has no mark.
    private func take(
        _ fix: Fix, receivedAt receipt: Timestamp?, number: Int64, _ key: Key
    ) throws(SQLiteError) {
        guard
            Fix.isUsable(
                timestamp: fix.timestamp, coordinate: fix.coordinate, horizontalAccuracy: fix.horizontalAccuracy,
                receivedAt: receipt)
        else { return }
        let received = receipt.map { $0.milliseconds - fix.timestamp.milliseconds }
        guard let entry = try entry(of: key) else {
            let entry = Entry(fix: fix, number: number, receivedAfter: received)
            entries[key] = entry
            return noteChange(of: key, entry)
        }
        guard fix.timestamp >= entry.fix.timestamp else { return }
        if fix.timestamp == entry.fix.timestamp,
            !Self.precedes(
                fix, entry.fix, of: PersonID(rawValue: key.person), DeviceID(rawValue: key.device), file.hasher)
        {
            return
        }
        entry.fix = fix
        entry.number = number
        entry.receivedAfter = received
        entry.isWithdrawn = false
        noteChange(of: key, entry)
    }

    /// Marks a device's newest fix, or removes its mark, if its event is among these.
    ///
    /// A device without a row, and a row whose fix is another one, stay as they are.
    private func mark(_ fixes: FixNumbers, of person: PersonID?, isWithdrawn: Bool) throws(SQLiteError) {
        guard let person else { return }
        let key = Key(person: person.rawValue, device: fixes.device.rawValue)
        guard let entry = try entry(of: key), fixes.numbers.contains(entry.number) else { return }
        entry.isWithdrawn = isWithdrawn
        noteChange(of: key, entry)
    }

    /// Lists the entry for the next ``flush()``, once.
    private func noteChange(of key: Key, _ entry: Entry) {
        if entry.isDirty { return }
        entry.isDirty = true
        dirty.append(key)
    }

    /// The order of two fixes of one device and time: whether `a` is the one to keep.
    ///
    /// The order is total over content, so that the row does not depend on the order in which two fixes arrived.
    /// Fixes that are equal in all content have equal hashes, and neither precedes the other.
    static func precedes(
        _ a: Fix, _ b: Fix, of person: PersonID, _ device: DeviceID, _ hasher: RowHasher
    ) -> Bool {
        let (left, right) = (a.horizontalAccuracy ?? .infinity, b.horizontalAccuracy ?? .infinity)
        if left != right { return left < right }
        if a.coordinate.latitude != b.coordinate.latitude { return a.coordinate.latitude < b.coordinate.latitude }
        if a.coordinate.longitude != b.coordinate.longitude { return a.coordinate.longitude < b.coordinate.longitude }
        let key = Key(person: person.rawValue, device: device.rawValue)
        return hash(key, FixColumns(a), by: hasher).sum < hash(key, FixColumns(b), by: hasher).sum
    }

    /// Writes the entries that changed since the last flush, and corrects the fingerprint by the difference of each
    /// row.
    ///
    /// Cost: one write by the primary key for each device that changed.
    func flush() throws(SQLiteError) {
        for key in dirty {
            guard let entry = entries[key] else { continue }
            let columns = FixColumns(entry.fix)
            try write(key, columns, entry)
            if let old = entry.written { file.fingerprint.subtract(old) }
            let new = hash(key, columns, isWithdrawn: entry.isWithdrawn)
            file.fingerprint.add(new)
            entry.written = new
            entry.isDirty = false
        }
        dirty.removeAll(keepingCapacity: true)
        if entries.count > Self.mostEntries { entries = [:] }
    }

    /// Drops all entries; the next fold reads the file again.
    func forget() {
        entries = [:]
        dirty = []
    }

    /// Writes first, so that the fingerprint counts the rows as they are in the file, then subtracts and deletes
    /// them.
    func erase(_ person: PersonID) throws(SQLiteError) {
        try flush()
        entries = entries.filter { $0.key.person != person.rawValue }
        var sum = Fingerprint()
        try eachStored(of: person) { key, columns, isWithdrawn throws(SQLiteError) in
            sum.add(hash(key, columns, isWithdrawn: isWithdrawn))
        }
        file.fingerprint.subtract(sum)
        try file.connection.cached("DELETE FROM current WHERE person = ?") { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.run()
        }
    }

    /// Deletes the rows of a person whose keys of old fixes are destroyed, except those that the event names.
    ///
    /// The event decides, not the row: a refold, which no longer sees the old fixes, may have a row of an imported fix
    /// where the live table had a newer one.
    private func retire(_ person: PersonID, but kept: [KeptNewest.Device]) throws(SQLiteError) {
        try flush()
        entries = entries.filter { $0.key.person != person.rawValue }
        var gone: [(key: Key, hash: Fingerprint)] = []
        for key in try keys(of: person) {
            guard let entry = try entry(of: key) else { continue }
            if kept.contains(where: { $0.id.rawValue == key.device && $0.usable?.number == entry.number }) { continue }
            gone.append((key, hash(key, FixColumns(entry.fix), isWithdrawn: entry.isWithdrawn)))
            entries[key] = nil
        }
        for (key, hash) in gone {
            file.fingerprint.subtract(hash)
            try file.connection.cached("DELETE FROM current WHERE person = ? AND device = ?") {
                (statement) throws(SQLiteError) in
                try statement.bind(key.person, at: 1)
                try statement.bind(key.device, at: 2)
                try statement.run()
            }
        }
    }

    /// The rows of a person.
    private func keys(of person: PersonID) throws(SQLiteError) -> [Key] {
        var keys: [Key] = []
        try eachStored(of: person) { (key, _, _) throws(SQLiteError) in keys.append(key) }
        return keys
    }

    /// Rows come by person and device. The number and the time of receipt are not part of the hash.
    func eachRow(_ body: (ProjectionRow) throws(SQLiteError) -> Void) throws(SQLiteError) {
        try flush()
        try eachStored(of: nil) { key, columns, isWithdrawn throws(SQLiteError) in
            try body(
                ProjectionRow(
                    table: "current", person: PersonID(rawValue: key.person),
                    key: "person \(key.person) device \(key.device)",
                    summary:
                        "\(columns.timestamp.milliseconds) ms \(columns.summary)\(isWithdrawn ? " withdrawn" : "")",
                    columns: [.init("timestamp_ms", columns.timestamp)] + columns.compared + [
                        .init("is_withdrawn", isWithdrawn)
                    ],
                    hash: hash(key, columns, isWithdrawn: isWithdrawn)))
        }
    }

    /// The hash of a row over its content columns. The mark is part of it only if it is set.
    private func hash(_ key: Key, _ columns: FixColumns, isWithdrawn: Bool) -> Fingerprint {
        Self.hash(key, columns, isWithdrawn: isWithdrawn, by: file.hasher)
    }

    /// - Parameter isWithdrawn: `false` leaves the mark out of the hash, so the hash of an unmarked row is the same
    ///   as before marks existed.
    private static func hash(
        _ key: Key, _ columns: FixColumns, isWithdrawn: Bool = false, by hasher: RowHasher
    ) -> Fingerprint {
        hasher.hash { writer in
            writer.array(isWithdrawn ? 9 : 8)
            writer.text("current")
            writer.integer(key.person)
            writer.integer(key.device)
            columns.write(to: &writer)
            if isWithdrawn { writer.bool(true) }
        }
    }

    // MARK: SQL

    /// A device's entry in memory, read from the file if need be; `nil` if the device has no row.
    private func entry(of key: Key) throws(SQLiteError) -> Entry? {
        if let entry = entries[key] { return entry }
        return try load(key)
    }

    /// One search by the primary key. The entry counts as written, with the hash of the row in the file.
    private func load(_ key: Key) throws(SQLiteError) -> Entry? {
        let entry: Entry? = try file.connection.cached(
            """
            SELECT timestamp_ms, latitude_degrees, longitude_degrees, horizontal_accuracy_meters, details, number,
                received_after_ms, is_withdrawn
            FROM current
            WHERE person = ? AND device = ?
            """
        ) { (statement) throws(SQLiteError) in
            try statement.bind(key.person, at: 1)
            try statement.bind(key.device, at: 2)
            guard try statement.step() else { return nil }
            let columns = FixColumns(statement, from: 0)
            let isWithdrawn = statement.int(at: 7) != 0
            return Entry(
                fix: try columns.fix, number: statement.int(at: 5), receivedAfter: statement.optionalInt(at: 6),
                isWithdrawn: isWithdrawn, written: hash(key, columns, isWithdrawn: isWithdrawn))
        }
        entries[key] = entry
        return entry
    }

    /// Replaces the row of the person and device.
    private func write(_ key: Key, _ columns: FixColumns, _ entry: Entry) throws(SQLiteError) {
        try file.connection.cached(
            """
            INSERT OR REPLACE INTO current
                (person, device, timestamp_ms, latitude_degrees, longitude_degrees, horizontal_accuracy_meters, details,
                number, received_after_ms, is_withdrawn)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        ) { (statement) throws(SQLiteError) in
            try statement.bind(key.person, at: 1)
            try statement.bind(key.device, at: 2)
            try columns.bind(to: statement, from: 3)
            try statement.bind(entry.number, at: 8)
            try statement.bind(entry.receivedAfter, at: 9)
            try statement.bind(entry.isWithdrawn ? 1 : 0, at: 10)
            try statement.run()
        }
    }

    /// Gives the rows of one person, or of all, as they are in the file.
    private func eachStored(
        of person: PersonID?, _ body: (Key, FixColumns, _ isWithdrawn: Bool) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        try file.connection.cached(
            """
            SELECT person, device, timestamp_ms, latitude_degrees, longitude_degrees, horizontal_accuracy_meters, details,
                is_withdrawn
            FROM current
            WHERE ?1 IS NULL OR person = ?1
            ORDER BY person, device
            """
        ) { (statement) throws(SQLiteError) in
            try statement.bind(person?.rawValue, at: 1)
            while try statement.step() {
                try body(
                    Key(person: statement.int(at: 0), device: statement.int(at: 1)), FixColumns(statement, from: 2),
                    statement.int(at: 7) != 0)
            }
        }
    }
}
