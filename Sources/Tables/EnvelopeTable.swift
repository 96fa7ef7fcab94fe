import Envelopes
import Projections
import SQLite
import Whereabouts

/// Where the envelopes of each person are in the log: one row for each, with what can be read without a key. The envelopes
/// themselves stay in the log, where erasure and retention reach them.
///
/// One row for each person, quarter of an hour, device and identity. `identity` is that of `SealedFix`, `use` 1 for an answer,
/// 2 for a fix of the history, 3 for the key of a period; `tier` is the number of the precision. `bucket` counts quarters of an
/// hour since 1970: of a period, the one in which it begins. `period` is NULL for an answer, and `recipients` has the names of
/// the keys, 16 bytes each. `number`, that of the event, is outside the fingerprint.
package final class EnvelopeTable: Projection {
    package static let name = "envelopes"
    static let versions: [Int64] = [1]
    static let concerns: FactConcerns? = .envelopes
    static let schema: StaticString = """
        CREATE TABLE envelope (
            person INTEGER NOT NULL,
            bucket INTEGER NOT NULL,
            device INTEGER NOT NULL,
            identity BLOB NOT NULL,
            use INTEGER NOT NULL,
            tier INTEGER NOT NULL,
            period BLOB,
            recipients BLOB NOT NULL,
            number INTEGER NOT NULL,
            PRIMARY KEY (person, bucket, device, identity)
        ) STRICT, WITHOUT ROWID
        """
    static let indexes: StaticString = """
        CREATE INDEX envelope_by_use ON envelope (person, use)
        """

    private let file: ProjectionFile

    init(file: ProjectionFile, version: Int64) { self.file = file }

    /// Cost: one write for each envelope; nothing for other events.
    func fold(_ batch: [RecordedEvent]) throws(SQLiteError) {
        // By index into a span: a loop over the events would copy each of them.
        let events = batch.span
        for index in events.indices {
            switch events[index].event {
            case .sealedFixReported(let device, _, .open(let sealed)):
                guard let person = events[index].stream.person,
                    let row = EnvelopeRow(sealed, of: device, number: events[index].number)
                else { continue }
                try write(row, of: person)
            // Its key is gone.
            case .sealedFixReported: continue
            case .personErased(let person): try erase(person)
            case .retentionApplied(let applied, _):
                guard let person = events[index].stream.person else { continue }
                try remove(applied.numbers, of: person)
            default: events[index].event.isPassedOver(by: .envelopes)
            }
        }
    }

    /// Nothing is kept in memory.
    func flush() throws(SQLiteError) {}
    func forget() {}

    func erase(_ person: PersonID) throws(SQLiteError) { try remove(nil, of: person) }

    func eachRow(_ body: (ProjectionRow) throws(SQLiteError) -> Void) throws(SQLiteError) {
        try file.connection.cached(
            """
            SELECT bucket, device, identity, use, tier, period, recipients, number, person
            FROM envelope
            ORDER BY person, bucket, device, identity
            """
        ) { (statement) throws(SQLiteError) in
            while try statement.step() {
                let row = try EnvelopeRow(statement)
                let person = PersonID(rawValue: statement.int(at: 8))
                try body(
                    ProjectionRow(
                        table: "envelope", person: person,
                        key:
                            "person \(person.rawValue) bucket \(row.bucket) device \(row.device.rawValue) \(row.identity)",
                        summary: "\(row.use.word) \(row.tier.word)",
                        columns: [.init("use", row.use.word), .init("tier", row.tier.word)],
                        hash: hash(row, of: person)))
            }
        }
    }

    private func hash(_ row: EnvelopeRow, of person: PersonID) -> Fingerprint {
        file.hasher.hash { writer in
            writer.array(9)
            writer.text("envelope")
            writer.integer(person.rawValue)
            writer.integer(row.bucket)
            writer.integer(row.device.rawValue)
            writer.byteString(row.identity.bytes)
            writer.integer(row.use.rawValue)
            writer.integer(row.tier.rawValue)
            writer.byteString(row.period?.bytes ?? [])
            writer.byteString(row.recipients.flatMap(\.bytes))
        }
    }

    // MARK: SQL

    private func write(_ row: EnvelopeRow, of person: PersonID) throws(SQLiteError) {
        try file.connection.cached(
            """
            INSERT INTO envelope (person, bucket, device, identity, use, tier, period, recipients, number)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        ) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.bind(row.bucket, at: 2)
            try statement.bind(row.device.rawValue, at: 3)
            try statement.bind(row.identity.bytes, at: 4)
            try statement.bind(row.use.rawValue, at: 5)
            try statement.bind(row.tier.rawValue, at: 6)
            try statement.bind(row.period?.bytes, at: 7)
            try statement.bind(row.recipients.flatMap(\.bytes), at: 8)
            try statement.bind(row.number, at: 9)
            try statement.run()
        }
        file.fingerprint.add(hash(row, of: person))
    }

    /// Deletes a person's rows, all of them or those of events with these numbers.
    ///
    /// Cost: a look at all rows of the person.
    private func remove(_ numbers: NumberSet?, of person: PersonID) throws(SQLiteError) {
        var gone: [EnvelopeRow] = []
        try file.connection.cached(
            """
            SELECT bucket, device, identity, use, tier, period, recipients, number FROM envelope WHERE person = ?
            """
        ) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            while try statement.step() {
                let row = try EnvelopeRow(statement)
                if numbers?.contains(row.number) ?? true { gone.append(row) }
            }
        }
        for row in gone {
            try file.connection.cached(
                "DELETE FROM envelope WHERE person = ? AND bucket = ? AND device = ? AND identity = ?"
            ) { (statement) throws(SQLiteError) in
                try statement.bind(person.rawValue, at: 1)
                try statement.bind(row.bucket, at: 2)
                try statement.bind(row.device.rawValue, at: 3)
                try statement.bind(row.identity.bytes, at: 4)
                try statement.run()
            }
            file.fingerprint.subtract(hash(row, of: person))
        }
    }
}
