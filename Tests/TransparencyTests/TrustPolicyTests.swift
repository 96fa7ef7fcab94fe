import Cryptography
import TestSupport
import Testing

@testable import Transparency

@Suite struct TrustPolicyTests {
    private static func witnesses() throws -> [NoteSigner] {
        try ["x1", "x2", "x3", "y1", "y2", "y3"].enumerated().map {
            try Scene.witness($1, seed: UInt8(20 + $0))
        }
    }

    /// The example of C2SP tlog-policy, with keys.
    private static func example(_ scene: Scene) throws -> String {
        var text = "# An example\n\nlog \(scene.signer.verifier.text) https://where.example/\n"
        for (witness, name) in zip(try witnesses(), ["X1", "X2", "X3", "Y1", "Y2", "Y3"]) {
            text += "witness \(name) \t\(witness.verifier.text)\n"
        }
        return text + """
            group X-witnesses 2 X1 X2 X3
              group Y-witnesses any Y1 Y2 Y3
            group X-and-Y all X-witnesses Y-witnesses
            quorum X-and-Y
            """
    }

    @Test(arguments: [
        ([0, 1, 3], true), ([0, 2, 5], true), ([0, 1, 2, 3, 4, 5], true), ([0, 3], false), ([0, 1], false),
        ([3, 4, 5], false), ([], false), ([1, 2, 4], true),
    ])
    func `the example of the specification asks for two of X and one of Y`(signing: [Int], isQuorum: Bool) throws {
        let scene = try Scene()
        let policy = try TrustPolicy(parsing: Array(Self.example(scene).utf8))
        let witnesses = try Self.witnesses()
        let checkpoint = Checkpoint(origin: scene.origin, size: 0, root: scene.sha256.hash([]))
        let note = try scene.note(checkpoint, witnesses: signing.map { witnesses[$0] })
        #expect(policy.isQuorum(signing.map { witnesses[$0].verifier }) == isQuorum)
        if isQuorum {
            let verdict = try policy.judge(note)
            #expect(verdict.checkpoint == checkpoint && verdict.log == scene.signer.verifier)
            #expect(Set(verdict.cosignatures.map(\.key)) == Set(signing.map { witnesses[$0].verifier }))
        } else {
            #expect(throws: TransparencyError.self) { try policy.judge(note) }
        }
    }

    @Test func `a checkpoint counts only under the name of its log, with good signatures`() throws {
        let (scene, other) = (try Scene(), try Scene("other", seed: 8))
        let witness = try Scene.witness("anna", seed: 9)
        let text = "log \(scene.signer.verifier.text)\nwitness anna \(witness.verifier.text)\nquorum none\n"
        let policy = try TrustPolicy(parsing: Array(text.utf8))
        let checkpoint = Checkpoint(origin: scene.origin, size: 0, root: scene.sha256.hash([]))
        #expect(try policy.judge(checkpoint.signed(by: scene.signer)).cosignatures == [])
        // Someone else's key, and the right key under someone else's origin.
        #expect(throws: TransparencyError.self) { try policy.judge(checkpoint.signed(by: other.signer)) }
        let foreign = Checkpoint(origin: other.origin, size: 0, root: scene.sha256.hash([]))
        #expect(throws: TransparencyError.self) { try policy.judge(foreign.signed(by: scene.signer)) }
        // A wrong cosignature spoils the note, though the quorum asks for none.
        var note = try checkpoint.signed(by: scene.signer)
        note.add(
            SignedNote.Signature(
                name: witness.verifier.name, keyID: witness.verifier.id, bytes: [UInt8](repeating: 1, count: 72)))
        #expect(throws: TransparencyError.unproven("the signature of anna.example/w is wrong")) {
            try policy.judge(note)
        }
    }

    @Test func `broken policies are refused with the number of the line`() throws {
        let scene = try Scene()
        let log = "log \(scene.signer.verifier.text)"
        let witness = "witness w \(try Scene.witness("w", seed: 1).verifier.text)"
        let again = "witness v \(try Scene.witness("v", seed: 1).verifier.text)"
        for (text, line) in [
            ("quorum", 1), ("quorum w", 1), ("\(log)\n\(log)\nquorum none", 2), ("\(witness)\n\(witness)\nquorum w", 2),
            ("\(witness)\n\(again)\nquorum w", 2), ("witness none \(witness.split(separator: " ")[2])\nquorum none", 1),
            ("log \(witness.split(separator: " ")[2])\nquorum none", 1), ("group g any\nquorum g", 1),
            ("\(witness)\ngroup g 2 w\nquorum g", 2), ("\(witness)\ngroup g 0 w\nquorum g", 2),
            ("\(witness)\ngroup g 01 w\nquorum g", 2), ("\(witness)\ngroup g any v\nquorum g", 2),
            ("\(witness)\ngroup g any w\ngroup h any w\nquorum h", 3), ("\(witness)\ngroup g any w w\nquorum g", 2),
            ("\(witness)\ngroup g any none\nquorum g", 2), ("quorum none\nquorum none", 2), ("trust me", 1),
            ("log a+b+c\nquorum none", 1), ("quorum none more", 1), ("\n#\nwitness a\nquorum none", 3),
        ] {
            do {
                _ = try TrustPolicy(parsing: Array(text.utf8))
                Issue.record("accepted: \(text)")
            } catch {
                #expect(error.description.hasPrefix("line \(line) of the policy: "), "\(error)")
            }
        }
        for text in ["", "\(log)\n", "quorum none\r\n", String(repeating: "#", count: TrustPolicy.bytesMax + 1)] {
            #expect(throws: TransparencyError.self) { try TrustPolicy(parsing: Array(text.utf8)) }
        }
    }

    /// The letter K and the sign of Kelvin are the same to who folds case or normalizes.
    @Test func `names are octets`() throws {
        let (one, two) = (try Scene.witness("a", seed: 1), try Scene.witness("b", seed: 2))
        let bytes =
            Array("witness ".utf8) + [0x4B] + Array(" \(one.verifier.text)\nwitness ".utf8) + [0xE2, 0x84, 0xAA]
            + Array(" \(two.verifier.text)\nwitness ".utf8) + [0xFF]
            + Array(" \(try Scene.witness("c", seed: 3).verifier.text)\nquorum K\n".utf8)
        let policy = try TrustPolicy(parsing: bytes)
        #expect(policy.isQuorum([one.verifier]) && !policy.isQuorum([two.verifier]))
        #expect(policy.witnesses[2].name == [0xFF])
    }

    @Test func `a policy of 64 witnesses in 64 groups is read, and one more is not`() throws {
        var text = ""
        for index in 0..<64 {
            text += "witness w\(index) \(try Scene.witness("w\(index)", seed: UInt8(index)).verifier.text)\n"
            text += "group g\(index) any w\(index)\(index > 0 ? " g\(index - 1)" : "")\n"
        }
        let policy = try TrustPolicy(parsing: Array((text + "quorum g63\n").utf8))
        #expect(policy.isQuorum([try Scene.witness("w0", seed: 0).verifier]))
        text += "witness more \(try Scene.witness("more", seed: 200).verifier.text)\nquorum more\n"
        #expect(throws: TransparencyError.self) { try TrustPolicy(parsing: Array(text.utf8)) }
    }
}
