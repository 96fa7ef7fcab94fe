import Cryptography
import TestSupport
import Testing

@testable import Transparency

/// The words in which `scripts/verify_proof.py` shows a proof.
@Suite(.enabled(if: Foreign.hasPython(with: "hashlib, binascii, json"), "There is no Python 3."))
struct ProofTableTests {
    private let forger: Forger
    private let folder = TemporaryFolder()

    init() throws {
        forger = try Forger()
        try folder.write(forger.policy, to: "policy")
    }

    private func run(_ arguments: String) -> (status: Int32, output: String) {
        let script = "\(Repository.root)/scripts/verify_proof.py"
        let (status, output) = Foreign.run(
            "cd '\(folder.path)' && '\(Foreign.python)' -B '\(script)' \(arguments) 2>&1")
        // `wait` has the status of an exit in the second byte.
        return (status >> 8, output)
    }

    /// The lines that the script prints for a proof of these contents.
    private func lines(_ contents: [[UInt8]], _ names: [PersonProof.Name] = []) throws -> [String] {
        let proof = try forger.scene.proof(contents, witnesses: [forger.witness], names: names)
        try write(proof.bytes, to: folder.file("table"))
        let (status, output) = run("table --policy policy")
        try #require(status == 0, "\(output)")
        return output.split(separator: "\n").map(String.init)
    }

    @Test func `the script says who asked, as text and as JSON`() throws {
        try write(forger.genuine.bytes, to: folder.file("new"))
        try write(forger.older.bytes, to: folder.file("old"))
        try write(forger.older.note.bytes, to: folder.file("checkpoint"))
        let table = run("new --policy policy --older old")
        try #require(table.status == 0, "\(table.output)")
        let lines = table.output.split(separator: "\n")
        try #require(lines.count == 22)
        #expect(
            lines[1] == "     2  2026-05-04T08:01:00.000Z  location queried    clara  "
                + "\"to meet at the station, question 1\"  verdict: granted  question: q0")
        #expect(
            lines[3] == "     4  2026-05-04T08:03:00.000Z  location disclosed  ben    "
                + "precision: exact  latitude: 52.52  longitude: 13.405  question: q0")
        #expect(lines[17] == "clara is what the house calls \(Scene.clara).")
        #expect(lines[19] == "These are all 16 entries of where.example/whereabouts/7f3c/p/k2m9.")
        #expect(lines[20] == "Witness anna has seen the same log at 2026-05-04T13:06:40.000Z.")
        #expect(lines[21] == "The log continues the one that you had, of 12 entries.")
        let json = run("new --json --older checkpoint --key '\(forger.scene.signer.verifier.text)'")
        #expect(json.status == 0 && json.output.contains("\"proven\": true") && json.output.contains("\"older\": 12"))
        #expect(json.output.contains("\"names\": {\"\(Scene.ben)\": \"ben\", \"\(Scene.clara)\": \"clara\""))
        #expect(json.output.contains("\"recordedAt\": 1777881660.0, \"content\": {\"event\": \"LocationQueried\""))
        #expect(json.output.contains("\"requester\": \"\(Scene.clara)\"") && json.output.contains("\"number\": 2"))
        let cut = run("old --policy policy --older new")
        #expect(cut.status == 1 && cut.output == "Refused: the log had 16 entries earlier, and has 12 now.\n")
        #expect(run("new --policy missing").status == 2)
        #expect(run("new").status == 2)
    }

    @Test func `a line has event, who, why, and then the other members with their names`() throws {
        let lines = try lines(
            [
                Scene.content(["event": "GrantGiven", "actor": .text(Scene.ben), "precision": "city", "number": 71]),
                Scene.content([
                    "event": "LocationDisclosed", "requester": .text(Scene.clara), "actor": .text(Scene.ben),
                    "place": "Döbling, Wien", "salt": .bytes([1, 2]), "people": .array([.text(Scene.ben), 5]),
                ]),
                Scene.content([
                    "event": "LocationQueried", "requester": .text(Scene.clara), "actor": .text(Scene.clara),
                    "purpose": "dinner  verdict: granted", "verdict": "refused",
                ]),
                Scene.content(["number": 74]),
            ], Scene.names())
        #expect(
            lines.prefix(4) == [
                "     1  2026-05-04T08:00:00.000Z  grant given         ben    precision: city",
                "     2  2026-05-04T08:01:00.000Z  location disclosed  ben    "
                    + "place: Döbling, Wien  people: [ben, 5]  requester: clara",
                "     3  2026-05-04T08:02:00.000Z  location queried    clara  "
                    + "\"dinner  verdict: granted\"  verdict: refused",
                "     4  2026-05-04T08:03:00.000Z  (no event)",
            ])
        #expect(lines.contains("ben is what the house calls \(Scene.ben)."))
        #expect(!lines.contains { $0.contains(Scene.dora) })
    }

    /// Names are not proven, so that a house could put a word of the contents among the references.
    @Test func `a name cannot change a word, add a member, or pass for another person`() throws {
        let query = Scene.content([
            "event": "LocationQueried", "requester": .text(Scene.ben), "verdict": "granted", "purpose": "lunch",
        ])
        let other = Scene.content(["event": "LocationQueried", "requester": .text(Scene.dora), "verdict": "granted"])
        func name(_ reference: String, _ text: String) throws -> PersonProof.Name {
            try PersonProof.Name(reference: reference, text: text)
        }
        let words = try lines([query], [name("granted", "refused"), name("lunch", "dinner")])
        #expect(words[0].hasSuffix("  location queried  \(Scene.ben)  \"lunch\"  verdict: granted"))
        let member = try lines([query], [name(Scene.ben, "ben  verdict: refused\u{202E}")])
        #expect(member[0].contains("  \"ben  verdict: refused\u{FFFD}\"  \"lunch\"  verdict: granted"))
        let twice = try lines([query, other], [name(Scene.ben, "ben"), name(Scene.dora, "ben")])
        #expect(twice[0].contains("  ben (\(Scene.ben))  ") && twice[1].contains("  ben (\(Scene.dora))  "))
    }

    @Test func `a name that was another one in the older proof is refused with a sentence`() throws {
        try write(forger.older.bytes, to: folder.file("old"))
        var names = try Scene.names()
        names[0] = try PersonProof.Name(reference: Scene.ben, text: "carl")
        let renamed = PersonProof(names: names, entries: forger.genuine.entries, note: forger.genuine.note)
        try write(renamed.bytes, to: folder.file("new"))
        let sentence = "the house calls \(Scene.ben) carl, and called it ben in the older proof"
        let refusal = run("new --policy policy --older old")
        #expect(refusal.status == 1 && refusal.output == "Refused: \(sentence).\n")
        #expect(renamed.renamed(since: forger.older).map(\.description) == [sentence])
        #expect(throws: TransparencyError.unproven(sentence)) {
            try renamed.verify(policy: TrustPolicy(parsing: Array(forger.policy.utf8)), since: forger.older)
        }
        // Without the older names there is nothing to compare with.
        try write(forger.older.note.bytes, to: folder.file("checkpoint"))
        #expect(run("new --policy policy --older checkpoint").status == 0)
    }

    @Test func `a proof has 100,000 names at most`() throws {
        let lines = String(decoding: forger.genuine.bytes, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        for (count, status) in [(100_000, 0), (100_001, 1)] as [(Int, Int32)] {
            let names = (0..<count).map { "name n\(1_000_000 + $0) YQ==" }
            let text = ([String(lines[0])] + names + lines[4...].map(String.init)).joined(separator: "\n")
            try write(text.utf8, to: folder.file("many"))
            let result = run("many --policy policy --json")
            #expect(result.status == status)
            let read = Result { try PersonProof(parsing: Array(text.utf8)) }
            #expect((try? read.get())?.names.count == (status == 0 ? count : nil))
        }
    }
}
