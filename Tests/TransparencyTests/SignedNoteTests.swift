import Cryptography
import TestSupport
import Testing

@testable import Transparency

@Suite struct SignedNoteTests {
    /// The key of Go's checksum database, as every Go toolchain has it.
    private static let goKey = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"
    /// A checkpoint of that database, signed by it.
    private static let goNote = """
        go.sum database tree
        35225469
        vt5T6GaLCXvyHFl9VUvvItR43XZxfLgftEcTyO3eJCQ=

        — sum.golang.org Az3grpukl5AXaVfYkLiDGORx/DN2nlcS5kZHR5uYOBV2KA2HgXpD+gu9HHONebHLAyaKbbTM75QTtPydhKCExixSfwQ=

        """

    @Test func `a checkpoint of Go's checksum database verifies`() throws {
        let key = try NoteVerifier(text: Self.goKey)
        #expect(key.text == Self.goKey && key.id == 0x033d_e0ae)
        let note = try SignedNote(parsing: Array(Self.goNote.utf8))
        #expect(try note.verify(with: [key]) == [VerifiedSignature(key: key, timeSeconds: nil)])
        #expect(note.bytes == Array(Self.goNote.utf8))
        let checkpoint = try Checkpoint(text: note.text)
        #expect(checkpoint.origin.text == "go.sum database tree" && checkpoint.size == 35_225_469)
        #expect(checkpoint.text == note.text)
    }

    /// The examples of C2SP signed-note and tlog-cosignature. Their keys are not published, so that their form is all
    /// that can be checked.
    @Test func `the examples of the specifications are read and written back`() throws {
        let poem = """
            Ognuno sta solo sul cuor della terra
            trafitto da un raggio di sole:

            ed è subito sera.

            — quasimodo.example/salvatore NnugSzTjtVAewIS+Z/iJhUPeFDkO/5QQ2i5ddnGITLlC+EhfLW9oJKONrMouFSQU0xMcXxj99ihAQwaqP3ZekRwNtIc=

            """
        let note = try SignedNote(parsing: Array(poem.utf8))
        #expect(note.text.hasSuffix("ed è subito sera.\n") && note.signatures.map(\.keyID) == [0x367b_a04b])
        #expect(note.bytes == Array(poem.utf8))
        let cosigned = """
            example.com/behind-the-sofa
            20852163
            CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

            — example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
            — witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==

            """
        let checkpoint = try SignedNote(parsing: Array(cosigned.utf8))
        #expect(Cosignature(bytes: checkpoint.signatures[1].bytes)?.timeSeconds == 1_679_315_147)
        #expect(
            Cosignature.message(checkpoint.text, timeSeconds: 1_679_315_147)
                == Array(("cosignature/v1\ntime 1679315147\n" + checkpoint.text).utf8))
        #expect(checkpoint.bytes == Array(cosigned.utf8))
    }

    @Test func `a note is signed by several keys, and each verifies alone`() throws {
        let (one, two) = (try Scene(seed: 1), try Scene("other", seed: 2))
        let checkpoint = Checkpoint(origin: one.origin, size: 3, root: one.sha256.hash([1]))
        let witness = try Scene.witness("anna", seed: 3)
        var note = try one.note(checkpoint, witnesses: [witness])
        note.sign(with: two.signer)
        let read = try SignedNote(parsing: note.bytes)
        #expect(read == note)
        for key in [one.signer.verifier, two.signer.verifier, witness.verifier] {
            #expect(try read.verify(with: [key]).map(\.key) == [key])
        }
        #expect(try read.verify(with: [witness.verifier]).first?.timeSeconds == 1_777_900_000)
        // A stranger with the name and the key id of none of them is ignored.
        let stranger = try Scene("third", seed: 4)
        #expect(try read.verify(with: [stranger.signer.verifier]) == [])
        // So is one that shares only the name, or only the key id.
        let key = one.signer.verifier
        note.add(SignedNote.Signature(name: stranger.signer.verifier.name, keyID: key.id, bytes: [1]))
        note.add(SignedNote.Signature(name: key.name, keyID: key.id ^ 1, bytes: [1]))
        #expect(try note.verify(with: [key]).map(\.key) == [key])
        // The text of another note under the same signatures is refused.
        let changed = SignedNote.Signature(
            name: one.signer.verifier.name, keyID: one.signer.verifier.id, bytes: note.signatures[2].bytes)
        note.add(changed)
        #expect(throws: TransparencyError.unproven("the signature of \(one.origin) is wrong")) {
            try note.verify(with: [one.signer.verifier])
        }
    }

    @Test func `keys are written as text and read back`() throws {
        let scene = try Scene()
        let seed = [UInt8](repeating: 7, count: 32)
        let verifier = scene.signer.verifier
        let text =
            "PRIVATE+KEY+\(verifier.name)+\(Hex.encode(bigEndianBytes(verifier.id)))+\(Base64.encode([1] + seed))"
        #expect(try NoteSigner(text: text).verifier == verifier)
        #expect(try NoteVerifier(text: verifier.text) == verifier)
        #expect(!"\(scene.signer)".contains(Base64.encode([1] + seed)))
        let parts = verifier.text.split(separator: "+").map(String.init)
        for wrong in [
            "", "+", "a+b", "\(parts[0])+00000000+\(parts[2])", "\(parts[0])+\(parts[1])+\(parts[2].dropLast())",
            "a b+\(parts[1])+\(parts[2])", "\(parts[0])+\(parts[1])+AA==", "+\(parts[1])+\(parts[2])",
            "\(parts[0])+\(parts[1].dropLast(2))+\(parts[2])", String(repeating: "a", count: 100_000),
            "\(parts[0])+\(parts[1])+\(Base64.encode([9] + verifier.publicKey))",
        ] {
            #expect(throws: TransparencyError.self) { try NoteVerifier(text: wrong) }
            #expect(throws: TransparencyError.self) { try NoteSigner(text: "PRIVATE+KEY+\(wrong)") }
        }
    }

    /// An accent in one character or in two is the same `String`, and not the same name.
    @Test func `names are compared by their bytes`() throws {
        let (one, two) = (try KeyName("caf\u{e9}"), try KeyName("cafe\u{301}"))
        #expect(one.text == two.text && one != two)
        #expect(try LogOrigin("caf\u{e9}") != LogOrigin("cafe\u{301}"))
        for wrong in ["", "a b", "a+b", "a\u{a0}b", "a\tb", "a\u{2028}b"] {
            #expect(throws: TransparencyError.self) { try KeyName(wrong) }
        }
    }

    @Test(arguments: [
        "", "\n", "\n\n", "text\n", "text\n\n", "text\n\n— a\n", "text\n\n— a \n", "text\n\n— a AAAA\n",
        "text\n\n- a AAAAAAAA\n", "text\n\n—  a AAAAAAAA\n", "text\n\n— a AAAAAAAA", "text\n\n— a AAAAAAAA\nmore\n",
        "text\n\n— a AAAAAAA\n", "text\n\n— a AAAAAAA_\n", "text\n\n— a AAAAAA==\n", "\u{1}\n\n— a AAAAAAAA\n",
        "text\n\n— a+b AAAAAAAA\n", "text\n\n— a AAAAAAAA \n",
    ])
    func `a text that is no note is refused`(text: String) {
        #expect(throws: TransparencyError.self) { try SignedNote(parsing: Array(text.utf8)) }
    }

    @Test func `notes are bounded`() throws {
        let line = "— a AAAAAAAA\n"
        let many = "text\n\n" + String(repeating: line, count: SignedNote.signaturesMax + 1)
        #expect(throws: TransparencyError.self) { try SignedNote(parsing: Array(many.utf8)) }
        _ = try SignedNote(parsing: Array("text\n\n\(String(repeating: line, count: SignedNote.signaturesMax))".utf8))
        let long = String(repeating: "a", count: SignedNote.bytesMax) + "\n\n" + line
        #expect(throws: TransparencyError.self) { try SignedNote(parsing: Array(long.utf8)) }
        #expect(throws: TransparencyError.self) { try SignedNote(parsing: [0xFF, 10, 10] + Array(line.utf8)) }
    }

    /// A signature of ML-DSA-44 is 2,420 bytes after a time, and nothing here can check it.
    @Test func `a line of another kind of key stays in the note and is ignored`() throws {
        let scene = try Scene()
        var note = try scene.note(Checkpoint(origin: scene.origin, size: 0, root: scene.sha256.hash([])))
        let key = try NoteVerifier(
            name: KeyName("quantum.example/w"), kind: .subtree, publicKey: [UInt8](repeating: 3, count: 1312))
        #expect(try NoteVerifier(text: key.text) == key)
        note.add(SignedNote.Signature(name: key.name, keyID: key.id, bytes: [UInt8](repeating: 5, count: 2428)))
        let read = try SignedNote(parsing: note.bytes)
        #expect(read.bytes == note.bytes && read.signatures.count == 2)
        #expect(try read.verify(with: [key, scene.signer.verifier]).map(\.key) == [scene.signer.verifier])
    }

    @Test(arguments: [
        "o\n1\n", "o\n1\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        "o\n01\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n",
        "o\n-1\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n", "\n1\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n",
        "o\n9223372036854775808\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n", "o\n1\n47DEQpj8HBSa\n",
        "o\n1\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFV=\n",
        "o\n\n1\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n",
        "o\n1 \n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n",
        "o\n+1\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n",
    ])
    func `a text that is no checkpoint is refused`(text: String) {
        #expect(throws: TransparencyError.self) { try Checkpoint(text: text) }
    }

    @Test func `lines after the root stay in the checkpoint`() throws {
        let text = "o\n1\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\nmore 1\nand more\n"
        let checkpoint = try Checkpoint(text: text)
        #expect(checkpoint.extensions == ["more 1", "and more"] && checkpoint.text == text)
    }
}
