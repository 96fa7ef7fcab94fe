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
    func proof(_ contents: [[UInt8]], witnesses: [NoteSigner] = []) throws -> PersonProof {
        var log = PersonLog(origin: origin)
        var entries: [PersonProof.Entry] = []
        for (index, content) in contents.enumerated() {
            let (time, salt) = (1_777_881_600_000 + 60_000 * Int64(index), salt(Int64(index + 1)))
            _ = log.append(recordedAtMs: time, salt: salt, content: content, sha256)
            entries.append(PersonProof.Entry(recordedAtMs: time, opening: .whole(salt: salt, content: content)))
        }
        return PersonProof(entries: entries, note: try note(log.checkpoint(sha256), witnesses: witnesses))
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

extension Scene {
    /// What an entry says, in deterministic CBOR: a map from texts to texts, the shorter keys first.
    static func content(_ pairs: [String: String]) -> [UInt8] {
        func text(_ text: String) -> [UInt8] {
            let head: [UInt8] = text.utf8.count < 24 ? [0x60 | UInt8(text.utf8.count)] : [0x78, UInt8(text.utf8.count)]
            return head + text.utf8
        }
        let sorted = pairs.map { (key: text($0.key), value: text($0.value)) }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
        return [0xA0 | UInt8(pairs.count)] + sorted.flatMap { $0.key + $0.value }
    }

    /// Entries like those of a real audit, about 120 bytes each.
    static func contents(_ count: Int) -> [[UInt8]] {
        (0..<count).map { index in
            let asker = ["ben", "clara", "dora"][index % 3]
            return index % 4 == 3
                ? content([
                    "event": "LocationDisclosed", "to": asker, "shown": "exact, 52.52000 13.40500 at 10:0\(index % 10)",
                ])
                : content([
                    "by": asker, "event": "LocationQueried", "purpose": "to meet at the station, question \(index)",
                    "verdict": "granted",
                ])
        }
    }
}
