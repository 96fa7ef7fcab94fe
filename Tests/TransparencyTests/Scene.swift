import Cryptography
import TestSupport

@testable import Transparency

/// A house, a person's log and witnesses with keys that are the same on every run.
struct Scene {
    static let house = "where.example/whereabouts/7f3c"

    let origin: LogOrigin
    let key: Ed25519PrivateKey
    let signer: NoteSigner
    let sha256 = SHA256()

    /// The log `opaque` of the house whose key comes from the seed.
    init(_ opaque: String = "k2m9", seed: UInt8 = 7) throws {
        origin = try LogOrigin("\(Self.house)/p/\(opaque)")
        key = try Ed25519PrivateKey(seed: [UInt8](repeating: seed, count: 32))
        signer = try NoteSigner(name: KeyName(origin.text), kind: .ed25519, key: key)
    }

    /// The signer of the house itself, for receipts.
    func house() throws -> NoteSigner { try NoteSigner(name: KeyName(Self.house), kind: .ed25519, key: key) }

    static func witness(_ name: String, seed: UInt8) throws -> NoteSigner {
        try NoteSigner(
            name: KeyName("\(name).example/w"), kind: .cosignature,
            key: Ed25519PrivateKey(seed: [UInt8](repeating: seed, count: 32)))
    }

    /// The salt of an entry, from a key that only tests have.
    func salt(_ version: Int64) -> EntrySalt {
        EntrySalt(of: version, in: origin, key: SymmetricKey(bytes: [UInt8](repeating: 9, count: 32)))
    }

    /// A proof over these contents, one a minute, with cosignatures by the witnesses.
    func proof(
        _ contents: [[UInt8]], witnesses: [NoteSigner] = [], names: [PersonProof.Name] = []
    ) throws -> PersonProof {
        var log = PersonLog(origin: origin)
        var entries: [PersonProof.Entry] = []
        for (index, content) in contents.enumerated() {
            let (time, salt) = (1_777_881_600_000 + 60_000 * Int64(index), salt(Int64(index + 1)))
            _ = log.append(recordedAtMs: time, salt: salt, content: content, sha256)
            entries.append(PersonProof.Entry(recordedAtMs: time, opening: .whole(salt: salt, content: content)))
        }
        return PersonProof(names: names, entries: entries, note: try note(log.checkpoint(sha256), witnesses: witnesses))
    }

    /// A checkpoint signed by the log, and by witnesses one second later each.
    func note(_ checkpoint: Checkpoint, witnesses: [NoteSigner] = []) throws -> SignedNote {
        var note = try checkpoint.signed(by: signer)
        for (index, witness) in witnesses.enumerated() {
            note.add(
                Cosignature.signature(of: checkpoint, timeSeconds: 1_777_900_000 + Int64(index), by: witness))
        }
        return note
    }
}

/// A value in a content.
enum ContentValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
    case text(String), integer(UInt32), double(Double), bytes([UInt8]), array([ContentValue])

    init(stringLiteral text: String) { self = .text(text) }
    init(integerLiteral value: UInt32) { self = .integer(value) }
    init(floatLiteral value: Double) { self = .double(value) }

    /// The value in deterministic CBOR (RFC 8949, section 4.2.1).
    var bytes: [UInt8] {
        switch self {
        case .text(let text): Self.head(3, UInt32(text.utf8.count)) + text.utf8
        case .integer(let value): Self.head(0, value)
        case .double(let value): [0xFB] + bigEndianBytes(value.bitPattern)
        case .bytes(let bytes): Self.head(2, UInt32(bytes.count)) + bytes
        case .array(let items): Self.head(4, UInt32(items.count)) + items.flatMap(\.bytes)
        }
    }

    static func head(_ major: UInt8, _ value: UInt32) -> [UInt8] {
        switch value {
        case 0..<24: [major << 5 | UInt8(value)]
        case 24..<256: [major << 5 | 24, UInt8(value)]
        case 256..<65_536: [major << 5 | 25] + bigEndianBytes(UInt16(value))
        default: [major << 5 | 26] + bigEndianBytes(value)
        }
    }
}

extension Scene {
    /// The references of three askers.
    static let ben = "r8Vu2n0mVpjCrr7a6lTqB5A"
    static let clara = "rQ0n5xLk3o-JmWb1TzSgc9w"
    static let dora = "rZt7_hYd4PqEaUv2RkNi6Ow"

    /// Their names in the house.
    static func names() throws -> [PersonProof.Name] {
        try [(ben, "ben"), (clara, "clara"), (dora, "dora")].map { try PersonProof.Name(reference: $0, text: $1) }
    }

    /// The content of an entry, in deterministic CBOR: a map with texts as keys, the shorter ones first.
    static func content(_ members: [String: ContentValue]) -> [UInt8] {
        let sorted = members.map { (key: ContentValue.text($0.key).bytes, value: $0.value.bytes) }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
        return ContentValue.head(5, UInt32(members.count)) + sorted.flatMap { $0.key + $0.value }
    }

    /// Entries like those of a real audit, about 150 bytes each.
    static func contents(_ count: Int) -> [[UInt8]] {
        (0..<count).map { index in
            let asker = ContentValue.text([ben, clara, dora][index % 3])
            let question: ContentValue = "q\(index / 4)"
            return index % 4 == 3
                ? content([
                    "event": "LocationDisclosed", "requester": asker, "question": question, "precision": "exact",
                    "latitude": 52.52, "longitude": 13.405, "number": .integer(UInt32(index + 1)),
                ])
                : content([
                    "event": "LocationQueried", "requester": asker, "question": question, "verdict": "granted",
                    "purpose": "to meet at the station, question \(index)", "number": .integer(UInt32(index + 1)),
                ])
        }
    }
}
