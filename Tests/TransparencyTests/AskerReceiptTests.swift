import Cryptography
import Testing

@testable import Transparency

@Suite struct AskerReceiptTests {
    @Test func `a receipt is signed, written and read`() throws {
        let scene = try Scene()
        let house = try scene.house()
        let receipt = try AskerReceipt(
            pseudonym: "pX2r-T8_", commit: scene.sha256.hash([1]), recordedAtMs: 1_777_881_612_345)
        let note = try SignedNote(parsing: receipt.signed(by: house).bytes)
        #expect(try AskerReceipt.verify(note, house: house.verifier) == receipt)
        #expect(throws: TransparencyError.self) { try AskerReceipt.verify(note, house: scene.signer.verifier) }
        // A receipt is no checkpoint, and a checkpoint no receipt.
        #expect(throws: TransparencyError.self) { try Checkpoint(text: note.text) }
        let checkpoint = try Checkpoint(origin: scene.origin, size: 0, root: scene.sha256.hash([])).signed(by: house)
        #expect(throws: TransparencyError.self) { try AskerReceipt.verify(checkpoint, house: house.verifier) }
        for text in [
            "", "whereabouts receipt v1\n", receipt.text + "more\n", receipt.text.replacing("log ", with: "log a "),
            receipt.text.replacing("time ", with: "time 0"), receipt.text.replacing("v1", with: "v2"),
            String(receipt.text.dropLast()),
        ] {
            #expect(throws: TransparencyError.self) { try AskerReceipt(text: text) }
        }
        #expect(throws: TransparencyError.self) {
            try AskerReceipt(pseudonym: String(repeating: "a", count: 129), commit: receipt.commit, recordedAtMs: 1)
        }
        #expect(throws: TransparencyError.self) {
            try AskerReceipt(pseudonym: "a", commit: receipt.commit, recordedAtMs: -1)
        }
    }

    @Test func `two askers have two names for a log`() throws {
        let (one, two) = (try Scene(), try Scene("other"))
        let key = SymmetricKey(bytes: [UInt8](repeating: 5, count: 32))
        let names = [
            AskerReceipt.pseudonym(of: one.origin, for: [1], key: key),
            AskerReceipt.pseudonym(of: one.origin, for: [2], key: key),
            AskerReceipt.pseudonym(of: two.origin, for: [1], key: key),
        ]
        #expect(Set(names).count == 3 && names.allSatisfy { $0.count == 22 })
        #expect(
            try AskerReceipt(pseudonym: names[0], commit: one.sha256.hash([]), recordedAtMs: 1).pseudonym == names[0])
    }

    @Test func `a receipt without an entry is named`() throws {
        let scene = try Scene()
        let proof = try scene.proof(Scene.contents(5))
        let receipts = try proof.logEntries(scene.sha256).map {
            try AskerReceipt(pseudonym: "p", commit: $0.commit, recordedAtMs: $0.recordedAtMs)
        }
        #expect(AskerReceipt.missing(receipts, from: proof) == [])
        let shorter = try scene.proof(Array(Scene.contents(5).dropLast(2)))
        #expect(AskerReceipt.missing(receipts, from: shorter) == Array(receipts[3...]))
    }
}
