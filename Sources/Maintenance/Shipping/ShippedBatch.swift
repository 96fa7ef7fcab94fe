import Cryptography
import Log
import Transparency
import Whereabouts

// The bytes of a batch of shipped events. Integers are big-endian, signed ones in two's complement.
//
//     offset  bytes
//          0      8   "wbship01": the format
//          8      4   length of the batch in bytes, at most 16 MiB
//         12     16   id of the log
//         28      8   epoch of the log
//         36      8   number of the first event
//         44      8   number of the last event, at most 4095 more
//         52   32·k   the compact range of the tree before the first event: k roots, one for each bit set in (first − 1)
//                     the events, each with the columns of table `event`:
//                 8       stream
//                 8       version
//                 8       kind
//                 8       recorded at, milliseconds since 1970
//                 8       actor
//                16       correlation
//                 8       cause
//                 4       length of the body, at most 8 MiB
//                         body, with its sealed parts
//                32       leaf
//                32   root of the tree after the last event
//                32   digest: SHA-256 of all bytes before it
//                32   HMAC-SHA-256 of the digest, under a key that is derived from the key-encryption key
//
// For example, the batch of event 1 with a body of 40 bytes has 288 bytes, 52 + (68 + 40 + 32) + 96, and begins with
// 77 62 73 68 69 70 30 31 00 00 01 20. Each batch says where it ends, and is checked without the batches before it.
//
// Anyone can check the digest. Only a holder of the key-encryption key can make the HMAC, so that no one with access to
// the target alone can add or change an event.

/// Consecutive events in their stored form, with the tree before and after them.
struct ShippedBatch {
    /// The id and the epoch of the log. All batches of a folder have the same.
    struct Origin: Hashable {
        let log: Identifier128
        let epoch: Int64

        /// The name of the folder of the log's batches, for example `6b1c….-1`.
        var folder: String { "\(log)-\(epoch)" }
    }

    let origin: Origin
    /// The tree before the first event.
    let before: CompactRange
    /// At least one.
    let events: [LogReader.StoredEvent]
    /// The tree after the last event.
    let after: CompactRange

    var first: Int64 { before.size + 1 }
    var last: Int64 { after.size }

    /// The most events in a batch.
    static let mostEvents = 4096
    /// The most bytes in a batch.
    static let mostBytes = 16 << 20
    /// The most bytes in a body, so that any event fits into a batch.
    static let mostBodyBytes = 8 << 20
    static let magic = Array("wbship01".utf8)
    /// The fields before the compact range.
    static let headBytes = 52
    /// The root, the digest and the HMAC.
    static let trailerBytes = 96
    /// The columns before the body, and the leaf.
    static let eventBytes = 100
    /// A higher number is damage. Counting on from a lower one cannot overflow.
    static let mostNumber: Int64 = 1 << 52

    /// - Parameter events: At least one; the first has the number after `before`.
    init(_ origin: Origin, before: CompactRange, events: [LogReader.StoredEvent], _ sha256: SHA256) {
        precondition(!events.isEmpty, "A batch has an event.")
        var after = before
        for event in events { after.append(event.leaf, sha256) }
        (self.origin, self.before, self.events, self.after) = (origin, before, events, after)
    }

    /// The batch as bytes.
    ///
    /// - Parameter secret: `ShippedBatch.secret(of:)`.
    func bytes(_ secret: [UInt8], _ sha256: SHA256) -> [UInt8] {
        let range = before.bytes
        let length =
            Self.headBytes + range.count + Self.trailerBytes
            + events.reduce(0) { $0 + Self.eventBytes + $1.body.count }
        var writer = BatchWriter(capacity: length)
        writer.bytes += Self.magic
        writer.write(UInt32(length))
        writer.bytes += origin.log.bytes
        for value in [origin.epoch, first, last] { writer.write(value) }
        writer.bytes += range
        for event in events {
            let header = event.header
            for value in [
                header.stream.rawValue, header.version, header.kind, header.recordedAt.milliseconds,
                header.actor.rawValue,
            ] { writer.write(value) }
            writer.bytes += header.correlation.bytes
            writer.write(header.cause)
            writer.write(UInt32(event.body.count))
            writer.bytes += event.body
            writer.bytes += event.leaf.bytes
        }
        writer.bytes += after.root(sha256).bytes
        let digest = sha256.hash(writer.bytes)
        writer.bytes += digest.bytes
        writer.bytes += hmacSHA256(key: secret, message: digest.bytes).bytes
        return writer.bytes
    }

    /// The key of the HMAC.
    static func secret(of keys: KeyRing) -> [UInt8] { keys.secret(for: "whereabouts shipped batch") }
}

/// Why bytes are not a batch, as part of a sentence.
struct BatchDamage: Error, Equatable {
    let sentence: String

    init(_ sentence: String) { self.sentence = sentence }

    /// The batch is whole, but someone without the key-encryption key has written it.
    static let foreign = BatchDamage("it was not written by a service with this kek")
}

extension ShippedBatch {
    /// The beginning of a batch, which says how long the batch is.
    struct Head {
        let length: Int
        let first, last: Int64

        /// - Parameter bytes: The first ``ShippedBatch/headBytes`` bytes of a batch.
        init(_ bytes: ArraySlice<UInt8>) throws(BatchDamage) {
            var reader = BatchReader(bytes)
            guard try reader.take(8).elementsEqual(magic) else { throw BatchDamage("no batch begins there") }
            length = Int(try reader.uint32())
            _ = try reader.take(16 + 8)
            (first, last) = (try reader.int64(), try reader.int64())
            guard length <= mostBytes, length >= headBytes + trailerBytes,
                (1...mostNumber).contains(first), last >= first, last - first < Int64(mostEvents)
            else { throw BatchDamage("its length or its numbers are impossible") }
        }
    }

    /// Reads a batch and checks all of it: its lengths, digest, HMAC and tree. The leaves are taken as they are, because
    /// `LogVerifier` computes them from the restored rows.
    ///
    /// - Parameter secret: `ShippedBatch.secret(of:)`.
    init(_ bytes: [UInt8], _ secret: [UInt8], _ sha256: SHA256) throws(BatchDamage) {
        guard bytes.count >= Self.headBytes + Self.trailerBytes else { throw BatchDamage("it is too short") }
        let head = try Head(bytes[..<Self.headBytes])
        guard head.length == bytes.count else { throw BatchDamage("it has another length than it says") }
        let digestStart = bytes.count - 64
        let digest = sha256.hash(Array(bytes[..<digestStart]))
        guard digest.bytes.elementsEqual(bytes[digestStart..<digestStart + 32]) else {
            throw BatchDamage("it does not match its SHA-256")
        }
        guard hmacSHA256(key: secret, message: digest.bytes).bytes.elementsEqual(bytes[(digestStart + 32)...]) else {
            throw .foreign
        }
        var reader = BatchReader(bytes[12..<digestStart])
        guard let log = try reader.take(16).withUnsafeBytes({ Identifier128(bytes: $0) }) else {
            throw BatchDamage("it is too short")
        }
        let origin = Origin(log: log, epoch: try reader.int64())
        _ = try reader.take(16)
        let subtrees = (head.first - 1).nonzeroBitCount * 32
        guard let range = CompactRange(size: head.first - 1, bytes: Array(try reader.take(subtrees))) else {
            throw BatchDamage("its tree has another size")
        }
        var events: [LogReader.StoredEvent] = []
        events.reserveCapacity(Int(head.last - head.first) + 1)
        for number in head.first...head.last { events.append(try Self.event(number, &reader)) }
        self.init(origin, before: range, events: events, sha256)
        guard try reader.take(32).elementsEqual(after.root(sha256).bytes), reader.isAtEnd else {
            throw BatchDamage("its root is not the root over its events")
        }
    }

    private static func event(
        _ number: Int64, _ reader: inout BatchReader
    ) throws(BatchDamage) -> LogReader.StoredEvent {
        let stream = try reader.int64()
        let (version, kind, recordedAt, actor) = (
            try reader.int64(), try reader.int64(), try reader.int64(), try reader.int64()
        )
        let correlation = try reader.take(16).withUnsafeBytes { RequestID(bytes: $0) }
        let cause = try reader.int64()
        let length = Int(try reader.uint32())
        guard length <= mostBodyBytes else { throw BatchDamage("event \(number) is too long") }
        let body = Array(try reader.take(length))
        guard let correlation, let leaf = Digest(bytes: try reader.take(32)) else {
            throw BatchDamage("it is too short")
        }
        let header = EventHeader(
            number: number, stream: StreamID(rawValue: stream), version: version, kind: kind,
            recordedAt: Timestamp(milliseconds: recordedAt), actor: PrincipalID(rawValue: actor),
            correlation: correlation, cause: cause)
        if let fault = header.fault { throw BatchDamage("event \(number) is impossible: \(fault)") }
        return LogReader.StoredEvent(header: header, body: body, leaf: leaf)
    }
}

/// Appends big-endian integers.
private struct BatchWriter {
    var bytes: [UInt8] = []

    init(capacity: Int) { bytes.reserveCapacity(capacity) }

    mutating func write(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }
}

/// Takes fields from the front, and throws at the end of the bytes.
private struct BatchReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func take(_ count: Int) throws(BatchDamage) -> ArraySlice<UInt8> {
        guard rest.count >= count else { throw BatchDamage("it is too short") }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func int64() throws(BatchDamage) -> Int64 {
        Int64(bitPattern: try take(8).reduce(0) { $0 << 8 | UInt64($1) })
    }

    mutating func uint32() throws(BatchDamage) -> UInt32 { try take(4).reduce(0) { $0 << 8 | UInt32($1) } }
}
