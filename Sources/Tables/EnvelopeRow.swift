import Envelopes
import Projections
package import SQLite
package import Whereabouts

/// Where an envelope is in the log, with what can be read of it without a key.
package struct EnvelopeRow: Hashable, Sendable {
    /// What an envelope is for; the number is the first member of the envelope.
    package enum Use: Int64, Sendable, CaseIterable {
        case answer = 1
        case track = 2
        case period = 3
        /// The word in answers.
        package var word: String { String(describing: self) }
    }
    /// The quarter of an hour, counted from 1970.
    package let bucket: Int64
    /// The device that sent it.
    package let device: DeviceID
    /// As in the event.
    package let identity: Identifier128
    /// What it is for.
    package let use: Use
    /// The precision that its recipients see.
    package let tier: Precision
    /// The period of a fix of the history, or of a key; `nil` for an answer.
    package let period: Identifier128?
    /// The names of the keys that open it; none for a fix of the history.
    package let recipients: [KeyID]
    /// The number of its event.
    package let number: Int64

    /// `nil` for bytes that are no envelope, which a decision never lets into the log.
    init?(_ sealed: SealedFix, of device: DeviceID, number: Int64) {
        guard let envelope = try? Envelope(decoding: sealed.envelope) else { return nil }
        (self.device, identity, self.number) = (device, sealed.identity, number)
        tier = envelope.tier.precision
        bucket = envelope.bucketNumber
        recipients = envelope.wrapped.map(\.keyID)
        switch envelope {
        case .answer: (use, period) = (.answer, nil)
        case .track(let track): (use, period) = (.track, track.period)
        case .period(let key): (use, period) = (.period, key.period)
        }
    }

    /// Reads the columns from `bucket` to `number`.
    init(_ statement: borrowing Statement) throws(SQLiteError) {
        bucket = statement.int(at: 0)
        device = DeviceID(rawValue: statement.int(at: 1))
        guard let identity = Self.identifiers(statement.bytes(at: 2))?.first,
            let use = Use(rawValue: statement.int(at: 3)), let tier = Precision(rawValue: statement.int(at: 4)),
            let recipients = Self.identifiers(statement.bytes(at: 6))
        else { throw .damagedProjection }
        (self.identity, self.use, self.tier, self.recipients) = (identity, use, tier, recipients.map { KeyID($0) })
        period = Self.identifiers(statement.bytes(at: 5))?.first
        number = statement.int(at: 7)
    }

    /// `nil` unless the bytes are whole identifiers.
    private static func identifiers(_ bytes: [UInt8]) -> [Identifier128]? {
        guard bytes.count % 16 == 0 else { return nil }
        return stride(from: 0, to: bytes.count, by: 16).compactMap { start in
            bytes[start..<start + 16].withUnsafeBytes { Identifier128(bytes: $0) }
        }
    }
}

/// Reads where the envelopes of a person are. Nothing here checks a grant.
package enum EnvelopeReader {
    /// A row's place in the order of pages.
    package struct Key: Hashable, Sendable {
        package let bucket, device: Int64
        package let identity: Identifier128

        package init(bucket: Int64, device: Int64, identity: Identifier128) {
            (self.bucket, self.device, self.identity) = (bucket, device, identity)
        }

        package init(_ row: EnvelopeRow) {
            self.init(bucket: row.bucket, device: row.device.rawValue, identity: row.identity)
        }
    }

    /// The rows of a range of quarters of an hour, by time.
    ///
    /// - Parameters:
    ///   - key: The last row of the page before.
    ///   - limit: The most rows.
    ///
    /// Cost: a range of the primary key.
    package static func rows(
        of person: PersonID, in buckets: ClosedRange<Int64>, after key: Key?, limit: Int64,
        in connection: borrowing Connection
    ) throws(SQLiteError) -> [EnvelopeRow] {
        try connection.cached(rowsSQL) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            try statement.bind(key.map { max($0.bucket, buckets.lowerBound) } ?? buckets.lowerBound, at: 2)
            try statement.bind(buckets.upperBound, at: 3)
            try statement.bind(key?.bucket ?? -1, at: 4)
            try statement.bind(key?.device ?? 0, at: 5)
            try statement.bind(key?.identity.bytes ?? [], at: 6)
            try statement.bind(limit, at: 7)
            return try all(statement)
        }
    }

    /// The keys of periods of a person, of all times: a day has a few.
    package static func periods(
        of person: PersonID, in connection: borrowing Connection
    ) throws(SQLiteError) -> [EnvelopeRow] {
        try connection.cached(periodsSQL) { (statement) throws(SQLiteError) in
            try statement.bind(person.rawValue, at: 1)
            return try all(statement)
        }
    }

    private static func all(_ statement: borrowing Statement) throws(SQLiteError) -> [EnvelopeRow] {
        var rows: [EnvelopeRow] = []
        while try statement.step() { rows.append(try EnvelopeRow(statement)) }
        return rows
    }

    static let rowsSQL: StaticString = """
        SELECT bucket, device, identity, use, tier, period, recipients, number
        FROM envelope
        WHERE person = ?1 AND bucket BETWEEN ?2 AND ?3 AND (bucket, device, identity) > (?4, ?5, ?6)
        ORDER BY bucket, device, identity
        LIMIT ?7
        """
    static let periodsSQL: StaticString = """
        SELECT bucket, device, identity, use, tier, period, recipients, number
        FROM envelope
        WHERE person = ? AND use = 3
        """
}
