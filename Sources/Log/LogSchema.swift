package import Cryptography
package import SQLite
package import Whereabouts

// The bytes of the log.
//
// `log.sqlite` holds two tables. `event` has one row per event; nothing ever updates or deletes one. `log` has one row,
// written in the same transaction as the events, so that a start needs no rehash.
//
//     body  = CBOR [clear, [key id, nonce(12), ciphertext ‖ tag(16)] …]          see Whereabouts/Coding/EventCoding.swift
//     head  = CBOR [1, number, stream, version, kind, recorded at ms, actor, correlation(16), cause, previous leaf(32 or 0)]
//     leaf  = SHA-256(0x00 ‖ head ‖ SHA-256(body))
//     node  = SHA-256(0x01 ‖ left ‖ right)
//
// The previous leaf is that of the stream's previous event, empty for version 1. Leaves 1, 2, 3 … form the Merkle tree
// of RFC 9162 §2.1; `compact_range` holds the roots of its maximal complete subtrees, largest first. Each part is
// sealed with AES-256-GCM under the key `key id`; its associated data are the bytes of `head` without the previous
// leaf, so that an event can be opened alone, followed by one byte, the part's index from 0.

package enum LogSchema {
    /// Raised when an older program could misread the file.
    static let format: Int64 = 1
    /// SQLite's application id, by which `file` recognizes the format.
    static let applicationID: Int64 = 0x5748_4552  // "WHER"

    static let tables: StaticString = """
        CREATE TABLE event (
            number INTEGER PRIMARY KEY,
            stream INTEGER NOT NULL,
            version INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            recorded_at_ms INTEGER NOT NULL,
            actor INTEGER NOT NULL,
            correlation BLOB NOT NULL,
            cause INTEGER NOT NULL,
            body BLOB NOT NULL,
            leaf BLOB NOT NULL
        ) STRICT;
        CREATE TABLE log (
            id BLOB NOT NULL,
            format INTEGER NOT NULL,
            epoch INTEGER NOT NULL,
            size INTEGER NOT NULL,
            compact_range BLOB NOT NULL,
            head BLOB NOT NULL
        ) STRICT
        """

    static let triggers: StaticString = """
        CREATE TRIGGER event_is_final_update BEFORE UPDATE ON event BEGIN
            SELECT RAISE(ABORT, 'events are never changed');
        END;
        CREATE TRIGGER event_is_final_delete BEFORE DELETE ON event BEGIN
            SELECT RAISE(ABORT, 'events are never deleted');
        END
        """

    /// The statements that set the application id and the format.
    static let marks: StaticString = "PRAGMA application_id = 1464354130; PRAGMA user_version = 1"

    /// Creates the tables of an empty log.
    static func create(_ connection: borrowing Connection) throws(SQLiteError) {
        try connection.execute(marks)
        try connection.execute(tables)
        try connection.execute(triggers)
    }

    /// The difference between the file's schema and that of ``create(_:)``, in words; `nil` if there is none.
    ///
    /// An additional table, trigger or index could change writes; a missing one no longer protects them.
    package static func difference(_ connection: borrowing Connection) throws(SQLiteError) -> String? {
        let due = try Connection(path: ":memory:", access: .readWrite)
        try create(due)
        let (expected, found) = (try objects(due), try objects(connection))
        for (name, sql) in expected.sorted(by: { $0.key < $1.key }) {
            guard let there = found[name] else { return "the \(name) is missing" }
            guard there == sql else { return "the \(name) has another form" }
        }
        return found.keys.sorted().first { expected[$0] == nil }.map {
            "it has the \($0), which this version does not make"
        }
    }

    /// The SQL of everything in the schema, by kind and name such as `trigger event_is_final_update`.
    private static func objects(_ connection: borrowing Connection) throws(SQLiteError) -> [String: String] {
        try connection.cached("SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema") {
            (statement) throws(SQLiteError) in
            var objects: [String: String] = [:]
            while try statement.step() {
                objects["\(statement.text(at: 0)) \(statement.text(at: 1))"] =
                    "\(statement.text(at: 2)): \(statement.text(at: 3))"
            }
            return objects
        }
    }
}

/// The columns of an event that its leaf covers in addition to the body.
package struct EventHeader {
    /// The place in the log, from 1 without gaps.
    package let number: Int64
    /// The stream, for example a person's.
    package let stream: StreamID
    /// The place in the stream, from 1 without gaps.
    package let version: Int64
    /// The raw value of an `EventKind`, which an older program may not know.
    package let kind: Int64
    /// The service's time of the decision.
    package let recordedAt: Timestamp
    /// The principal who caused the event.
    package let actor: PrincipalID
    /// The request that led to the event.
    package let correlation: RequestID
    /// The number of the event that led to it; 0 if none.
    package let cause: Int64

    package init(
        number: Int64, stream: StreamID, version: Int64, kind: Int64, recordedAt: Timestamp, actor: PrincipalID,
        correlation: RequestID, cause: Int64
    ) {
        (self.number, self.stream, self.version, self.kind) = (number, stream, version, kind)
        (self.recordedAt, self.actor, self.correlation, self.cause) = (recordedAt, actor, correlation, cause)
    }

    /// The years 1 to 9999 in milliseconds since 1970.
    private static let moments: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999

    /// Why no writer writes this header, as part of a sentence; `nil` for a possible one.
    package var fault: String? {
        // With these bounds, counting on from the numbers does not overflow.
        guard number > 0, (1...number).contains(version), (0..<number).contains(cause) else {
            return "its version or its cause is impossible"
        }
        guard Self.moments.contains(recordedAt.milliseconds) else {
            return "it was recorded before the year 1 or after the year 9999"
        }
        return nil
    }

    /// The most bytes of the canonical header: 2, seven integers of 9, 17 of the correlation and 34 of the last item.
    package static let mostBytes = 2 + 7 * 9 + 17 + 34

    /// Writes the canonical header without its last item. With the index of a part, it is the part's associated data.
    package func write(to cursor: inout CBORCursor) {
        cursor.array(10)
        cursor.integer(1)
        cursor.integer(number)
        cursor.integer(stream.rawValue)
        cursor.integer(version)
        cursor.integer(kind)
        cursor.integer(recordedAt.milliseconds)
        cursor.integer(actor.rawValue)
        cursor.byteString(correlation)
        cursor.integer(cause)
    }

    /// Writes the whole canonical header, whose last item is the leaf before it in its stream.
    package func write(to cursor: inout CBORCursor, after previous: Digest?) {
        write(to: &cursor)
        Self.write(previous, to: &cursor)
    }

    /// The leaf of the event with this header, `body`, and `previous`, the leaf before it in its stream. `scratch` is room
    /// for ``mostBytes``.
    package func leaf(
        body: UnsafeRawBufferPointer, previous: Digest?, _ sha256: SHA256, scratch: inout CBORRoom
    ) -> Digest {
        scratch.replace { write(to: &$0, after: previous) }
        return sha256.hash(body).withBytes { sha256.hash(prefix: 0, scratch.items, $0) }
    }

    /// As above, with the bytes of ``write(to:)``, and the hash of the body.
    static func leaf(
        head: UnsafeRawBufferPointer, bodyHash: Digest, previous: Digest?, _ sha256: SHA256, scratch: inout CBORRoom
    ) -> Digest {
        scratch.replace {
            $0.raw(head)
            write(previous, to: &$0)
        }
        return bodyHash.withBytes { sha256.hash(prefix: 0, scratch.items, $0) }
    }

    /// Writes the last item of the canonical header.
    private static func write(_ previous: Digest?, to cursor: inout CBORCursor) {
        if let previous { previous.withBytes { cursor.byteString($0) } } else { cursor.byteStringHead(0) }
    }
}

extension Hash256 {
    /// The same 256 bits.
    package init(_ digest: Digest) { self.init(words: digest.words) }
    /// The same 256 bits.
    package var digest: Digest { Digest(words: words) }
}
