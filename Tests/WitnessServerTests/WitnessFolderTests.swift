import Cryptography
import Glibc
import SQLite
import TestSupport
import Testing

@testable import Transparency
@testable import TransparencyTests
@testable import WitnessServer

@Suite struct WitnessFolderTests {
    private let scene: WitnessScene

    init() throws { scene = try WitnessScene() }

    private func refusal(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "nothing was refused"
        } catch { return "\(error)" }
    }

    @Test func `the key is made once, for its owner only, and is that of its text`() throws {
        let folder = WitnessFolder(scene.directory)
        let key = try folder.publicKey(name: KeyName("anna.example/w"))
        #expect(key.kind == .cosignature && key.name.text == "anna.example/w")
        #expect(try folder.publicKey(name: nil) == key)
        let text = String(decoding: try contents(ofFile: scene.directory + "/key"), as: UTF8.self)
        #expect(text.hasPrefix("PRIVATE+KEY+anna.example/w+") && text.hasSuffix("\n"))
        #expect(try NoteSigner(text: text.dropLast()).verifier == key)
        var status = stat()
        #expect(stat(scene.directory, &status) == 0 && status.st_mode & 0o777 == 0o700)
        #expect(stat(scene.directory + "/key", &status) == 0 && status.st_mode & 0o777 == 0o600)
        let other = WitnessFolder(scene.folder.file("other"))
        #expect(try other.publicKey(name: KeyName("anna.example/w")) != key)
        #expect(try WitnessFolder(scene.folder.file("unnamed")).publicKey(name: nil).name.text.hasSuffix("witness"))
    }

    @Test func `a key of another name, of another kind, or open to others is refused`() throws {
        let folder = WitnessFolder(scene.directory)
        let key = try folder.publicKey(name: KeyName("anna.example/w"))
        let path = scene.directory + "/key"
        #expect(
            refusal { _ = try folder.publicKey(name: KeyName("ben")) }.hasSuffix(
                "is named anna.example/w, and not ben."))
        chmod(path, 0o640)
        #expect(refusal { _ = try folder.publicKey(name: nil) }.hasPrefix("Other users can read"))
        chmod(path, 0o600)
        #expect(try folder.publicKey(name: nil) == key)
        try write(NoteSigner.make(name: KeyName("a"), kind: .ed25519).text.utf8, to: path)
        #expect(refusal { _ = try folder.publicKey(name: nil) }.hasSuffix("is not the key of a witness."))
        try write("PRIVATE+KEY+nonsense".utf8, to: path)
        #expect(refusal { _ = try folder.publicKey(name: nil) }.contains("PRIVATE+KEY+NAME+HASH+BASE64"))
    }

    @Test func `a key whose state is lost does not serve, and neither does a damaged state`() throws {
        let state = scene.directory + "/state.sqlite"
        try scene.serve([]).stop()
        remove(state)
        #expect(refusal { _ = try scene.serve([]) }.contains("a second history"))
        try write([UInt8](repeating: 7, count: 8192), to: state)
        #expect(refusal { _ = try scene.serve([]) }.contains("state.sqlite: SQLite 26"))
    }

    @Test func `one process serves a folder, on loopback`() throws {
        let server = try scene.serve([])
        #expect(refusal { _ = try scene.serve([]) }.hasPrefix("Another witness uses "))
        // The public key can be read meanwhile.
        #expect(try WitnessFolder(scene.directory).publicKey(name: nil) == server.verifier)
        server.stop()
        #expect(
            refusal { _ = try scene.serve([]) { $0.host = "0.0.0.0" } }.contains("Other machines can reach 0.0.0.0"))
        let again = try scene.serve([])
        #expect(refusal { _ = try WitnessScene().serve([]) { $0.port = again.port } }.contains("Cannot listen"))
    }

    @Test func `a malformed file of logs stops the start`() throws {
        try scene.serve([]).stop()
        let witness = try Scene.witness("ben", seed: 4).verifier.text
        for (text, sentence) in [
            ("# one\n\(witness)\n", "line 2: the key of ben.example/w is not one of a log"),
            ("where.example\n", "line 1: a public key is written NAME+HASH+BASE64"),
            (String(repeating: "#\n", count: 1 << 19) + "#", "is longer than 1048576 bytes"),
        ] {
            try write(text.utf8, to: scene.directory + "/logs")
            #expect(refusal { _ = try scene.serve([]) }.contains(sentence))
        }
    }

    @Test func `a state changes only from the one before, whoever writes`() throws {
        let path = scene.folder.file("state.sqlite")
        let (table, other) = (try WitnessTable(path: path), try WitnessTable(path: path))
        let origin = try LogOrigin("where.example/a")
        let sha256 = SHA256()
        func state(_ size: Int64, _ text: String) -> WitnessedState {
            WitnessedState(size: size, root: sha256.hash(Array(text.utf8)))
        }
        #expect(try table.state(of: origin) == nil)
        #expect(try table.replace(nil, with: state(3, "a"), for: origin))
        #expect(try !other.replace(nil, with: state(4, "b"), for: origin))
        #expect(try !other.replace(state(3, "b"), with: state(4, "b"), for: origin))
        #expect(try !other.replace(state(2, "a"), with: state(4, "b"), for: origin))
        #expect(try other.replace(state(3, "a"), with: state(4, "b"), for: origin))
        #expect(try !table.replace(state(3, "a"), with: state(5, "c"), for: origin))
        #expect(try table.state(of: origin) == state(4, "b"))
        // Another spelling of an accent is another log.
        #expect(try table.replace(nil, with: state(1, "d"), for: LogOrigin("where.example/é")))
        #expect(try table.state(of: LogOrigin("where.example/e\u{301}")) == nil)
        #expect(try table.count(under: "where.example/") == 2 && table.count(under: "where.example/a%") == 0)
    }

    /// SQLite's documentation: at FULL a commit is synced. In mode TRUNCATE that includes the journal's end.
    @Test func `a commit is durable, and each statement of a request uses the key`() throws {
        let table = try WitnessTable(path: scene.folder.file("state.sqlite"))
        func pragma(_ sql: StaticString) throws -> String {
            let statement = try table.connection.prepare(sql)
            #expect(try statement.step())
            return statement.text(at: 0)
        }
        #expect(try pragma("PRAGMA synchronous") == "2")
        #expect(try pragma("PRAGMA journal_mode") == "truncate")
        for sql in [WitnessTable.selectState, WitnessTable.updateState] {
            let plan = try table.connection.explainQueryPlan(sql)
            #expect(plan == ["SEARCH witnessed_log USING PRIMARY KEY (origin=?)"])
        }
    }
}
