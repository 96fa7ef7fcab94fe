// The bytes of an event, before sealing and after opening. The whole body in the log is a CBOR array
//
//     [clear, [key id, nonce, ciphertext ‖ tag] …]
//
// where `clear` and each plaintext are maps with small integer keys. The folder `Facts` declares them, and `events.cddl`
// beside the Events page of the catalog lists them. Example, a fix with 5 m accuracy, recorded 1,234 ms after its timestamp,
// at 52.5211557 °N 13.4038584 °E from device 3:
//
//     clear      A1 01 03
//     plaintext  A4 00 19 04D2 02 1A 1F4E17A5 03 1A 07FD4438 04 05
//
// A stored form is never edited. A new field gets a new key with a meaning for its absence. A changed meaning gets a
// new kind, and `decode` continues to read the old one.

/// The purpose of a person's key. Keys of `track` and `rest` seal parts: retention erases the track earlier than the
/// rest.
package enum KeyClass: Int64, Hashable, Sendable {
    case track = 0
    case rest = 1
    /// Hides the contents of the person's own log. It seals nothing, and the person has one for all months.
    case proof = 2
}

/// A part before sealing.
package struct PlainPart: Sendable {
    /// The person whose key seals it.
    package let person: PersonID
    /// The kind of that key.
    package let keyClass: KeyClass
    /// The place of its CBOR map in the bytes of the ``FactWriter``.
    let plaintext: Range<Int>
}

/// A part as read from the log.
package enum OpenedPart {
    /// Valid while the closure that lent the bytes runs.
    case open(UnsafeRawBufferPointer)
    case erased
    case keyLost
}

/// The parts of an event in their order, without an allocation.
package struct OpenedParts {
    /// The most parts of an event of any kind.
    package static let most = 3
    private var parts = InlineArray<3, OpenedPart>(repeating: .erased)
    /// How many there are.
    package private(set) var count = 0

    /// No parts.
    package init() {}

    /// At most ``most`` parts.
    package init(_ parts: [OpenedPart]) { for part in parts { append(part) } }

    /// Adds a part behind the others; there must be fewer than ``most``.
    package mutating func append(_ part: OpenedPart) {
        parts[count] = part
        count += 1
    }

    /// The part at an index below ``count``.
    package subscript(_ index: Int) -> OpenedPart { parts[index] }
}

/// Decodes events from the log's bytes. A ``FactWriter`` encodes them.
package enum EventCoding {
    /// An event's stored form before sealing. The bytes are those of the ``FactWriter`` that wrote it.
    package struct Encoded: Sendable {
        /// The number under which it is stored.
        package let kind: EventKind
        /// The place of the CBOR map that is stored unsealed.
        let clear: Range<Int>
        /// The places of the parts to seal, in the order of the body.
        package let parts: Range<Int>
    }

    /// The event of `kind` in `stream`: the inverse of ``FactWriter/write(_:in:at:)``.
    ///
    /// - Parameter recordedAt: As it was given to the writer.
    /// - Throws: ``CBORError`` if the bytes are not those of this kind. Nothing is guessed.
    package static func decode(
        kind: EventKind, in stream: StreamID, at recordedAt: Timestamp?, clear: UnsafeRawBufferPointer,
        parts: OpenedParts
    ) throws(CBORError) -> Event {
        var reader = try FactReader(in: stream, at: recordedAt, clear: clear, parts: parts)
        let event =
            kind == .fixReported
            ? try FixReported.read(from: &reader) : try require(kind.fact).read(from: &reader)
        try reader.clear.end()
        return event
    }
}

extension Verdict {
    /// The stored form: the grant's number, 0 for own data, −1 for the operator, a lower number for a refusal.
    package var code: Int64 {
        switch self {
        case .own: 0
        case .operatorOnRecord: -1
        case .granted(let grant): grant.rawValue
        case .refused(let reason): -1 - reason.rawValue
        }
    }

    /// The inverse of ``code``; `nil` for an unknown refusal.
    package init?(code: Int64) {
        switch code {
        case 0: self = .own
        case -1: self = .operatorOnRecord
        case 1...: self = .granted(GrantID(rawValue: code))
        default:
            guard let reason = RefusalCode(rawValue: -1 - code) else { return nil }
            self = .refused(reason)
        }
    }
}
