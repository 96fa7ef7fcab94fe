import Cryptography
import Whereabouts

/// The first member of an envelope.
enum EnvelopeType: Int64 {
    case answer = 1
    case track = 2
    case period = 3
}

/// Writes an envelope member by member. The box and the signature cover all bytes before them, with the number of members.
struct EnvelopeWriter {
    private var writer = CBORWriter(capacity: 1024)

    init(_ type: EnvelopeType, members: Int) {
        writer.array(members)
        writer.integer(type.rawValue)
    }

    /// The bytes so far.
    var bytes: [UInt8] { writer.bytes }

    mutating func integer(_ value: Int64) { writer.integer(value) }

    mutating func byteString(_ value: [UInt8]) { writer.byteString(value) }

    mutating func wrapped(_ keys: [WrappedKey]) {
        writer.array(keys.count)
        for key in keys {
            writer.array(3)
            writer.byteString(key.keyID.value.bytes)
            writer.byteString(key.encapsulatedKey)
            writer.byteString(key.sealed)
        }
    }
}

/// The last member of an envelope: the Ed25519 signature over all bytes before it.
struct EnvelopeSignature: Hashable {
    private let value: [UInt8]

    init(of writer: EnvelopeWriter, by identity: Ed25519PrivateKey) { value = identity.sign(Self.message(writer)) }

    init(from reader: inout EnvelopeReader) throws(EnvelopeError) { value = try reader.byteString(64) }

    /// The signed message: a text that no other message of an identity key begins with, and the bytes of the envelope.
    private static func message(_ writer: EnvelopeWriter) -> [UInt8] {
        Array("whereabouts/1 envelope ".utf8) + writer.bytes
    }

    /// The whole envelope, from what was written before the signature.
    func appended(to writer: EnvelopeWriter) -> [UInt8] {
        var writer = writer
        writer.byteString(value)
        return writer.bytes
    }

    /// Whether the owner of this identity key signed what was written.
    func isValid(for writer: EnvelopeWriter, by identity: [UInt8]) -> Bool {
        ed25519Verify(publicKey: identity, signature: value, message: Self.message(writer))
    }
}

/// Reads the members of an envelope. Everything that does not fit is ``EnvelopeError/malformed``.
struct EnvelopeReader {
    private var reader: CBORReader
    /// How many members follow the type.
    private let left: Int

    init(_ bytes: UnsafeRawBufferPointer) throws(EnvelopeError) {
        var reader = CBORReader(bytes)
        left = try Self.translated { () throws(CBORError) in try reader.array() } - 1
        self.reader = reader
    }

    private static func translated<T>(_ read: () throws(CBORError) -> T) throws(EnvelopeError) -> T {
        do throws(CBORError) { return try read() } catch { throw .malformed }
    }

    mutating func type() throws(EnvelopeError) -> EnvelopeType {
        guard let type = EnvelopeType(rawValue: try integer(in: 1...3)) else { throw .malformed }
        return type
    }

    /// - Throws: ``EnvelopeError/malformed`` unless the envelope has `count` members.
    func hasMembers(_ count: Int) throws(EnvelopeError) {
        guard left == count - 1 else { throw .malformed }
    }

    mutating func integer(in range: ClosedRange<Int64>) throws(EnvelopeError) -> Int64 {
        let value = try Self.translated { () throws(CBORError) in try reader.integer() }
        guard range.contains(value) else { throw .malformed }
        return value
    }

    mutating func byteString(_ count: Int) throws(EnvelopeError) -> [UInt8] {
        let bytes = try Self.translated { () throws(CBORError) in Array(try reader.byteString()) }
        guard bytes.count == count else { throw .malformed }
        return bytes
    }

    mutating func identifier() throws(EnvelopeError) -> Identifier128 {
        guard let value = try byteString(16).withUnsafeBytes({ Identifier128(bytes: $0) }) else { throw .malformed }
        return value
    }

    mutating func bucket() throws(EnvelopeError) -> TimeBucket {
        guard let bucket = TimeBucket(number: try integer(in: TimeBucket.numbers)) else { throw .malformed }
        return bucket
    }

    mutating func tier() throws(EnvelopeError) -> EnvelopeTier {
        guard let tier = EnvelopeTier(rawValue: try integer(in: 1...3)) else { throw .malformed }
        return tier
    }

    mutating func wrapped() throws(EnvelopeError) -> [WrappedKey] {
        let count = try Self.translated { () throws(CBORError) in try reader.array() }
        guard (1...Envelope.maximumRecipients).contains(count) else { throw .malformed }
        var keys: [WrappedKey] = []
        for _ in 0..<count {
            guard try Self.translated({ () throws(CBORError) in try reader.array() }) == 3 else { throw .malformed }
            let key = WrappedKey(
                keyID: RecipientKeyID(try identifier()), encapsulatedKey: try byteString(32),
                sealed: try byteString(48))
            // In order and without repeats, so that one list has one encoding.
            if let last = keys.last, last.keyID >= key.keyID { throw .malformed }
            keys.append(key)
        }
        return keys
    }

    func end() throws(EnvelopeError) {
        guard reader.isAtEnd else { throw .malformed }
    }
}
