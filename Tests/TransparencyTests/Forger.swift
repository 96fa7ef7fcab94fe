import Cryptography
import TestSupport

@testable import Transparency

/// The ways in which a house, or someone on the way, could lie with a proof. Each must be refused by who trusts the
/// house's key and one witness, and has kept a checkpoint.
enum Forgery: String, CaseIterable {
    case tailOmitted, tailOmittedWithOldCheckpoint, middleOmitted, contentChanged, wrongSalt, anotherPersonsEntry
    case anotherPersonsProof, entriesSwapped, timeChanged, entryRepeated, entryAdded, contentWithheld
    case forkedLog, forkedTail, rootChanged, sizeChanged, originChanged, signatureChanged, signatureMissing
    case signedByAnotherHouse, cosignatureMissing, cosignatureOfAnother, cosignatureChanged, receiptWithoutEntry
    case nameChanged, nameRepeated, nameUnsorted, nameAfterEntry, nameMalformed
}

/// A log of 16 entries that someone has seen at 12, and forged proofs of it.
struct Forger {
    struct Forged {
        let proof: [UInt8]
        /// The proof that was seen earlier; `nil` when the lie needs none.
        let older: [UInt8]?
        let receipts: [UInt8]?
    }

    let scene: Scene
    let witness: NoteSigner
    let genuine: PersonProof
    let older: PersonProof
    let policy: String
    /// One signed by the house for every entry.
    let receipts: [[UInt8]]
    private let contents: [[UInt8]]
    private let other: Scene
    private let thief: Scene

    init() throws {
        scene = try Scene()
        other = try Scene("other")
        thief = try Scene(seed: 66)
        let witness = try Scene.witness("anna", seed: 3)
        self.witness = witness
        contents = Scene.contents(16)
        genuine = try scene.proof(contents, witnesses: [witness], names: Scene.names())
        older = try scene.proof(Array(contents.prefix(12)), witnesses: [witness], names: Scene.names())
        policy = "log \(scene.signer.verifier.text)\nwitness anna \(witness.verifier.text)\nquorum anna\n"
        let house = try scene.house()
        receipts = try genuine.logEntries(scene.sha256).map {
            try AskerReceipt(pseudonym: "pX2r", commit: $0.commit, recordedAtMs: $0.recordedAtMs).signed(by: house)
                .bytes
        }
    }

    func forge(_ kind: Forgery, _ random: inout SplitMix) throws -> Forged {
        let place = Int.random(in: 0..<16, using: &random)
        let other = (place + Int.random(in: 1..<16, using: &random)) % 16
        switch kind {
        case .tailOmitted: return with { $0.removeLast(Int.random(in: 1...16, using: &random)) }
        case .tailOmittedWithOldCheckpoint:
            // Genuine, and older than the last one seen.
            let short = try scene.proof(Array(contents.prefix(place % 12)), witnesses: [witness])
            return Forged(proof: short.bytes, older: older.bytes, receipts: nil)
        case .middleOmitted: return with { $0.remove(at: place % 15) }
        case .contentChanged:
            return with { entries in
                entries[place] = changed(entries[place]) { _, content in
                    content[Int.random(in: content.indices, using: &random)] ^= UInt8.random(
                        in: 1...255, using: &random)
                }
            }
        case .wrongSalt:
            return with { entries in
                entries[place] = changed(entries[place]) { salt, _ in
                    salt[Int.random(in: salt.indices, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
                }
            }
        case .anotherPersonsEntry:
            let foreign = try self.other.proof(contents).entries[other]
            return with { $0[place] = foreign }
        case .anotherPersonsProof:
            return Forged(proof: try self.other.proof(contents, witnesses: [witness]).bytes, older: nil, receipts: nil)
        case .entriesSwapped: return with { $0.swapAt(place, other) }
        case .timeChanged:
            return with {
                $0[place] = PersonProof.Entry(
                    recordedAtMs: $0[place].recordedAtMs + Int64.random(in: 1...9_999_999, using: &random),
                    opening: $0[place].opening)
            }
        case .entryRepeated: return with { $0.insert($0[place], at: place) }
        case .entryAdded:
            let added = try scene.proof(Scene.contents(40)).entries[16 + place]
            return with { $0.insert(added, at: other) }
        case .contentWithheld:
            let commit = genuine.logEntries(scene.sha256)[place].commit
            return with {
                $0[place] = PersonProof.Entry(recordedAtMs: $0[place].recordedAtMs, opening: .erased(commit: commit))
            }
        case .forkedLog, .forkedTail:
            // Signed by the house and by a witness that saw nothing else: only the checkpoint that was kept shows it.
            var list = contents
            list[place % 12] = Scene.content(["event": "Nothing", "by": "nobody \(other)"])
            if kind == .forkedTail { list.append(list[0]) }
            return Forged(proof: try scene.proof(list, witnesses: [witness]).bytes, older: older.bytes, receipts: nil)
        case .rootChanged, .sizeChanged, .originChanged: return try checkpointChanged(kind, place)
        case .signatureChanged, .cosignatureChanged:
            let line = genuine.note.signatures[kind == .signatureChanged ? 0 : 1]
            var bytes = line.bytes
            bytes[Int.random(in: bytes.indices, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
            let wrong = SignedNote.Signature(name: line.name, keyID: line.keyID, bytes: bytes)
            return try signed(genuine.note.signatures.map { $0 == line ? wrong : $0 })
        case .signatureMissing: return try signed([genuine.note.signatures[1]])
        case .cosignatureMissing: return try signed([genuine.note.signatures[0]])
        case .cosignatureOfAnother:
            let elsewhere = try place < 8 ? older : self.other.proof(contents, witnesses: [witness])
            return try signed([genuine.note.signatures[0], elsewhere.note.signatures[1]])
        case .signedByAnotherHouse:
            return Forged(
                proof: try thief.proof(Array(contents.prefix(place)), witnesses: [witness]).bytes, older: nil,
                receipts: nil)
        case .receiptWithoutEntry:
            let short = try scene.proof(Array(contents.prefix(place)), witnesses: [witness])
            return Forged(proof: short.bytes, older: nil, receipts: Array(receipts.joined(separator: [10])))
        case .nameChanged:
            var names = genuine.names
            names[place % 3] = try PersonProof.Name(reference: names[place % 3].reference, text: "someone \(other)")
            return Forged(proof: proof(names).bytes, older: older.bytes, receipts: nil)
        case .nameRepeated, .nameUnsorted, .nameAfterEntry, .nameMalformed: return namesChanged(kind, place, &random)
        }
    }

    private func proof(_ names: [PersonProof.Name]) -> PersonProof {
        PersonProof(names: names, entries: genuine.entries, note: genuine.note)
    }

    /// Lines of names that no house writes. Their order and form are those of the first lines of the file.
    private func namesChanged(_ kind: Forgery, _ place: Int, _ random: inout SplitMix) -> Forged {
        var lines = String(decoding: genuine.bytes, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false
        )
        .map(String.init)
        let line = 1 + place % 3
        switch kind {
        case .nameRepeated: lines.insert(lines[line], at: line)
        case .nameUnsorted: lines.swapAt(line, 1 + (place + 1) % 3)
        case .nameAfterEntry: lines.insert(lines.remove(at: line), at: 4 + place % 8)
        default:
            lines[line] = Self.malformedNames[Int.random(in: Self.malformedNames.indices, using: &random)]
                .replacing("REF", with: genuine.names[line - 1].reference)
        }
        return Forged(proof: Array(lines.joined(separator: "\n").utf8), older: nil, receipts: nil)
    }

    /// Lines without their line feeds, with `REF` for a reference that is in order.
    static let malformedNames: [String] = {
        func line(_ name: [UInt8], _ reference: String = "REF") -> String { "name \(reference) \(Base64.encode(name))" }
        let ben = Array("ben".utf8)
        // The controls of ASCII and of Latin-1, each alone and within a name.
        let controls = ["\n", "\0", "\u{1B}[31mben", "b\u{7F}en", "ben\u{85}", "\u{9B}31m", "ben\r", "\tben"]
        return controls.map { line(Array($0.utf8)) } + [
            line([]), line([UInt8](repeating: 97, count: 257)), line([0xC3]), line([0x62, 0xFF]),
            line(Array(String(repeating: "é", count: 129).utf8)), line(ben, ""), line(ben, "REF."), line(ben, "REF/x"),
            line(ben, "REFé"), line(ben, String(repeating: "r", count: 65)), line(ben) + " x", line(ben) + " ",
            "name REF", "name REF ben", "name  REF YmVu", "name REF YmV", "name REF YmVt=", "name REF YmVu\n", "name ",
            "name REF YmU", "name REF YmX=", "name REF Ym Vu", "name REF YmVu\r", "Name REF YmVu", "name\tREF\tYmVu",
        ]
    }()

    private func with(_ change: (inout [PersonProof.Entry]) -> Void) -> Forged {
        var entries = genuine.entries
        change(&entries)
        let forged = PersonProof(names: genuine.names, entries: entries, note: genuine.note)
        return Forged(proof: forged.bytes, older: nil, receipts: nil)
    }

    private func changed(
        _ entry: PersonProof.Entry, _ change: (inout [UInt8], inout [UInt8]) -> Void
    ) -> PersonProof.Entry {
        guard case .whole(let salt, var content) = entry.opening else { return entry }
        var bytes = salt.bytes
        change(&bytes, &content)
        return PersonProof.Entry(
            recordedAtMs: entry.recordedAtMs, opening: .whole(salt: EntrySalt(bytes) ?? salt, content: content))
    }

    private func signed(_ signatures: [SignedNote.Signature]) throws -> Forged {
        try noted(genuine.note.text, signatures, genuine.entries)
    }

    private func noted(
        _ text: String, _ signatures: [SignedNote.Signature], _ entries: [PersonProof.Entry]
    ) throws -> Forged {
        var note = try SignedNote(text: text)
        for signature in signatures { note.add(signature) }
        return Forged(proof: PersonProof(entries: entries, note: note).bytes, older: nil, receipts: nil)
    }

    /// A checkpoint that suits a shorter list, under the signatures of the genuine one.
    private func checkpointChanged(_ kind: Forgery, _ place: Int) throws -> Forged {
        let short = try scene.proof(Array(contents.prefix(place)))
        let (old, new) = (try Checkpoint(text: genuine.note.text), try Checkpoint(text: short.note.text))
        let forged =
            switch kind {
            case .rootChanged: Checkpoint(origin: old.origin, size: new.size, root: new.root)
            case .sizeChanged: Checkpoint(origin: old.origin, size: new.size, root: old.root)
            default: Checkpoint(origin: other.origin, size: old.size, root: old.root)
            }
        return try noted(
            forged.text, genuine.note.signatures, kind == .originChanged ? genuine.entries : short.entries)
    }
}
