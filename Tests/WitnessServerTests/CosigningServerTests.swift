import Cryptography
import Glibc
import SQLite
import Synchronization
import TestSupport
import Testing

@testable import HTTPServerTests
@testable import Transparency
@testable import TransparencyTests
@testable import WitnessServer

/// A witness on loopback, asked with raw sockets.
@Suite struct CosigningServerTests {
    private let scene: WitnessScene

    init() throws { scene = try WitnessScene() }

    @Test func `a growing log is cosigned, and its older sizes are answered with the newest`() throws {
        let server = try scene.serve([WitnessScene.key()])
        for (old, new) in [(0, 3), (3, 3), (3, 4), (4, 20)] as [(Int64, Int64)] {
            let answer = try server.post(scene.request(old, new))
            #expect(answer.status == 200, "\(old) \(new) \(answer)")
            guard case .cosigned(let signatures) = try WitnessAnswer(status: 200, body: Array(answer.body.utf8)) else {
                Issue.record("It is no cosignature.")
                continue
            }
            var note = try WitnessRequest(parsing: scene.request(old, new)).note
            for signature in signatures { note.add(signature) }
            let expected = VerifiedSignature(key: server.verifier, timeSeconds: 1_777_900_000)
            #expect(try note.verify(with: [server.verifier]) == [expected])
        }
        let conflict = try server.post(scene.request(3, 20))
        #expect(conflict.status == 409 && conflict.body == "20\n")
        #expect(conflict.header("content-type") == "text/x.tlog.size")
        #expect(scene.reports.withLock { $0 } == [])
    }

    @Test(.enabled(if: Foreign.hasPython(with: "hashlib, binascii, json"), "There is no Python 3."))
    func `the script accepts a proof with the cosignature, by the public key that the witness shows`() throws {
        let server = try scene.serve([WitnessScene.key()])
        let genuine = try Scene().proof(Scene.contents(6))
        let answer = try server.post(WitnessRequest(oldSize: 0, proof: [], note: genuine.note).bytes)
        var note = genuine.note
        note.add(try SignedNote.Signature(line: answer.body.dropLast()))
        let proof = PersonProof(entries: genuine.entries, note: note)
        try write(proof.bytes, to: scene.folder.file("proof"))
        let key = try WitnessFolder(scene.directory).publicKey(name: nil)
        let policy = "log \(try WitnessScene.key())\nwitness anna \(key.text)\nquorum anna\n"
        let output = try Foreign.python(
            path: "\(Repository.root)/scripts/verify_proof.py",
            [scene.folder.file("proof"), "--policy", scene.folder.write(policy, to: "policy")])
        #expect(output.hasSuffix("Witness anna has seen the same log at 2026-05-04T13:06:40.000Z.\n"))
    }

    @Test func `a witness that starts again knows what it has cosigned, and keeps its key`() throws {
        let first = try scene.serve([WitnessScene.key()])
        #expect(try first.post(scene.request(0, 7)).status == 200)
        first.stop()
        let second = try scene.serve([WitnessScene.key()], name: nil)
        #expect(second.verifier == first.verifier)
        let again = try second.post(scene.request(0, 7))
        #expect(again.status == 409 && again.body == "7\n")
        #expect(try second.post(scene.request(7, 20)).status == 200)
        second.stop()
        #expect(names(in: scene.directory) == ["key", "state.sqlite", "state.sqlite-journal"])
        for name in names(in: scene.directory) {
            var status = stat()
            #expect(stat("\(scene.directory)/\(name)", &status) == 0 && status.st_mode & 0o777 == 0o600, "\(name)")
        }
    }

    /// The house shows the friend's machine another history than it showed before.
    @Test func `a fork is refused with either answer, reported, and never cosigned later`() throws {
        let server = try scene.serve([WitnessScene.key()])
        #expect(try server.post(scene.request(0, 7)).status == 200)
        #expect(try server.post(WitnessScene.request(7, 7, of: scene.fork)).status == 409)
        #expect(scene.reports.withLock { $0.count } == 1)
        #expect(try server.post(WitnessScene.request(7, 20, of: scene.fork)).status == 422)
        #expect(try server.post(WitnessScene.request(0, 4, of: scene.fork)).status == 409)
        server.stop()
        let again = try scene.serve([WitnessScene.key()])
        #expect(try again.post(WitnessScene.request(7, 20, of: scene.fork)).status == 422)
        let reports = scene.reports.withLock { $0 }
        #expect(reports.count == 2 && reports.allSatisfy { $0.hasPrefix("Refused: where.example/") }, "\(reports)")
        #expect(try again.post(scene.request(7, 20)).status == 200)
    }

    /// All requests are sent before the first answer is read.
    @Test(arguments: [false, true]) func `of 50 concurrent requests for one step, exactly one is cosigned`(
        isForked: Bool
    ) throws {
        let server = try scene.serve([WitnessScene.key()])
        #expect(try server.post(scene.request(0, 3)).status == 200)
        let bodies = try [
            scene.request(3, 20), isForked ? WitnessScene.request(3, 20, of: scene.fork) : scene.request(3, 19),
        ]
        let clients = try (0..<50).map { _ in try #require(RawClient(port: server.port)) }
        for (index, client) in clients.enumerated() { client.sendCheckpoint(bodies[index % 2]) }
        let answers = try clients.map { try #require($0.receive()) }
        #expect(answers.count { $0.status == 200 } == 1)
        #expect(answers.count { $0.status == 409 } == 49)
        #expect(Set(answers.filter { $0.status == 409 }.map(\.body)).count == 1)
    }

    /// The state is locked from outside, so that the first request waits for the disk and the others for the first.
    @Test func `256 requests wait, and further ones are refused at once`() throws {
        let server = try scene.serve([WitnessScene.key()])
        #expect(try server.post(scene.request(0, 3)).status == 200)
        let other = try Connection(path: scene.directory + "/state.sqlite", access: .readWrite)
        let body = try scene.request(3, 20)
        let clients = try (0..<300).map { _ in try #require(RawClient(port: server.port)) }
        try other.begin()
        for client in clients { client.sendCheckpoint(body) }
        let refused = 300 - 1 - CosigningServer.waitingMax
        try eventually("the refusals", within: 20) {
            var byte: UInt8 = 0
            return clients.count { recv($0.descriptor, &byte, 1, CInt(MSG_PEEK | MSG_DONTWAIT)) == 1 }
                >= refused
        }
        try other.commit()
        let answers = try clients.map { try #require($0.receive()) }
        #expect(answers.count { $0.status == 503 } >= refused)
        #expect(answers.count { $0.status == 200 } == 1)
        #expect(answers.allSatisfy { [200, 409, 503].contains($0.status) })
    }

    @Test func `a log in the file is known without a restart, and its state outlasts its line`() throws {
        let server = try scene.serve([])
        let logs = scene.directory + "/logs"
        #expect(try server.post(scene.request(0, 3)).status == 404)
        try write("# friends\n\n\(WitnessScene.key())\n".utf8, to: logs)
        #expect(try server.post(scene.request(0, 3)).status == 200)
        let other = try WitnessScene("p7q1")
        #expect(try server.post(other.request(0, 3)).status == 404)
        try write("\(WitnessScene.key())\n\(WitnessScene.key("p7q1"))".utf8, to: logs)
        #expect(try server.post(other.request(0, 3)).status == 200)
        try write("\(WitnessScene.key())\nnonsense\n".utf8, to: logs)
        #expect(try server.post(other.request(3, 4)).status == 200)
        #expect(try server.post(other.request(4, 5)).status == 200)
        let reports = scene.reports.withLock { $0 }
        #expect(reports.count == 1 && reports[0].contains("/logs, line 2: a public key is written NAME+HASH+BASE64."))
        remove(logs)
        #expect(try server.post(other.request(5, 6)).status == 404)
        try write(WitnessScene.key("p7q1").utf8, to: logs)
        let conflict = try server.post(other.request(0, 3))
        #expect(conflict.status == 409 && conflict.body == "5\n")
    }

    @Test func `what is no request, too long, or elsewhere is refused`() throws {
        let server = try scene.serve([WitnessScene.key()])
        func status(_ text: String, _ body: [UInt8] = []) throws -> RawClient.Answer {
            let client = try #require(RawClient(port: server.port))
            client.send("\(text) HTTP/1.1\r\nHost: w\r\nContent-Length: \(body.count)\r\n\r\n")
            client.send(body)
            return try #require(client.receive())
        }
        #expect(try status("GET /add-checkpoint").header("allow") == "POST")
        #expect(try status("POST /").status == 404)
        #expect(try status("POST /add-checkpoint").status == 400)
        #expect(try status("POST /add-checkpoint", [UInt8](repeating: 10, count: 65_536)).status == 400)
        #expect(try status("POST /add-checkpoint", [UInt8](repeating: 10, count: 65_537)).status == 413)
        let thief = try Scene(seed: 66)
        let stolen = WitnessRequest(
            oldSize: 0, proof: [], note: try thief.note(scene.log.checkpoint(atSize: 3, thief.sha256)))
        #expect(try server.post(stolen.bytes).status == 403)
        #expect(try server.post(WitnessScene("p7q1").request(0, 3)).status == 404)
        #expect(try server.post(scene.request(0, 3)).status == 200)
    }

    @Test func `a state that cannot be written is no cosignature`() throws {
        let server = try scene.serve([WitnessScene.key()])
        #expect(try server.post(scene.request(0, 3)).status == 200)
        let other = try Connection(path: scene.directory + "/state.sqlite", access: .readWrite)
        try other.execute("ALTER TABLE witnessed_log RENAME TO away")
        let broken = try server.post(scene.request(3, 20))
        #expect(broken.status == 503 && broken.header("retry-after") == "1")
        #expect(!broken.body.contains("—"))
        try other.execute("ALTER TABLE away RENAME TO witnessed_log")
        #expect(try server.post(scene.request(3, 20)).status == 200)
        #expect(scene.reports.withLock { $0.count } == 1)
    }
}

/// Recorded conversations with a witness of another implementation, held over HTTP.
@Suite(.enabled(if: Repository.fixtures != nil, "WHEREABOUTS_FIXTURES names no folder with recorded files."))
struct RecordedConversationTests {
    @Test(arguments: ["litewitness.txt", "bastion.txt", "sumdb.txt"])
    func `each recorded request gets the recorded answer`(file: String) throws {
        let scene = try WitnessScene()
        let sigsum = try NoteVerifier(
            name: KeyName(WitnessConversation.sigsum), kind: .ed25519,
            publicKey: #require(Hex.decode(WitnessConversation.sigsumKey)))
        // The origin of Go's log is not the name of its key.
        let server = try scene.serve(
            [sigsum.text, WitnessConversation.goKey + " go.sum database tree"], name: "example.com/witness")
        let exchanges = try WitnessConversation.exchanges(file)
        #expect(!exchanges.isEmpty)
        for (index, exchange) in exchanges.enumerated() {
            let answer = try server.post(exchange.body)
            // The recorded witness answers 403 for a log that it does not know. C2SP tlog-witness says 404.
            let expected = exchange.expected == "unknown log" ? 404 : exchange.status
            #expect(answer.status == expected, "request \(index + 1): \(answer)")
            #expect(exchange.isWhole ? answer.body == exchange.expected : answer.body.contains(exchange.expected))
        }
    }
}
