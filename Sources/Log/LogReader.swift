package import Cryptography
package import SQLite
package import Transparency
package import Whereabouts

/// Reads events from the log and opens their sealed parts. Each thread has its own reader, with its own connection.
/// Reading never waits for the writer.
package final class LogReader {
    private let connection: Connection
    private let origin: (path: String, access: Connection.Access)
    private var opener: EventOpener
    package let keys: KeyRing
    /// The highest id of a key in the events that `events(after:limit:)` returned last; 0 if they name none.
    package var highestKey: Int64 { opener.highestKey }

    /// Opens its own connection to the log.
    ///
    /// - Parameter access: For a file on read-only media, the access that ``FilesVerification`` finds.
    package init(path: String, keys: KeyRing, access: Connection.Access = .readOnly) throws(LogError) {
        do throws(SQLiteError) {
            connection = try Connection(path: path, access: access)
        } catch { throw .sqlite(error) }
        origin = (path, access)
        self.keys = keys
        opener = EventOpener(keys)
    }

    /// Another reader of this log, for another thread.
    package func another() throws(LogError) -> LogReader {
        try LogReader(path: origin.path, keys: keys, access: origin.access)
    }

    /// The bytes of one event, as stored.
    package struct StoredEvent {
        /// The columns of the row.
        package let header: EventHeader
        /// The clear part and the sealed parts, as CBOR.
        package let body: [UInt8]
        /// The hash of header, body and the leaf before it in its stream.
        package let leaf: Digest

        package init(header: EventHeader, body: [UInt8], leaf: Digest) {
            (self.header, self.body, self.leaf) = (header, body, leaf)
        }
    }

    /// Up to `limit` events after `number`, in order, each with its leaf.
    ///
    /// Cost: about 1 µs for a fix, of which opening is 0.2.
    package func events(after number: Int64, limit: Int) throws(LogError) -> [(event: RecordedEvent, leaf: Digest)] {
        var events: [(event: RecordedEvent, leaf: Digest)] = []
        events.reserveCapacity(min(limit, 8192))
        _ = try each(after: number, limit: limit) { events.append((RecordedEvent($0, $1), $2)) }
        return events
    }

    /// As ``events(after:limit:)``, for folds. Events of the kinds to pass over are not opened and left out. `last` has
    /// the number and the leaf of the last event, also if it was passed over; it is `nil` if there is none.
    package func batch(
        after number: Int64, limit: Int, passingOver kinds: EventKinds = EventKinds()
    ) throws(LogError) -> (events: [RecordedEvent], last: (number: Int64, leaf: Digest)?) {
        var events: [RecordedEvent] = []
        events.reserveCapacity(min(limit, 8192))
        let last = try each(after: number, limit: limit, passingOver: kinds) { header, event, _ in
            events.append(RecordedEvent(header, event))
        }
        return (events, last)
    }

    private func each(
        after number: Int64, limit: Int, passingOver kinds: EventKinds = EventKinds(),
        _ take: (EventHeader, consuming Event, Digest) -> Void
    ) throws(LogError) -> (number: Int64, leaf: Digest)? {
        opener.highestKey = 0
        return try Self.each(
            Self.eventsSQL, in: connection, &opener, passingOver: kinds,
            { (statement) throws(SQLiteError) in
                try statement.bind(number, at: 1)
                try statement.bind(limit, at: 2)
            }, take)
    }

    /// Opens the events of a statement's rows, except those that are passed over. Returns what the last row has.
    private static func each(
        _ sql: StaticString, in connection: borrowing Connection, _ opener: inout EventOpener,
        passingOver kinds: EventKinds = EventKinds(), _ bind: (borrowing Statement) throws(SQLiteError) -> Void,
        _ take: (EventHeader, consuming Event, Digest) -> Void
    ) throws(LogError) -> (number: Int64, leaf: Digest)? {
        opener.forgetStaleKeys()
        var last: (number: Int64, leaf: Digest)?
        var failure: LogError?
        do throws(SQLiteError) {
            try connection.cached(sql) { (statement) throws(SQLiteError) in
                try bind(statement)
                while try statement.step() {
                    do throws(LogError) {
                        let number = statement.int(at: 0)
                        guard let leaf = Digest(bytes: statement.lentBytes(at: 9)) else {
                            throw LogError.damaged(number: number, "its leaf has not 32 bytes")
                        }
                        last = (number, leaf)
                        if kinds.contains(number: statement.int(at: 3)) { continue }
                        let (header, body) = (try header(statement), statement.lentBytes(at: 8))
                        take(header, try opener.event(header, body: body, leaf: leaf, in: connection), leaf)
                    } catch {
                        failure = error
                        return
                    }
                }
            }
        } catch { throw .sqlite(error) }
        if let failure { throw failure }
        return last
    }

    private static let eventsSQL: StaticString = """
        SELECT number, stream, version, kind, recorded_at_ms, actor, correlation, cause, body, leaf
        FROM event WHERE number > ? ORDER BY number LIMIT ?
        """

    /// Up to `limit` reported fixes and visits of an import, in order.
    ///
    /// Cost: a look at the header of every event between the two numbers, about 0.3 µs each.
    ///
    /// - Parameters:
    ///   - import: The correlation of the events.
    ///   - person: Only the events of this person; `nil` for all.
    ///   - number: The number after which the events come.
    ///   - last: The greatest number.
    package func imported(
        _ import: Identifier128, of person: PersonID?, after number: Int64, through last: Int64, limit: Int
    ) throws(LogError) -> [RecordedEvent] {
        var events: [RecordedEvent] = []
        _ = try Self.each(
            Self.importedSQL, in: connection, &opener,
            { (statement) throws(SQLiteError) in
                try statement.bind(number, at: 1)
                try statement.bind(last, at: 2)
                try statement.bind(EventKind.fixReported.rawValue, at: 3)
                try statement.bind(EventKind.visitReported.rawValue, at: 4)
                try statement.bind(`import`.bytes, at: 5)
                try statement.bind(person.map { StreamID.track($0).rawValue }, at: 6)
                try statement.bind(limit, at: 7)
            }
        ) { header, event, _ in events.append(RecordedEvent(header, event)) }
        return events
    }

    /// By the primary key: the events between two numbers.
    private static let importedSQL: StaticString = """
        SELECT number, stream, version, kind, recorded_at_ms, actor, correlation, cause, body, leaf
        FROM event
        WHERE number > ?1 AND number <= ?2 AND kind IN (?3, ?4) AND correlation = ?5 AND (?6 IS NULL OR stream = ?6)
        ORDER BY number
        LIMIT ?7
        """

    /// The event with this number; `nil` beyond the head.
    package func event(_ number: Int64) throws(LogError) -> (event: RecordedEvent, leaf: Digest)? {
        if number < 1 { return nil }
        let events = try events(after: number - 1, limit: 1)
        return events.first.flatMap { $0.event.number == number ? $0 : nil }
    }

    /// Events in their stored form, for `verify` and `events --as-stored`. Events before a damaged one are still
    /// returned.
    package func storedEvents(after number: Int64, limit: Int) throws(LogError) -> [StoredEvent] {
        var events: [StoredEvent] = []
        var failure: LogError?
        do throws(SQLiteError) {
            try connection.cached(Self.eventsSQL) { (statement) throws(SQLiteError) in
                try statement.bind(number, at: 1)
                try statement.bind(limit, at: 2)
                while try statement.step() {
                    do throws(LogError) {
                        let header = try Self.header(statement)
                        guard let leaf = statement.withBytes(at: 9, { Digest(bytes: $0) }) else {
                            throw LogError.damaged(number: header.number, "its leaf has not 32 bytes")
                        }
                        events.append(StoredEvent(header: header, body: statement.bytes(at: 8), leaf: leaf))
                    } catch {
                        failure = error
                        return
                    }
                }
            }
        } catch {
            // Rows before a damaged page are still good; the first one that cannot be read has the next number.
            if events.isEmpty, error.isCorruption { throw .damaged(number: number + 1, "its page cannot be read") }
            if !error.isCorruption { throw .sqlite(error) }
        }
        if let failure, events.isEmpty { throw failure }
        return events
    }

    /// Whether the row of the head's number is this event of this stream. Cost: one look-up by primary key.
    func holds(_ head: StreamHead, of stream: StreamID) throws(LogError) -> Bool {
        do throws(SQLiteError) {
            return try connection.cached("SELECT stream, version, leaf FROM event WHERE number = ?") {
                (statement) throws(SQLiteError) in
                try statement.bind(head.number, at: 1)
                guard try statement.step() else { return false }
                return statement.int(at: 0) == stream.rawValue && statement.int(at: 1) == head.version
                    && statement.withBytes(at: 2) { Digest(bytes: $0) } == head.leaf
            }
        } catch { throw .sqlite(error) }
    }

    /// Whether the rows of these numbers are these events of these streams.
    ///
    /// Cost: one look-up each by primary key, in the order of their numbers; or, if that is less, a scan of all `size`
    /// events.
    package func holds(_ heads: StreamHeads, upTo size: Int64) throws(LogError) -> Bool {
        guard Int64(heads.count) > size / Self.rowsScannedPerLookUp else {
            for (stream, head) in heads.sorted(by: { $0.value.number < $1.value.number }) {
                guard try holds(head, of: stream) else { return false }
            }
            return true
        }
        do throws(SQLiteError) {
            return try connection.cached("SELECT number, stream, version, leaf FROM event WHERE number <= ?") {
                (statement) throws(SQLiteError) in
                try statement.bind(size, at: 1)
                var held = 0
                while try statement.step() {
                    guard let head = heads[StreamID(rawValue: statement.int(at: 1))],
                        head.number == statement.int(at: 0)
                    else { continue }
                    guard statement.int(at: 2) == head.version,
                        statement.withBytes(at: 3, { Digest(bytes: $0) }) == head.leaf
                    else { return false }
                    held += 1
                }
                return held == heads.count
            }
        } catch { throw .sqlite(error) }
    }

    /// So many rows are read one after the other in the time that it takes to look one up.
    private static let rowsScannedPerLookUp: Int64 = 4

    /// The leaf of the event with this number; `nil` if there is none.
    func leaf(of number: Int64) throws(LogError) -> Digest? { try connection.leaf(of: number) }

    /// The identity, size and tree of the log, as of the last commit. Throws if the row has another form than this
    /// version writes.
    package func identity() throws(LogError) -> LogIdentity {
        do throws(SQLiteError) { return try LogIdentity.read(connection) } catch { throw .sqlite(error) }
    }

    /// Opens the parts of a stored event, for callers that have the stored form.
    package func open(_ stored: StoredEvent) throws(LogError) -> RecordedEvent {
        opener.forgetStaleKeys()
        let event = try stored.body.span.bytes.withUnsafeBytes { (body) throws(LogError) in
            try opener.event(stored.header, body: body, leaf: stored.leaf, in: connection)
        }
        return RecordedEvent(stored.header, event)
    }

    /// The header of a row; throws ``LogError/damaged(number:_:)`` for a value that no writer writes.
    private static func header(_ statement: borrowing Statement) throws(LogError) -> EventHeader {
        let number = statement.int(at: 0)
        guard let correlation = RequestID(bytes: statement.lentBytes(at: 6)) else {
            throw .damaged(number: number, "its correlation has not 16 bytes")
        }
        let header = EventHeader(
            number: number, stream: StreamID(rawValue: statement.int(at: 1)), version: statement.int(at: 2),
            kind: statement.int(at: 3), recordedAt: Timestamp(milliseconds: statement.int(at: 4)),
            actor: PrincipalID(rawValue: statement.int(at: 5)), correlation: correlation, cause: statement.int(at: 7))
        if let fault = header.fault { throw .damaged(number: number, fault) }
        return header
    }
}

/// The one row of the table `log`.
package struct LogIdentity: Sendable {
    /// A random id, given when the log was made. Projections and indexes keep it.
    package let id: Identifier128
    /// Raised by each restore and each accepted loss, from 1.
    package let epoch: Int64
    /// The Merkle tree over all leaves.
    package let range: CompactRange
    /// The number of events.
    package var size: Int64 { range.size }
    /// The leaf of the newest event; `nil` for an empty log.
    package let head: Digest?
    /// The root of the Merkle tree over all leaves.
    package func root(_ sha256: SHA256) -> Digest { range.root(sha256) }

    /// More events or epochs than there can be. A higher number is damage; counting on from a lower one cannot
    /// overflow.
    private static let mostEvents: Int64 = 1 << 52
    private static let mostEpochs: Int64 = 1 << 32

    /// - Throws: A corruption error that names the column if the row has another form than this version writes.
    package static func read(_ connection: borrowing Connection) throws(SQLiteError) -> LogIdentity {
        try connection.cached("SELECT id, epoch, size, compact_range, head, format FROM log") {
            (statement) throws(SQLiteError) in
            func check(_ isRight: Bool, _ what: String) throws(SQLiteError) {
                if !isRight { throw SQLiteError(code: 11, message: "its table log \(what)") }
            }
            try check(try statement.step(), "has no row")
            let (epoch, size, bytes) = (statement.int(at: 1), statement.int(at: 2), statement.bytes(at: 4))
            try check(statement.int(at: 5) == LogSchema.format, "has the format \(statement.int(at: 5))")
            try check((1...mostEpochs).contains(epoch), "has the epoch \(epoch)")
            try check((0...mostEvents).contains(size), "has the size \(size)")
            try check(bytes.count == (size == 0 ? 0 : 32), "has a head of \(bytes.count) bytes")
            guard let id = statement.withBytes(at: 0, { Identifier128(bytes: $0) }),
                let range = CompactRange(size: size, bytes: statement.bytes(at: 3))
            else {
                throw SQLiteError(code: 11, message: "its table log has an id or a compact range of another length")
            }
            let identity = LogIdentity(id: id, epoch: epoch, range: range, head: Digest(bytes: bytes))
            try check(try !statement.step(), "has more than one row")
            return identity
        }
    }
}

extension Connection {
    /// The leaf of an event in the log's tables; `nil` if there is none.
    func leaf(of number: Int64) throws(LogError) -> Digest? {
        do throws(SQLiteError) {
            return try cached("SELECT leaf FROM event WHERE number = ?") { (statement) throws(SQLiteError) in
                try statement.bind(number, at: 1)
                return try statement.step() ? statement.withBytes(at: 0) { Digest(bytes: $0) } : nil
            }
        } catch { throw .sqlite(error) }
    }
}

extension RecordedEvent {
    /// The event of a row.
    fileprivate init(_ header: EventHeader, _ event: consuming Event) {
        self.init(
            number: header.number, stream: header.stream, version: header.version, recordedAt: header.recordedAt,
            actor: header.actor, correlation: header.correlation, cause: header.cause, event: event)
    }
}
