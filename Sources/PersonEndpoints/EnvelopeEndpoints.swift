import Answers
import Cryptography
import Envelopes
import HTTPInterface
import HTTPServer
import Log
import Replies
import SQLite
import Tables
import Whereabouts
import WireFormats

/// The envelopes of a person, for their recipients.
struct EnvelopeEndpoints: Sendable {
    let decisions: Decisions
    let views: Views

    /// An envelope has about 500 bytes, and each is read from the log by itself.
    static let envelopesPerPage: Int64 = 100
    /// The quarters of an hour that there can be.
    private static let buckets: ClosedRange<Int64> = 0...TimeBucket.numbers.upperBound

    /// `GET /v1/people/*/envelopes`: the envelopes whose quarter of an hour is in the range, in the order of time.
    ///
    /// A reader under a grant gets those of the grant's precision that one of the reader's recipient keys opens: answers to
    /// questions; and, if the grant has the history, fixes of the history whose period's key is sealed for the reader, with
    /// these keys. The person and the operator get all.
    ///
    /// Recorded with the question `envelopes`, one record for each page, with the SHA-256 of each envelope and the names of the
    /// keys.
    func list(_ exchange: Exchange, _ context: AnswerContext) throws(Problem) -> Disclosed {
        let limit = try exchange.integer("limit", in: 1...Self.envelopesPerPage, default: Self.envelopesPerPage)
        let after = try Cursor(exchange, decisions)?.envelope()
        return try views.read(exchange, context, .envelopes, from: EnvelopeTable.name) {
            (reading) throws(Problem) in
            let reader = Reader(exchange, reading.permit, decisions)
            let range = Self.range(reading)
            let (found, asOf) = try context.read(EnvelopeTable.name) { (connection) throws(SQLiteError) in
                let subject = reading.permit.subject
                let periods = reader.isLimited ? try EnvelopeReader.periods(of: subject, in: connection) : []
                let opened = Set(periods.filter { reader.opens($0) }.compactMap(\.period))
                return try ShownRows.page(
                    upTo: limit, after: after, atOnce: Self.envelopesPerPage, key: { EnvelopeReader.Key($0) },
                    isShown: { reader.shows($0, opened) },
                    fetch: { (after, count) throws(SQLiteError) in
                        try EnvelopeReader.rows(
                            of: subject, in: range, after: after, limit: Int64(count), in: connection)
                    })
            }
            var page = PageWriter(rows: found.rows.count)
            var envelopes: [Envelope] = []
            for row in found.rows {
                guard let (envelope, recordedAt) = try Self.envelope(row, context) else { continue }
                envelopes.append(envelope)
                let handle = decisions.log.withStanding { $0.devices[row.device]?.handle?.text }
                page.add(
                    EnvelopeItem(
                        envelope, device: handle, number: reading.references.event(row.number), received: recordedAt))
            }
            var computed = page.ended(
                next: found.end.map { Cursor.text($0, reading) }, asOf: asOf, reading.references)
            computed.envelopes = DisclosedEnvelopes(envelopes)
            return computed
        }
    }

    private static func range(_ reading: Gate.Reading) -> ClosedRange<Int64> {
        func bucket(_ time: Timestamp?, _ missing: Int64) -> Int64 {
            guard let time else { return missing }
            let number = Int64((Double(time.milliseconds) / Double(TimeBucket.seconds * 1000)).rounded(.down))
            return min(max(number, buckets.lowerBound), buckets.upperBound)
        }
        let from = bucket(reading.from, buckets.lowerBound)
        // The end of the range is not part of it.
        let last = reading.to.map { Timestamp(milliseconds: max($0.milliseconds, .min + 1) - 1) }
        return from...max(from, bucket(last, buckets.upperBound))
    }

    /// The envelope of a row, and when it was recorded; `nil` if its key was destroyed meanwhile.
    private static func envelope(
        _ row: EnvelopeRow, _ context: AnswerContext
    ) throws(Problem) -> (Envelope, recordedAt: Timestamp)? {
        let found: (event: RecordedEvent, leaf: Digest)?
        do throws(LogError) { found = try context.reader.event(row.number) } catch { throw .broken }
        guard let event = found?.event, case .sealedFixReported(_, _, .open(let sealed)) = event.event,
            let envelope = try? Envelope(decoding: sealed.envelope)
        else { return nil }
        return (envelope, event.recordedAt)
    }

    /// What a reader may have.
    private struct Reader {
        /// Whether the reader needs a grant.
        let isLimited: Bool
        private let permit: Permit
        /// The keys of the reader, including withdrawn ones, which still open older envelopes.
        private let keys: Set<KeyID>
        private let hasHistory: Bool

        init(_ exchange: Exchange, _ permit: Permit, _ decisions: Decisions) {
            self.permit = permit
            isLimited = if case .granted = permit.verdict { true } else { false }
            let now = decisions.clock()
            (keys, hasHistory) = decisions.log.withStanding { standing in
                let reader = PersonID(rawValue: exchange.caller.principal.rawValue)
                let keys = Set(standing.sealingKeys[reader].recipients.map(\.key.id))
                guard let subject = standing.persons[permit.subject]?.handle,
                    case .success = standing.authorize(exchange.caller, to: .readHistory, about: subject, at: now)
                else { return (keys, false) }
                return (keys, true)
            }
        }

        /// Whether one of the reader's keys opens it.
        func opens(_ row: EnvelopeRow) -> Bool { row.recipients.contains { keys.contains($0) } }

        /// - Parameter opened: The periods whose key the reader has.
        func shows(_ row: EnvelopeRow, _ opened: Set<Identifier128>) -> Bool {
            guard isLimited else { return true }
            guard row.tier == permit.precision, showsTime(of: row) else { return false }
            switch row.use {
            case .answer: return opens(row)
            case .period: return hasHistory && opens(row)
            case .track: return hasHistory && row.period.map { opened.contains($0) } ?? false
            }
        }

        /// Whether the permit shows both ends of the quarter of an hour. A period is a key and has no place.
        private func showsTime(of row: EnvelopeRow) -> Bool {
            guard row.use != .period, let bucket = TimeBucket(number: row.bucket) else { return true }
            let last = Timestamp(milliseconds: bucket.end.milliseconds - 1)
            return row.use == .answer
                ? permit.shows(bucket.start) || permit.shows(last) : permit.shows(from: bucket.start, to: last)
        }
    }
}

extension EnvelopeItem {
    /// An envelope in an answer.
    ///
    /// - Parameter received: Shown only of an exact fix: the time of receipt of a coarse one is close to its own.
    init(_ envelope: Envelope, device: String?, number: Reference?, received: Timestamp? = nil) {
        let use: EnvelopeRow.Use =
            switch envelope {
            case .answer: .answer
            case .track: .track
            case .period: .period
            }
        let start = Timestamp(milliseconds: envelope.bucketNumber * TimeBucket.seconds * 1000)
        self.init(
            envelope: Base64.encode(envelope.bytes), use: use.word, from: Moment(start),
            precision: envelope.tier.precision.word, device: device, number: number,
            received: envelope.tier == .exact && use != .period ? received.map { Moment($0) } : nil)
    }
}

extension EnvelopeEndpoints {
    /// Reading envelopes.
    var operations: [Operation] {
        [
            .read(
                APIPath.peopleEnvelopes.text, list,
                summary: "List a person's envelopes.",
                description:
                    "In order of time, by quarters of an hour. For the person, the operator, and a person with a grant, who gets the envelopes of the grant's precision that are sealed for a key of theirs. The read is recorded before the answer is sent, with the SHA-256 of each envelope.",
                access: .token(.query), discloses: .envelopes,
                query: [.from, .to, .limit(Self.envelopesPerPage), .after],
                answer: Operation.Answer(Schema.page(of: EnvelopeItem.self), pageOf: "Envelope"))
        ]
    }
}
