package import Cryptography
package import Log
package import SQLite
import Transparency
import Whereabouts

/// The result of a verification.
package struct LogVerification: Sendable {
    /// The first fault found.
    package struct Problem: Sendable, Equatable {
        /// The number of the first event that is damaged, missing or out of place.
        package let number: Int64
        /// The fault as part of a sentence, for example "it does not match its leaf".
        package let sentence: String
    }

    /// The number of good events, from event 1 on without a gap.
    package internal(set) var events: Int64 = 0
    /// The root of the Merkle tree over their leaves.
    package internal(set) var root: Digest
    /// The first fault; `nil` if there is none.
    package internal(set) var problem: Problem?
    /// Sealed parts whose key was destroyed on purpose.
    package internal(set) var erasedParts: Int64 = 0
    /// Sealed parts that no key opens although their key was not destroyed on purpose: the key is missing, or another
    /// key has its id.
    package internal(set) var lostParts: Int64 = 0
}

/// Recomputes the log from its rows: every leaf, the numbers, the versions and chain of each stream, the tree, the heads of
/// the persons' own logs, and the row `log` that the last commit wrote.
///
/// Reads a few thousand rows at a time through its own connection, so that neither memory nor the write-ahead log grows
/// while it runs beside the service. Events appended meanwhile are not verified. Every sealed part is opened, because
/// one id may have meant two keys. Cost: about 2.5 µs per event and 60 bytes per stream.
package final class LogVerifier {
    private let connection: Connection
    private let keys: KeyRing
    private let sha256 = SHA256()
    private var scratch = CBORRoom(for: EventHeader.mostBytes)
    private var range = CompactRange()
    private var heads: [Int64: (version: Int64, leaf: Digest)] = [:]
    private var personHeads = HeadsVerifier()
    private let cipher = AES256GCM()
    private var known: [Int64: KeyRing.Key] = [:]
    private let buffer = PlaintextBuffer()
    private var result: LogVerification
    private var pass = Pass()

    /// What a pass over the log has found at its beginning, how it is made, and where it is.
    private struct Pass {
        /// As of the beginning; `nil` if it cannot be read.
        var identity: LogIdentity?
        /// How the tables differ from this version's tables, in words.
        var alteration: String?
        /// The number of the last event to verify.
        var end: Int64 = .max
        var hasBegun = false
        /// Whether sealed parts are opened, to count those whose key is gone.
        var opensParts = true
        /// The leaf of the last event that was read.
        var lastLeaf: Digest?
    }

    /// The rows read at once.
    private static let rowsPerRead = 4096

    /// Opens its own connection to the log.
    ///
    /// - Parameter access: How the file is opened; `immutable` for a file on read-only media.
    package init(path: String, keys: KeyRing, access: Connection.Access = .readOnly) throws(LogError) {
        do throws(SQLiteError) {
            connection = try Connection(path: path, access: access)
        } catch { throw .sqlite(error) }
        self.keys = keys
        result = LogVerification(root: sha256.hash([]))
    }

    /// Verifies the log of a directory that no service has open, also if damage keeps a service from starting.
    package static func verify(
        _ directory: DataDirectory, progress: (_ done: Int64, _ all: Int64) -> Void
    ) throws(LogError) -> LogVerification {
        let keys = try directory.openKeys()
        return try LogVerifier(path: directory.log, keys: keys).verify(progress: progress)
    }

    /// Verifies everything up to the newest event at the time of the call. May be called once.
    ///
    /// - Parameter progress: Called every few thousand events.
    /// - Throws: If the file or the keys cannot be read at all. Faults inside them are part of the result.
    package func verify(
        progress: (_ done: Int64, _ all: Int64) -> Void = { _, _ in }
    ) throws(LogError) -> LogVerification {
        try begin()
        while result.events < pass.end, result.problem == nil, try readRows(Self.rowsPerRead) {
            progress(result.events, max(pass.end == .max ? 0 : pass.end, result.events))
        }
        return try finish()
    }

    /// Verifies the next rows, without opening their sealed parts, for a check in the background.
    ///
    /// - Parameter rows: The most rows to read.
    /// - Returns: `nil` until the pass has reached the event that was the newest at its first slice, or has found a
    ///   fault. Its counts of erased and lost parts are 0.
    package func verifySlice(rows: Int) throws(LogError) -> LogVerification? {
        pass.opensParts = false
        if !pass.hasBegun { try begin() }
        let isMore = result.events < pass.end && result.problem == nil ? try readRows(rows) : false
        return isMore && result.events < pass.end && result.problem == nil ? nil : try finish()
    }

    /// The number of the newest event that was verified.
    package var events: Int64 { result.events }

    /// Reads the identity of the log and the size up to which it is verified.
    private func begin() throws(LogError) {
        pass.hasBegun = true
        do throws(SQLiteError) {
            let difference = try LogSchema.difference(connection)
            do throws(SQLiteError) {
                (pass.identity, pass.alteration) = (try LogIdentity.read(connection), difference)
            } catch {
                guard error.meansDamage else { throw error }
                (pass.identity, pass.alteration) = (nil, difference ?? error.message)
            }
        } catch {
            guard error.isCorruption else { throw .sqlite(error) }
            (pass.identity, pass.alteration) = (nil, error.message)
        }
        pass.end = pass.identity?.range.size ?? .max
    }

    /// Compares the tree and the newest leaf, and looks for rows that do not belong to the log.
    private func finish() throws(LogError) -> LogVerification {
        result.root = range.root(sha256)
        if result.problem == nil { compare(pass.identity) }
        if result.problem == nil { try lookBeyond() }
        if let alteration = pass.alteration {
            fail(result.events, "the tables of the file differ from those of this version: \(alteration)")
        }
        return result
    }

    /// Checks for rows before event 1, and after the newest event that the row `log` counts.
    private func lookBeyond() throws(LogError) {
        do throws(SQLiteError) {
            // In one statement, because the service may append meanwhile.
            try connection.cached(
                "SELECT min(number), max(number), (SELECT size FROM log) FROM event"
            ) { (statement) throws(SQLiteError) in
                guard try statement.step() else { return }
                let (first, last, size) = (statement.int(at: 0), statement.int(at: 1), statement.int(at: 2))
                if size > 0, first != 1 { fail(first, "it is before the first event") }
                if last != size { fail(min(last, size) + 1, "the log counts \(size) events but has \(last)") }
            }
        } catch {
            guard error.isCorruption else { throw .sqlite(error) }
            fail(result.events, "a page beside it cannot be read (\(error.message))")
        }
    }

    /// Compares the row `log` with the rows of `event`.
    private func compare(_ identity: LogIdentity?) {
        guard let identity else {
            return fail(result.events, "the row that counts the events cannot be read")
        }
        if identity.size != result.events {
            fail(result.events + 1, "the log counts \(identity.size) events, and this one is missing")
        } else if identity.range.subtrees != range.subtrees {
            fail(result.events, "the tree stored with it is not the tree over the events")
        } else if identity.head != pass.lastLeaf {
            fail(result.events, "the newest leaf stored with it is a different one")
        }
    }

    /// Notes the first fault; later ones follow from it.
    private func fail(_ number: Int64, _ sentence: String) {
        if result.problem == nil { result.problem = .init(number: number, sentence: sentence) }
    }

    /// Verifies the next rows; `false` if there are none.
    private func readRows(_ most: Int) throws(LogError) -> Bool {
        var rows = 0
        do throws(SQLiteError) {
            try connection.cached(
                """
                SELECT number, stream, version, kind, recorded_at_ms, actor, correlation, cause, body, leaf
                FROM event WHERE number > ? ORDER BY number LIMIT ?
                """
            ) { (statement) throws(SQLiteError) in
                try statement.bind(result.events, at: 1)
                try statement.bind(Int(min(Int64(most), pass.end - result.events)), at: 2)
                while result.problem == nil, try statement.step() {
                    rows += 1
                    try check(statement)
                }
            }
        } catch {
            guard error.isCorruption else { throw .sqlite(error) }
            fail(result.events + 1, "its page cannot be read (\(error.message))")
        }
        return rows > 0
    }

    /// Verifies one row: its place, types, version, cause, leaf and parts.
    private func check(_ row: borrowing Statement) throws(SQLiteError) {
        let due = result.events + 1
        let number = row.int(at: 0)
        guard number == due else { return fail(due, "it is missing; the next one is \(number)") }
        for column: Int32 in [1, 2, 3, 4, 5, 7] where !row.isInteger(at: column) {
            return fail(due, "a column has another type")
        }
        for column: Int32 in [6, 8, 9] where !row.isBlob(at: column) {
            return fail(due, "a column has another type")
        }
        guard let correlation = row.withBytes(at: 6, { RequestID(bytes: $0) }) else {
            return fail(due, "its correlation has not 16 bytes")
        }
        let header = EventHeader(
            number: number, stream: StreamID(rawValue: row.int(at: 1)), version: row.int(at: 2), kind: row.int(at: 3),
            recordedAt: Timestamp(milliseconds: row.int(at: 4)), actor: PrincipalID(rawValue: row.int(at: 5)),
            correlation: correlation, cause: row.int(at: 7))
        let head = heads[header.stream.rawValue]
        guard header.version == (head?.version ?? 0) + 1 else {
            return fail(due, "it has version \(header.version) of its stream, and \((head?.version ?? 0) + 1) is due")
        }
        guard header.cause >= 0, header.cause < number else {
            return fail(due, "it names event \(header.cause) as its cause, which does not come before it")
        }
        let leaf = row.withBytes(at: 8) {
            header.leaf(body: $0, previous: head?.leaf, sha256, scratch: &scratch)
        }
        guard row.withBytes(at: 9, { Digest(bytes: $0) }) == leaf else {
            return fail(due, "it does not match its leaf")
        }
        if header.kind == EventKind.headsCommitted.rawValue {
            let fault = try row.withBytes(at: 8) { (body) throws(SQLiteError) in
                try personHeads.check(body, number: number, connection, sha256)
            }
            if let fault { return fail(due, fault) }
        }
        if pass.opensParts {
            try row.withBytes(at: 8) { (body) throws(SQLiteError) in try countParts(body, of: header) }
        }
        heads[header.stream.rawValue] = (header.version, leaf)
        range.append(leaf, sha256)
        pass.lastLeaf = leaf
        result.events = number
    }

    /// Counts the parts that can no longer be opened. A body that is not CBOR but has a good leaf was written so.
    private func countParts(_ body: UnsafeRawBufferPointer, of header: EventHeader) throws(SQLiteError) {
        var reader = CBORReader(body)
        guard let items = try? reader.array(), (try? reader.skip()) != nil else { return }
        scratch.replace { header.write(to: &$0) }
        for index in 0..<max(items - 1, 0) {
            guard (try? reader.array()) == 3, let id = try? reader.integer(), let nonce = try? reader.byteString(),
                let ciphertext = try? reader.byteString()
            else { return }
            switch try key(id) {
            case .destroyed: result.erasedParts += 1
            case .lost: result.lostParts += 1
            // The leaf is right, so a part that does not open was sealed under another key.
            case .key(let key): if !opens(ciphertext, key, nonce, index) { result.lostParts += 1 }
            }
        }
    }

    /// Whether the key opens the part, whose header is in ``scratch``.
    private func opens(
        _ ciphertext: UnsafeRawBufferPointer, _ key: SymmetricKey, _ nonce: UnsafeRawBufferPointer, _ index: Int
    ) -> Bool {
        guard nonce.count == AES256GCM.nonceByteCount, let index = UInt8(exactly: index) else { return false }
        let associated = scratch.items(and: index)
        return (try? cipher.open(ciphertext, key: key, nonce: nonce, associated: associated, into: buffer)) != nil
    }

    /// The key of a part, read once.
    private func key(_ id: Int64) throws(SQLiteError) -> KeyRing.Key {
        if let known = known[id] { return known }
        let key = try keys.key(id)
        known[id] = key
        return key
    }
}

extension EventLog {
    /// Verifies the log while it is in use, on the caller's thread. Takes seconds to minutes.
    package func verify(progress: (_ done: Int64, _ all: Int64) -> Void) throws(LogError) -> LogVerification {
        try LogVerifier(path: path, keys: keys).verify(progress: progress)
    }
}
