import Cryptography
import TestSupport
import Testing

@testable import Transparency

@Suite struct PersonLogTests {
    /// The bytes follow from RFC 8949 by hand.
    @Test func `an entry is an array of four in CBOR`() throws {
        let commit = try #require(Digest(bytes: [UInt8](repeating: 0xAB, count: 32)))
        func hex(_ version: Int64, _ time: Int64) -> String {
            Hex.encode(PersonLogEntry(version: version, recordedAtMs: time, commit: commit).bytes)
        }
        let tail = "5820" + String(repeating: "ab", count: 32)
        #expect(hex(1, 0) == "84010100" + tail)
        #expect(hex(23, 24) == "8401171818" + tail)
        #expect(hex(255, 256) == "840118ff190100" + tail)
        #expect(hex(65_535, 65_536) == "840119ffff1a00010000" + tail)
        #expect(hex(4_294_967_295, 1_777_881_600_000) == "84011affffffff1b0000019df2005000" + tail)
    }

    @Test func `the commit is SHA-256 of salt and content, and the salt depends on key, log and version`() throws {
        let scene = try Scene()
        let salt = scene.salt(1)
        let entry = PersonLogEntry(version: 1, recordedAtMs: 5, salt: salt, content: [1, 2, 3], scene.sha256)
        #expect(entry.commit == scene.sha256.hash(salt.bytes + [1, 2, 3]))
        #expect(entry.leaf(scene.sha256) == scene.sha256.hash([0] + entry.bytes))
        let other = SymmetricKey(bytes: [UInt8](repeating: 8, count: 32))
        let salts = [
            salt, scene.salt(2), try Scene("other").salt(1), EntrySalt(of: 1, in: scene.origin, key: other),
        ]
        #expect(Set(salts).count == 4 && salt.bytes.count == 16 && salt == scene.salt(1))
        #expect(EntrySalt([1]) == nil)
    }

    @Test func `every checkpoint continues those before, and proves each entry`() throws {
        let scene = try Scene()
        var log = PersonLog(origin: scene.origin)
        var checkpoints = [log.checkpoint(scene.sha256)]
        var entries: [PersonLogEntry] = []
        for (index, content) in Scene.contents(33).enumerated() {
            entries.append(
                log.append(
                    recordedAtMs: Int64(index), salt: scene.salt(Int64(index + 1)), content: content, scene.sha256))
            checkpoints.append(log.checkpoint(scene.sha256))
        }
        #expect(entries.map(\.version) == Array(1...33))
        let loaded = PersonLog(origin: scene.origin, leaves: entries.map { $0.leaf(scene.sha256) }, scene.sha256)
        for (older, newer) in [(1, 1), (1, 33), (7, 8), (8, 33), (31, 32), (32, 33)] {
            let proof = try loaded.consistencyProof(from: Int64(older), to: Int64(newer), scene.sha256)
            #expect(
                MerkleProof.verifyConsistency(
                    from: Int64(older), root: checkpoints[older].root, to: Int64(newer), root: checkpoints[newer].root,
                    proof: proof, scene.sha256))
            #expect(loaded.checkpoint(atSize: Int64(older), scene.sha256) == checkpoints[older])
        }
        let note = try scene.note(checkpoints[33])
        for entry in entries {
            let proof = try log.entryProof(of: entry.version, in: note, scene.sha256)
            _ = try proof.verify(entry: entry.bytes, policy: TrustPolicy(log: scene.signer.verifier))
        }
        #expect(throws: TransparencyError.self) { try log.entryProof(of: 34, in: note, scene.sha256) }
    }

    @Test func `a proof is written, read and verified`() throws {
        let scene = try Scene()
        let witness = try Scene.witness("anna", seed: 3)
        let text = """
            log \(scene.signer.verifier.text)
            witness anna \(witness.verifier.text)
            quorum anna
            """
        let policy = try TrustPolicy(parsing: Array(text.utf8))
        var earlier: Checkpoint?
        for count in [0, 1, 2, 20] {
            let proof = try scene.proof(Scene.contents(count), witnesses: [witness])
            let read = try PersonProof(parsing: proof.bytes)
            #expect(read == proof)
            let verdict = try read.verify(policy: policy, after: earlier)
            #expect(verdict.checkpoint.size == Int64(count) && verdict.cosignatures.map(\.key) == [witness.verifier])
            earlier = verdict.checkpoint
        }
    }

    @Test func `an erased entry keeps its place, and the root stays`() throws {
        let scene = try Scene()
        let proof = try scene.proof(Scene.contents(5))
        let commit = proof.logEntries(scene.sha256)[2].commit
        var entries = proof.entries
        entries[2] = PersonProof.Entry(recordedAtMs: entries[2].recordedAtMs, opening: .erased(commit: commit))
        let erased = try PersonProof(parsing: PersonProof(entries: entries, note: proof.note).bytes)
        #expect(erased.entries == entries)
        _ = try erased.verify(policy: TrustPolicy(log: scene.signer.verifier))
    }

    @Test func `a thousand entries are a proof of at most 400 kB`() throws {
        let scene = try Scene()
        let proof = try scene.proof(Scene.contents(1000), witnesses: [try Scene.witness("anna", seed: 3)])
        #expect(proof.bytes.count <= 400_000)
    }

    @Test func `names stand before the entries, ascending by the bytes of their references`() throws {
        let scene = try Scene()
        let texts = [("b", "ben"), ("Z", "Zoë"), ("-", "d"), ("_", "e"), ("b-", "ben"), ("9", "a b"), ("B", "é")]
        let names = try texts.map { try PersonProof.Name(reference: $0, text: $1) }
        let proof = try scene.proof(Scene.contents(1), names: names)
        let lines = String(decoding: proof.bytes, as: UTF8.self).split(separator: "\n")
        // The base 64 is that of `printf 'Zoë' | base64`.
        #expect(
            lines[1...7] == [
                "name - ZA==", "name 9 YSBi", "name B w6k=", "name Z Wm/Dqw==", "name _ ZQ==", "name b YmVu",
                "name b- YmVu",
            ])
        #expect(lines[8].hasPrefix("1 1777881600000 "))
        let read = try PersonProof(parsing: proof.bytes)
        #expect(read == proof && read.bytes == proof.bytes && read.names.count == 7)
        _ = try read.verify(policy: TrustPolicy(log: scene.signer.verifier))
    }

    @Test func `a name is another one when its bytes are`() throws {
        let scene = try Scene()
        func proof(_ names: [(String, String)]) throws -> PersonProof {
            try scene.proof([], names: names.map { try PersonProof.Name(reference: $0, text: $1) })
        }
        let older = try proof([("a", "Zo\u{EB}"), ("b", "ben"), ("c", "clara"), ("d", "dora")])
        let newer = try proof([("a", "Zoe\u{308}"), ("b", "ben"), ("d", "dorothea"), ("e", "emil")])
        #expect(newer.renamed(since: older).map(\.reference) == ["a", "d"])
        #expect(newer.renamed(since: newer).isEmpty)
        #expect(throws: TransparencyError.self) { try PersonProof.Name(reference: "a", text: "") }
        #expect(throws: TransparencyError.self) { try PersonProof.Name(reference: "a b", text: "x") }
    }

    @Test(arguments: [
        "", "whereabouts/person-proof@v1", "whereabouts/person-proof@v1\n\n", "whereabouts/person-proof@v2\n\nNOTE",
        "whereabouts/person-proof@v1\n2 5 AAAAAAAAAAAAAAAAAAAAAA== AA==\n\nNOTE",
        "whereabouts/person-proof@v1\n1 5 AAAAAAAAAAAAAAAAAAAA AA==\n\nNOTE",
        "whereabouts/person-proof@v1\n1 -5 AAAAAAAAAAAAAAAAAAAAAA== AA==\n\nNOTE",
        "whereabouts/person-proof@v1\n1 5 AAAAAAAAAAAAAAAAAAAAAA== AB==\n\nNOTE",
        "whereabouts/person-proof@v1\n1 5  AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n\nNOTE",
        "whereabouts/person-proof@v1\n1 5 - AAAA\n\nNOTE", "whereabouts/person-proof@v1\n1 5 - \n\nNOTE",
        "whereabouts/person-proof@v1\n1 5\n\nNOTE", "whereabouts/person-proof@v1\n01 5 - AAAA\n\nNOTE",
        "whereabouts/person-proof@v1\r\n\nNOTE",
    ])
    func `a text that is no proof is refused`(text: String) throws {
        let scene = try Scene()
        let note = try scene.note(Checkpoint(origin: scene.origin, size: 1, root: scene.sha256.hash([])))
        let bytes = text.replacing("NOTE", with: String(decoding: note.bytes, as: UTF8.self)).utf8
        #expect(throws: TransparencyError.self) { try PersonProof(parsing: Array(bytes)) }
    }
}
