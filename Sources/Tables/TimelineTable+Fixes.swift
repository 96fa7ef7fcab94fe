import Cryptography
import Geodesy
import Projections
import SQLite
import Whereabouts

/// The rows of fixes, which are written as they come.
extension TimelineTable {
    /// Writes the fixes of a batch. A fix whose identity has a row already is compared with it afterwards.
    ///
    /// A fix that equals its row in all content changes nothing.
    ///
    /// Cost: that of ``FixBlocks/insert(_:)`` and a hash.
    func insertFixes(_ batch: ArraySlice<RecordedEvent>) throws(SQLiteError) {
        // By index into a span: a loop over the events would copy each of them.
        let events = batch.span
        for index in events.indices {
            switch events[index].event {
            case .fixReported(let device, _, .open(let fix)):
                guard let person = events[index].stream.person else { continue }
                let received = events[index].receipt(of: fix).map { $0.milliseconds - fix.timestamp.milliseconds }
                try insert(
                    FixRow(
                        person: person, device: device, columns: FixColumns(fix), number: events[index].number,
                        receivedAfter: received))
            default: continue
            }
        }
    }

    /// Writes one fix.
    func insert(_ row: FixRow) throws(SQLiteError) {
        let hash = hash(row)
        if let first = try blocks.insert(row) {
            try insertAgain(row, hash, after: first)
        } else {
            file.fingerprint.add(hash)
        }
    }

    /// Inserts a fix whose identity has a row: a repeat, or a twin.
    ///
    /// The better of the two, in the order of ``precedes(_:_:_:_:)``, is in `fix` afterwards and the other in `twin`.
    /// Both count in the fingerprint, with the same hash in either table, so the exchange does not change it.
    private func insertAgain(_ row: FixRow, _ hash: Fingerprint, after first: FixRow) throws(SQLiteError) {
        let firstHash = self.hash(first)
        if firstHash == hash { return }
        let comesFirst = precedes(row, hash, first, firstHash)
        if comesFirst { try blocks.replace(with: row) }
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
            try second.bind(to: statement)
            try statement.bind(Self.content(secondHash), at: 10)
            try statement.run()
            return file.connection.changes == 1
        }
        if isNew { file.fingerprint.add(hash) }
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

    /// The hash of a fix, the same for a row of `fix` and of `twin`.
    func hash(_ row: FixRow) -> Fingerprint { hash(row, "fix") }

    /// The hash of a row of `withdrawn`, in which only the table's name differs.
    func withdrawnHash(_ row: FixRow) -> Fingerprint { hash(row, "withdrawn") }

    private func hash(_ row: FixRow, _ table: String) -> Fingerprint {
        file.hasher.hash { writer in
            writer.array(8)
            writer.text(table)
            writer.integer(row.person.rawValue)
            writer.integer(row.device.rawValue)
            row.columns.write(to: &writer)
        }
    }
}
