import Cryptography
import Glibc
import HTTPServer
import JSON
import Posting
import TestSupport
import Testing
import Threading
import Whereabouts
import WitnessServer

@testable import Log
@testable import Service
@testable import Transparency

/// The house has its people's logs cosigned, by the real witness and by others that are dead or lie.
@Suite struct WitnessStoryTests {
    /// A house with the real witness, which knows the person's log.
    private struct Scene {
        let folder = TemporaryFolder()
        let witness: CosigningServer
        let house: WitnessedHouse
        var directory: String { folder.file("witness") }

        init(knowing isKnown: Bool = true) throws {
            witness = try WitnessedHouse.serve(folder.file("witness"))
            house = try WitnessedHouse(url: "http://127.0.0.1:\(witness.port)", key: witness.verifier)
            if isKnown { try introduce(in: directory) }
        }

        /// The owner of the witness adds the key of the log.
        func introduce(in directory: String) throws {
            try write("# the walker\n\(house.key())\n".utf8, to: directory + "/logs")
        }
    }

    private func isCosigned(_ note: SignedNote, by key: NoteVerifier) throws -> Bool {
        try !note.verify(with: [key]).isEmpty && note.signatures.count == 2
    }

    // MARK: The real witness

    @Test(.enabled(if: Foreign.hasPython(with: "hashlib, binascii, json"), "There is no Python 3."))
    func `a proof passes a policy that asks for the witness, and the script names it`() throws {
        let scene = try Scene()
        let output = try scene.house.verify(scene.house.proof(), scene.witness.verifier)
        #expect(output.contains("Witness anna has seen the same log at 2026-05-04T13:06:40.000Z."))
        #expect(try isCosigned(scene.house.note(), by: scene.witness.verifier))
        #expect(try scene.house.contested() == 0)
    }

    @Test func `a row of the audit names the witnesses of a checkpoint that covers it`() throws {
        let scene = try Scene()
        _ = try scene.house.proof()
        let rows = scene.house.house.send("GET", "/v1/people/walker/audit?limit=500", as: scene.house.walker).items
        let witnessed = rows.filter { $0["proof"]?["state"]?.string == "witnessed" }
        #expect(!witnessed.isEmpty && witnessed.count < rows.count)
        #expect(
            witnessed.allSatisfy { $0["proof"]?["witnesses"]?.array.map { $0.map(\.string) } == [WitnessedHouse.name] })
        // The read of the proof is recorded after it.
        #expect(rows.first?["proof"]?["state"]?.string == "logged")
    }

    @Test func `a witness that does not know the log yet adds nothing, and cosigns as soon as it does`() throws {
        let scene = try Scene(knowing: false)
        #expect(try scene.house.note().signatures.count == 1)
        try scene.introduce(in: scene.directory)
        #expect(try isCosigned(scene.house.note(), by: scene.witness.verifier))
    }

    /// The house has no memory of sizes after its start, and the witness has none in an empty directory.
    @Test func `house and witness start again, and learn from each other where they are`() throws {
        let scene = try Scene()
        let key = scene.witness.verifier
        #expect(try isCosigned(scene.house.proof().note, by: key))
        try scene.house.house.restart()
        #expect(try isCosigned(scene.house.proof().note, by: key))
        let port = scene.witness.port
        scene.witness.stop()
        let second = try WitnessedHouse.serve(scene.directory, port: port)
        #expect(second.verifier == key)
        #expect(try isCosigned(scene.house.proof().note, by: key))
        second.stop()

        let empty = scene.folder.file("empty")
        try WitnessedHouse.serve(empty).stop()
        for file in ["key", "logs"] {
            let bytes = try #require(DataDirectory.read("\(scene.directory)/\(file)", atMost: 4096))
            try write(bytes, to: "\(empty)/\(file)")
        }
        let third = try WitnessedHouse.serve(empty, port: port)
        #expect(third.verifier == key)
        #expect(try isCosigned(scene.house.proof().note, by: key))
        #expect(try scene.house.contested() == 0)
        third.stop()
    }

    @Test func `a log that grew is cosigned within a minute, though nobody asks for a proof`() throws {
        let scene = try Scene()
        // Two tokens are two entries after the checkpoint that the witness has.
        let size = try Checkpoint(text: scene.house.note().text).size
        _ = try scene.house.house.token(of: "walker")
        scene.house.house.clock.advance(seconds: 60)
        let forged = try scene.house.forged(entries: 1).note
        try eventually("a larger size") {
            let answer = try scene.witness.add(forged)
            #expect(answer.status == 409)
            return try #require(Int64(answer.text.dropLast())) > size
        }
        #expect(try isCosigned(scene.house.note(), by: scene.witness.verifier))
    }

    @Test func `a witness that does not know a log, and one that is silent, keep it from no other witness`() throws {
        let folder = TemporaryFolder()
        let stranger = try WitnessedHouse.serve(folder.file("stranger"))
        let anna = try WitnessedHouse.serve(folder.file("anna"))
        let silent = try WebhookReceiver { _, _ in .silence }
        let scene = try WitnessedHouse(
            [silent.url, "http://127.0.0.1:\(stranger.port)", "http://127.0.0.1:\(anna.port)"].enumerated().map {
                ($1, try [WitnessedHouse.signer().verifier, stranger.verifier, anna.verifier][$0])
            })
        try write("\(scene.key())\n".utf8, to: folder.file("anna") + "/logs")
        #expect(try isCosigned(scene.note(), by: anna.verifier))
        let forged = try scene.forged(entries: 1).note
        var size: Int64 = 0
        for _ in 0..<3 {
            _ = try scene.house.token(of: "walker")
            scene.house.clock.advance(seconds: 61)
            size = try eventually("a larger size") {
                let known = try Int64(anna.add(forged).text.dropLast()) ?? 0
                return known > size ? known : nil
            }
        }
        #expect(try scene.contested() == 0)
    }

    // MARK: Another history

    /// The witness has seen a log of the same origin with other entries: a shorter one, one of the same size, a longer one.
    @Test(arguments: [-2, 0, 100])
    func `a house that shows another history gets no cosignature, and says so`(more: Int) throws {
        let scene = try Scene(knowing: false)
        let size = try Int(Checkpoint(text: scene.house.note().text).size)
        try scene.introduce(in: scene.directory)
        // Each of the two reads is an entry.
        let forged = try scene.house.forged(entries: size + 2 + more).note
        #expect(try scene.witness.add(forged).status == 200)
        let note = try scene.house.note()
        #expect(try Checkpoint(text: note.text).size == Int64(size) + 2)
        #expect(note.signatures.count == 1)
        #expect(try scene.house.contested() == 1)
        #expect(try scene.house.proof().note.signatures.count == 1)
        #expect(try scene.house.contested() == 1)
    }

    // MARK: Witnesses that do not work

    @Test func `a witness that is silent delays one reader, and nobody else for a minute`() throws {
        let receiver = try WebhookReceiver { _, _ in .silence }
        let scene = try WitnessedHouse(url: receiver.url, key: WitnessedHouse.signer().verifier)
        #expect(try scene.note().signatures.count == 1)
        for _ in 0..<5 { #expect(try scene.note().signatures.count == 1) }
        #expect(try scene.proof().note.signatures.count == 1)
        scene.house.clock.advance(seconds: 59)
        #expect(try scene.note().signatures.count == 1)
        #expect(receiver.received.count == 1)
        scene.house.clock.advance(seconds: 2)
        _ = receiver.until { $0.count == 2 }
        #expect(try scene.note().signatures.count == 1)
    }

    @Test func `where nothing listens, proofs come without a cosignature, and with one once a witness is there`() throws
    {
        let folder = TemporaryFolder()
        let first = try WitnessedHouse.serve(folder.path)
        let (port, key) = (first.port, first.verifier)
        first.stop()
        let scene = try WitnessedHouse(url: "http://localhost:\(port)", key: key)
        #expect(try scene.proof().note.signatures.count == 1)
        try write("\(scene.key())\n".utf8, to: folder.file("logs"))
        let second = try WitnessedHouse.serve(folder.path, port: port)
        #expect(try scene.note().signatures.count == 1, "It is not asked within a minute.")
        scene.house.clock.advance(seconds: 61)
        try eventually("a cosignature") { try isCosigned(scene.note(), by: key) }
        second.stop()
    }

    /// The answers of a witness that is broken or lies.
    enum Lie: CaseIterable {
        case otherKey, otherText, garbage, empty, endless, cut, moved, sizeOfNoType, noSize, sizes, manyLines

        func reply(to body: [UInt8], _ signer: NoteSigner, index: Int) throws -> WebhookReceiver.Reply {
            let plain = "text/plain; charset=utf-8"
            let checkpoint = try Checkpoint(text: WitnessRequest(parsing: body).note.text)
            func line(of checkpoint: Checkpoint, by signer: NoteSigner) -> String {
                Cosignature.signature(of: checkpoint, timeSeconds: 1_777_900_000, by: signer).line
            }
            let other = Checkpoint(origin: checkpoint.origin, size: checkpoint.size + 1, root: checkpoint.root)
            switch self {
            case .otherKey: return .text(200, type: plain, line(of: checkpoint, by: try WitnessedHouse.signer()))
            case .otherText: return .text(200, type: plain, line(of: other, by: signer))
            case .garbage: return .text(200, type: plain, "It looks good to me.\n")
            case .empty: return .text(200, type: plain, "")
            case .endless: return .endless
            case .cut: return .cut
            case .moved: return .status(302, headers: ["Location: /"])
            case .sizeOfNoType: return .text(409, type: plain, "0\n")
            case .noSize: return .text(409, type: "text/x.tlog.size", "-1\n")
            case .sizes: return .text(409, type: "text/x.tlog.size", "\(index + 1)\n")
            case .manyLines:
                let lines = line(of: checkpoint, by: signer) + line(of: other, by: signer)
                return .text(200, type: plain, lines)
            }
        }
    }

    @Test func `a witness that lies adds nothing, and one that tells the truth later does`() throws {
        let signer = try WitnessedHouse.signer()
        let lie = Monitor<Lie?>(nil)
        let receiver = try WebhookReceiver { message, index in
            do {
                if let lie = lie.read({ $0 }) {
                    return try lie.reply(to: message.body, signer, index: index % 2)
                }
                let note = try WitnessRequest(parsing: message.body).note
                let line = Cosignature.signature(
                    of: try Checkpoint(text: note.text), timeSeconds: 1_777_900_000, by: signer
                ).line
                // A line of another key beside it, as a witness with two keys gives.
                let other = try Cosignature.signature(
                    of: Checkpoint(text: note.text), timeSeconds: 0, by: WitnessedHouse.signer())
                return .text(200, type: "text/plain", other.line + line)
            } catch { return .status(400) }
        }
        let scene = try WitnessedHouse(url: receiver.url, key: signer.verifier)
        #expect(try isCosigned(scene.note(), by: signer.verifier))
        for told in Lie.allCases {
            lie.change { $0 = told }
            let before = receiver.received.count
            let note = try scene.note()
            #expect(note.signatures.count == 1, "\(told)")
            #expect(receiver.received.count > before, "\(told)")
            #expect(receiver.received.count <= before + 3, "\(told)")
            lie.change { $0 = nil }
            #expect(try scene.note().signatures.count == 1, "\(told): it is left out for a minute.")
            scene.house.clock.advance(seconds: 61)
            try eventually("a cosignature after \(told)") { try isCosigned(scene.note(), by: signer.verifier) }
        }
        #expect(try scene.contested() == 0)
    }

    // MARK: Requests

    @Test func `a witness learns nothing of people but how many entries a log has`() throws {
        let signer = try WitnessedHouse.signer()
        let receiver = try WebhookReceiver { message, _ in
            guard let note = try? WitnessRequest(parsing: message.body).note,
                let checkpoint = try? Checkpoint(text: note.text)
            else { return .status(400) }
            let line = Cosignature.signature(of: checkpoint, timeSeconds: 1_777_900_000, by: signer).line
            return .text(200, type: "text/plain", line)
        }
        let scene = try WitnessedHouse(url: receiver.url, key: signer.verifier)
        let house = scene.house
        let friend = try house.addPerson("friend")
        _ = try house.addDevice("peculiar-phone", of: "walker")
        try house.grant("walker", to: "friend")
        house.send("POST", "/v1/people/walker/location-queries", as: friend, #"{"purpose":"late for dinner"}"#)
        _ = try scene.proof()
        _ = try scene.checkpoint(since: 2)
        house.clock.advance(seconds: 61)
        // The log of the friend too, which has no readers.
        let all = receiver.until { messages in
            Set(messages.compactMap { try? Checkpoint(text: WitnessRequest(parsing: $0.body).note.text).origin }).count
                == 2
        }
        let secrets = ["walker", "friend", "peculiar", "dinner"]
        for message in all {
            let head = message.headers.map { "\($0.key): \($0.value)" }.joined(separator: "\n")
            let text = "\(message.path)\n\(head)\n\(String(decoding: message.body, as: UTF8.self))".lowercased()
            #expect(secrets.allSatisfy { !text.contains($0) }, "\(text)")
            // Nothing but the form of C2SP: a size, hashes, and a note of three lines with the log's signature.
            let request = try WitnessRequest(parsing: message.body)
            #expect(request.bytes == message.body)
            #expect(request.note.text.split(separator: "\n").count == 3 && request.note.signatures.count == 1)
            #expect(
                Set(message.headers.keys).isSubset(of: [
                    "host", "accept", "content-type", "content-length", "user-agent",
                ]))
        }
    }

    @Test func `the requests for one person leave one after the other, and their sizes never go back`() throws {
        let signer = try WitnessedHouse.signer()
        let state = Monitor<(inside: Int, most: Int, sizes: [Int64])>((0, 0, []))
        let receiver = try WebhookReceiver { message, _ in
            state.change { state in
                state.inside += 1
                state.most = max(state.most, state.inside)
            }
            defer { state.change { $0.inside -= 1 } }
            guard let checkpoint = try? Checkpoint(text: WitnessRequest(parsing: message.body).note.text) else {
                return .status(400)
            }
            state.change { $0.sizes.append(checkpoint.size) }
            usleep(20_000)
            let line = Cosignature.signature(of: checkpoint, timeSeconds: 1_777_900_000, by: signer).line
            return .text(200, type: "text/plain", line)
        }
        let scene = try WitnessedHouse(url: receiver.url, key: signer.verifier)
        let answers = Monitor<[Int]>([])
        for index in 0..<12 {
            let path = index % 2 == 0 ? "checkpoint" : "proof"
            scene.house.send("GET", "/v1/people/walker/\(path)", as: scene.walker) { response in
                answers.change { $0.append(response.status) }
            }
        }
        let all = answers.wait(milliseconds: patienceMilliseconds) { $0.count == 12 ? $0 : nil }
        #expect(all?.allSatisfy { $0 == 200 } == true)
        let (_, most, sizes) = state.read { $0 }
        #expect(most == 1 && sizes.count == 12 && sizes == sizes.sorted())
    }
}
