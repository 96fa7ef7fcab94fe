import Cryptography
import TestSupport
import Testing

@testable import Transparency

/// Damaged inputs: every reader either refuses them or reads the original values.
@Suite struct DamagedTextTests {
    private static let rounds = isLongForm ? 5000 : 200

    private func damaged(_ bytes: [UInt8], _ random: inout SplitMix) -> [UInt8] {
        var bytes = bytes
        for _ in 0...Int.random(in: 0...2, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: bytes.indices, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: place)
            case 2: bytes.insert([10, 32, 43, 61, 48, 0xE2].randomElement(using: &random) ?? 10, at: place)
            case 3: bytes.removeLast(bytes.count - place)
            case 4: bytes.insert(contentsOf: bytes[place...].prefix(40), at: place)
            default: bytes.removeSubrange(place..<min(bytes.count, place + 40))
            }
        }
        return bytes
    }

    @Test func `a proof is refused or is the genuine one, whatever happened to its bytes`() throws {
        let forger = try Forger()
        let policy = try TrustPolicy(parsing: Array(forger.policy.utf8))
        var random = SplitMix(3)
        for _ in 0..<Self.rounds {
            guard let read = try? PersonProof(parsing: damaged(forger.genuine.bytes, &random)),
                (try? read.verify(policy: policy)) != nil
            else { continue }
            // A damaged line of a name may be another name.
            #expect(read.entries == forger.genuine.entries && read.note.text == forger.genuine.note.text)
        }
    }

    /// An accepted text is written back as the same bytes, so that there is one spelling of everything.
    @Test func `every accepted text is written back unchanged`() throws {
        let forger = try Forger()
        var log = PersonLog(origin: forger.scene.origin)
        for entry in forger.genuine.entries {
            _ = log.append(
                recordedAtMs: entry.recordedAtMs, salt: forger.scene.salt(log.size + 1), content: [],
                forger.scene.sha256)
        }
        let request = WitnessRequest(
            oldSize: 3, proof: try log.consistencyProof(from: 3, to: 16, forger.scene.sha256), note: forger.genuine.note
        )
        let entry = try log.entryProof(of: 5, in: forger.genuine.note, forger.scene.sha256)
        var random = SplitMix(4)
        for _ in 0..<Self.rounds {
            let note = damaged(forger.genuine.note.bytes, &random)
            if let read = try? SignedNote(parsing: note) { #expect(read.bytes == note) }
            let text = String(decoding: damaged(Array(forger.genuine.note.text.utf8), &random), as: UTF8.self)
            if let read = try? Checkpoint(text: text) { #expect(read.text.utf8.elementsEqual(text.utf8)) }
            let proof = damaged(entry.bytes, &random)
            if let read = try? EntryProof(parsing: proof) { #expect(read.bytes == proof) }
            let body = damaged(request.bytes, &random)
            if let read = try? WitnessRequest(parsing: body) { #expect(read.bytes == body) }
            let file = damaged(forger.genuine.bytes, &random)
            if let read = try? PersonProof(parsing: file) { #expect(read.bytes == file) }
            let receipt = String(decoding: damaged(forger.receipts[0], &random), as: UTF8.self)
            if let read = try? AskerReceipt(text: receipt) { #expect(read.text.utf8.elementsEqual(receipt.utf8)) }
            let key = String(decoding: damaged(Array(forger.witness.verifier.text.utf8), &random), as: UTF8.self)
            if let read = try? NoteVerifier(text: key) { #expect(read.text.utf8.elementsEqual(key.utf8)) }
            let path = String(decoding: damaged(Array("tile/0/x001/x234/067.p/17".utf8), &random), as: UTF8.self)
            if let read = try? TilePath(path) { #expect(read.text == path) }
            _ = try? TrustPolicy(parsing: damaged(Array(forger.policy.utf8), &random))
            _ = try? EntryBundle.entries(of: damaged([0, 3, 1, 2, 3, 0, 1, 9], &random))
        }
    }
}
