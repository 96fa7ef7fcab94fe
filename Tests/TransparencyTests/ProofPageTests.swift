import Cryptography
import TestSupport
import Testing

@testable import Transparency

/// The examples of the page "Proof" of the documentation are what the code writes and reads.
@Suite struct ProofPageTests {
    private static let contents = [
        Scene.content([
            "by": "ben", "event": "LocationQueried", "purpose": "to meet at the station", "verdict": "granted",
        ]),
        Scene.content(["event": "LocationDisclosed", "shown": "52.52, 13.41", "to": "ben"]),
    ]

    @Test func `the proof, the policy and the receipt of the page are genuine`() throws {
        let scene = try Scene()
        let witness = try Scene.witness("anna", seed: 3)
        let proof = try scene.proof(Self.contents, witnesses: [witness])
        let receipt = try AskerReceipt(
            pseudonym: "pX2r-T8_wJ4", commit: proof.logEntries(scene.sha256)[1].commit,
            recordedAtMs: proof.entries[1].recordedAtMs
        ).signed(by: scene.house())
        let policy = """
            # the house's log about me, and my sister's machine
            log \(scene.signer.verifier.text)
            witness anna \(witness.verifier.text)
            quorum anna

            """
        let blocks = try Repository.blocks(of: "Proof", "text")
        for (block, text) in zip(blocks, [proof.bytes, Array(policy.utf8), receipt.bytes]) {
            #expect(block == String(decoding: text, as: UTF8.self))
        }
        #expect(blocks.count == 3)
        _ = try proof.verify(policy: TrustPolicy(parsing: Array(policy.utf8)))
    }
}
