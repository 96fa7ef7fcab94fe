import Cryptography
import TestSupport
import Testing

@testable import Transparency

/// The examples of the page "Proof" of the documentation are the bytes that the code writes and reads.
@Suite struct ProofPageTests {
    private static let contents = [
        Scene.content([
            "event": "LocationQueried", "requester": .text(Scene.ben), "purpose": "to meet at the station",
            "verdict": "granted",
        ]),
        Scene.content([
            "event": "LocationDisclosed", "requester": .text(Scene.ben), "latitude": 52.52, "longitude": 13.405,
        ]),
    ]

    @Test func `the proof, the policy and the receipts of the page are genuine`() throws {
        let scene = try Scene()
        let witness = try Scene.witness("anna", seed: 3)
        let proof = try scene.proof(
            Self.contents, witnesses: [witness], names: [PersonProof.Name(reference: Scene.ben, text: "ben")])
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
        let erasure = try ErasureReceipt(
            log: scene.origin, entries: Int64(proof.entries.count) + 1, recordedAtMs: 1_777_900_000_000,
            backupsLeft: 0
        ).signed(by: scene.house())
        let blocks = try Repository.blocks(of: "Proof", "text")
        let genuine = [proof.bytes, Array(policy.utf8), receipt.bytes, erasure.bytes]
        for (block, text) in zip(blocks, genuine) { #expect(block == String(decoding: text, as: UTF8.self)) }
        #expect(blocks.count == genuine.count)
        _ = try proof.verify(policy: TrustPolicy(parsing: Array(policy.utf8)))
    }

    @Test(.enabled(if: Foreign.hasPython(with: "hashlib, binascii, json"), "There is no Python 3."))
    func `the script prints the table of the page`() throws {
        let folder = TemporaryFolder()
        let blocks = try Repository.blocks(of: "Proof", "text")
        try folder.write(blocks[0], to: "proof")
        try folder.write(blocks[1], to: "policy")
        let first = try Scene().proof(
            Array(Self.contents.prefix(1)), witnesses: [Scene.witness("anna", seed: 3)], names: [])
        try write(first.bytes, to: folder.file("older"))
        let path = "\(Repository.root)/Sources/Whereabouts/Documentation.docc/Proof.md"
        let page = try TestSupport.contents(ofFile: path)
        let output = try Foreign.python(
            path: "\(Repository.root)/scripts/verify_proof.py",
            [folder.file("proof"), "--policy", folder.file("policy"), "--older", folder.file("older")])
        #expect(output.hasSuffix("of 1 entries.\n"))
        #expect(String(decoding: page, as: UTF8.self).contains(output))
    }

    @Test func `a witness gives the answer of the page to the request of the page`() throws {
        let page = String(
            decoding: try TestSupport.contents(
                ofFile: "\(Repository.root)/Sources/Whereabouts/Documentation.docc/Proof.md"), as: UTF8.self)
        let example = try #require(page.split(separator: "<<'.'\n").dropFirst().first)
        let parts = try #require(example.split(separator: "\n```").first).split(separator: "\n.\n")
        try #require(parts.count == 2)
        let scene = try Scene()
        let witness = Witness(
            signer: try Scene.witness("anna", seed: 3), known: [.log(scene.origin, keys: [scene.signer.verifier])])
        #expect(page.contains("  witness anna.example/w \(witness.verifier.text)\n"))
        var store = MemoryStore()
        let answer = try witness.addCheckpoint(
            Array("\(parts[0])\n".utf8), timeSeconds: 1_777_900_000, store: &store)
        #expect(answer.status == 200 && answer.body == "\(parts[1])\n")
    }
}
