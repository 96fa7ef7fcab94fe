import Cryptography
import TestSupport
import Testing

@testable import Transparency

/// States in memory.
struct MemoryStore: WitnessStore {
    struct Broken: Error {}
    var states: [LogOrigin: WitnessedState] = [:]
    /// Runs before a state is replaced, as another request might.
    var race: (@Sendable (inout [LogOrigin: WitnessedState]) -> Void)?
    var isBroken = false

    func state(of origin: LogOrigin) throws(Broken) -> WitnessedState? {
        if isBroken { throw Broken() }
        return states[origin]
    }

    func count(under prefix: String) throws(Broken) -> Int {
        states.keys.count { $0.text.hasPrefix(prefix) }
    }

    mutating func replace(
        _ old: WitnessedState?, with new: WitnessedState, for origin: LogOrigin
    ) throws(Broken) -> Bool {
        race?(&states)
        guard states[origin] == old else { return false }
        states[origin] = new
        return true
    }
}

/// Conversations with a witness of another implementation, recorded as scripts of its tests.
@Suite(.enabled(if: Repository.fixtures != nil, "WHEREABOUTS_FIXTURES names no folder with recorded files."))
struct WitnessConversationTests {
    @Test(arguments: [
        ("litewitness.txt", 9, WitnessConversation.sigsum, 5), ("bastion.txt", 1, WitnessConversation.sigsum, 1),
        ("sumdb.txt", 1, "go.sum database tree", 35_225_469),
    ])
    func `each request is answered as the script says`(file: String, count: Int, log: String, size: Int64) throws {
        let signer = try NoteSigner(
            name: KeyName("example.com/witness"), kind: .cosignature,
            key: Ed25519PrivateKey(seed: [UInt8](repeating: 1, count: 32)))
        let key = try NoteVerifier(
            name: KeyName(WitnessConversation.sigsum), kind: .ed25519,
            publicKey: #require(Hex.decode(WitnessConversation.sigsumKey)))
        let witness = Witness(
            signer: signer,
            known: [
                .log(try LogOrigin(WitnessConversation.sigsum), keys: [key]),
                .log(try LogOrigin("go.sum database tree"), keys: [try NoteVerifier(text: WitnessConversation.goKey)]),
            ])
        var store = MemoryStore()
        let exchanges = try WitnessConversation.exchanges(file)
        #expect(exchanges.count == count)
        for (index, exchange) in exchanges.enumerated() {
            let answer = try witness.addCheckpoint(
                exchange.body, timeSeconds: 1_777_900_000 + Int64(index), store: &store)
            // The recorded witness answers 403 for a log that it does not know. C2SP tlog-witness says 404.
            let expected = exchange.expected == "unknown log" ? 404 : exchange.status
            #expect(answer.status == expected, "request \(index + 1): \(answer)")
            #expect(exchange.isWhole ? answer.body == exchange.expected : answer.body.contains(exchange.expected))
            #expect(try WitnessAnswer(status: answer.status, body: Array(answer.body.utf8)).status == answer.status)
            guard case .cosigned(let signatures) = answer else { continue }
            var note = try WitnessRequest(parsing: exchange.body).note
            for signature in signatures { note.add(signature) }
            #expect(
                try note.verify(with: [signer.verifier])
                    == [VerifiedSignature(key: signer.verifier, timeSeconds: 1_777_900_000 + Int64(index))])
            #expect(try WitnessRequest(parsing: exchange.body).bytes == exchange.body)
        }
        #expect(store.states.mapValues(\.size) == [try LogOrigin(log): size])
    }
}

@Suite struct WitnessTests {
    private let scene: Scene
    private let witness: Witness
    private var log: PersonLog

    init() throws {
        scene = try Scene()
        witness = Witness(
            signer: try Scene.witness("anna", seed: 3),
            known: [.house(prefix: "\(Scene.house)/p/", publicKey: scene.signer.verifier.publicKey, logsMax: 2)])
        log = PersonLog(origin: scene.origin)
        for version in 1...20 {
            _ = log.append(
                recordedAtMs: Int64(version), salt: scene.salt(Int64(version)), content: [UInt8(version)], scene.sha256)
        }
    }

    private func request(_ old: Int64, _ new: Int64) throws -> [UInt8] {
        WitnessRequest(
            oldSize: old, proof: old > 0 ? try log.consistencyProof(from: old, to: new, scene.sha256) : [],
            note: try scene.note(log.checkpoint(atSize: new, scene.sha256))
        ).bytes
    }

    @Test func `a growing log is cosigned, and the same checkpoint again`() throws {
        var store = MemoryStore()
        for (old, new) in [(0, 0), (0, 3), (3, 3), (3, 4), (4, 20), (20, 20)] as [(Int64, Int64)] {
            let answer = try witness.addCheckpoint(request(old, new), timeSeconds: 5, store: &store)
            #expect(answer.status == 200, "\(old) \(new) \(answer)")
            #expect(store.states[scene.origin]?.size == new)
        }
        #expect(try witness.addCheckpoint(request(3, 20), timeSeconds: 5, store: &store) == .conflict(size: 20))
        #expect(try witness.addCheckpoint(request(0, 4), timeSeconds: 5, store: &store) == .conflict(size: 20))
    }

    /// The house shows the friend's machine another history than it showed before.
    @Test func `a fork is refused for ever`() throws {
        var store = MemoryStore()
        _ = try witness.addCheckpoint(request(0, 7), timeSeconds: 5, store: &store)
        let before = store.states
        var fork = PersonLog(origin: scene.origin)
        for version in 1...20 {
            _ = fork.append(
                recordedAtMs: Int64(version), salt: scene.salt(Int64(version)),
                content: [version == 5 ? 99 : UInt8(version)], scene.sha256)
        }
        let same = WitnessRequest(oldSize: 7, proof: [], note: try scene.note(fork.checkpoint(atSize: 7, scene.sha256)))
        #expect(try witness.addCheckpoint(same.bytes, timeSeconds: 6, store: &store) == .conflict(size: 7))
        let longer = WitnessRequest(
            oldSize: 7, proof: try fork.consistencyProof(from: 7, to: 20, scene.sha256),
            note: try scene.note(fork.checkpoint(scene.sha256)))
        #expect(try witness.addCheckpoint(longer.bytes, timeSeconds: 6, store: &store).status == 422)
        let shorter = WitnessRequest(
            oldSize: 7, proof: [], note: try scene.note(log.checkpoint(atSize: 6, scene.sha256)))
        #expect(try witness.addCheckpoint(shorter.bytes, timeSeconds: 6, store: &store).status == 400)
        #expect(store.states == before)
        #expect(try witness.addCheckpoint(request(7, 20), timeSeconds: 7, store: &store).status == 200)
    }

    @Test func `a wrong proof, key, origin or form has its status, and changes nothing`() throws {
        var store = MemoryStore()
        let good = try scene.note(log.checkpoint(scene.sha256))
        func status(_ request: WitnessRequest) throws -> Int {
            try witness.addCheckpoint(request.bytes, timeSeconds: 5, store: &store).status
        }
        let hash = scene.sha256.hash([])
        #expect(try status(WitnessRequest(oldSize: 0, proof: [hash], note: good)) == 422)
        #expect(try status(WitnessRequest(oldSize: 21, proof: [], note: good)) == 400)
        #expect(try status(WitnessRequest(oldSize: 5, proof: [], note: good)) == 409)
        let thief = try Scene(seed: 66)
        #expect(
            try status(WitnessRequest(oldSize: 0, proof: [], note: thief.note(log.checkpoint(scene.sha256)))) == 403)
        let empty = Checkpoint(origin: scene.origin, size: 0, root: scene.sha256.hash([1]))
        #expect(try status(WitnessRequest(oldSize: 0, proof: [], note: scene.note(empty))) == 422)
        let elsewhere = Checkpoint(origin: try LogOrigin("other.example/log"), size: 20, root: hash)
        #expect(try status(WitnessRequest(oldSize: 0, proof: [], note: scene.note(elsewhere))) == 404)
        for text in ["", "old 0\n", "old 0\n\n", "old x\n\no\n1\n", "old -1\n\no\n", "new 0\n\no\n", "old 00\n\no\n"] {
            let answer = try witness.addCheckpoint(Array(text.utf8), timeSeconds: 5, store: &store)
            #expect(answer.status == 400)
        }
        let tooMany = [Digest](repeating: hash, count: 64)
        #expect(try status(WitnessRequest(oldSize: 0, proof: tooMany, note: good)) == 400)
        #expect(store.states.isEmpty)
        #expect(try status(WitnessRequest(oldSize: 0, proof: [], note: good)) == 200)
    }

    @Test func `a house has so many logs at a witness, each with its own name`() throws {
        var store = MemoryStore()
        for (name, status) in [("a", 200), ("b", 200), ("c", 404), ("a", 200)] {
            let scene = try Scene(name)
            let checkpoint = Checkpoint(origin: scene.origin, size: 0, root: scene.sha256.hash([]))
            let request = WitnessRequest(oldSize: 0, proof: [], note: try scene.note(checkpoint))
            #expect(try witness.addCheckpoint(request.bytes, timeSeconds: 5, store: &store).status == status)
        }
    }

    @Test func `a request that was overtaken gets the new size, and a broken store cosigns nothing`() throws {
        var store = MemoryStore()
        let origin = scene.origin
        let other = WitnessedState(size: 9, root: scene.sha256.hash([]))
        store.race = { $0[origin] = other }
        #expect(try witness.addCheckpoint(request(0, 7), timeSeconds: 5, store: &store) == .conflict(size: 9))
        store.race = nil
        store.isBroken = true
        let body = try request(0, 7)
        #expect(throws: MemoryStore.Broken.self) {
            _ = try witness.addCheckpoint(body, timeSeconds: 5, store: &store)
        }
    }

    @Test func `answers that no witness gives are refused`() throws {
        for (status, body) in [
            (200, ""), (200, "— a AAAAAAAA"), (200, "hello\n"), (409, "x\n"), (409, "12"), (500, "x\n"), (302, ""),
            (200, String(repeating: "— a AAAAAAAA\n", count: 65)),
        ] {
            #expect(throws: TransparencyError.self) { try WitnessAnswer(status: status, body: Array(body.utf8)) }
        }
        #expect(try WitnessAnswer(status: 409, body: Array("35\n".utf8)) == .conflict(size: 35))
        #expect(try WitnessAnswer(status: 404, body: []) == .unknownLog)
    }
}
