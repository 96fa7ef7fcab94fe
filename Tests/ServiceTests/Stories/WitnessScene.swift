import Cryptography
import JSON
import Posting
import TestSupport
import Testing
import Threading
import Whereabouts
import WitnessServer

@testable import Answers
@testable import Log
@testable import Reactors
@testable import Service
@testable import Transparency

/// A house with one person and its witnesses.
final class WitnessedHouse: Sendable {
    let folder = TemporaryFolder()
    let house: ServiceUnderTest
    let walker: String

    static let name = "anna.example/w"

    /// A house with one witness.
    convenience init(url: String, key: NoteVerifier) throws { try self.init([(url, key)]) }

    /// - Parameter witnesses: their addresses and keys.
    init(_ witnesses: [(url: String, key: NoteVerifier)]) throws {
        let all = try witnesses.map { witness in
            ServiceConfiguration.Witness(
                url: try #require(PostURL(witness.url + "/add-checkpoint")), key: witness.key)
        }
        house = try ServiceUnderTest { $0.witnesses = all }
        walker = try house.addPerson("walker")
    }

    /// A key for a witness that the test plays.
    static func signer() throws -> NoteSigner {
        try NoteSigner.make(name: KeyName(name), kind: .cosignature).signer
    }

    /// The real witness.
    static func serve(_ directory: String, port: Int = 0) throws -> CosigningServer {
        var configuration = CosigningServer.Configuration(directory: directory)
        configuration.port = port
        configuration.name = try KeyName(name)
        configuration.clock = { 1_777_900_000 }
        return try CosigningServer(configuration)
    }

    /// The answer to the person's request for the checkpoint of their log.
    func checkpoint(since: Int64? = nil) throws -> Answer {
        let answer = house.send(
            "GET", "/v1/people/walker/checkpoint" + (since.map { "?since=\($0)" } ?? ""), as: walker)
        try #require(answer.status == 200, "\(answer.text)")
        return answer
    }

    /// The checkpoint of the person's log.
    func note() throws -> SignedNote {
        try SignedNote(parsing: Array(try #require(checkpoint()["checkpoint"]?.string).utf8))
    }

    /// The key of the person's log.
    func key() throws -> String { try #require(checkpoint()["key"]?.string) }

    /// The file of the person's proof.
    func proof() throws -> PersonProof {
        let answer = house.send("GET", "/v1/people/walker/proof", as: walker)
        try #require(answer.status == 200, "\(answer.text)")
        return try PersonProof(parsing: answer.body)
    }

    /// The verdict of the script on a proof, by a policy that asks for the witness.
    func verify(_ proof: PersonProof, _ witness: NoteVerifier) throws -> String {
        try write(proof.bytes, to: folder.file("proof"))
        let policy = "log \(try key())\nwitness anna \(witness.text)\nquorum anna\n"
        return try Foreign.python(
            path: "\(Repository.root)/scripts/verify_proof.py",
            [folder.file("proof"), "--policy", folder.write(policy, to: "policy")])
    }

    /// The number of logs that a witness refuses as another history, as the operator's metrics say.
    func contested() throws -> Int {
        let metrics = house.manage("GET", "/metrics").text
        let line = try #require(
            metrics.split(separator: "\n").first { $0.hasPrefix("whereabouts_witness_contested_logs ") })
        return try #require(Int(line.split(separator: " ")[1]))
    }

    /// A log with the origin of the person's, other leaves, and the house's signature.
    func forged(entries: Int) throws -> (log: PersonLog, note: SignedNote) {
        let service = house.service
        let person = try #require(
            service.log.withStanding { standing in Handle("walker").flatMap { standing.person($0) } })
        let seal = HouseSeal(
            publicURL: nil, log: service.log.id, epoch: service.log.epoch, mark: nil,
            under: try service.directory.keyEncryptionKey())
        let origin = seal.origin(under: try #require(try service.log.proofKey(of: person)))
        let sha256 = SHA256()
        let leaves = (0..<entries).map { sha256.hash([UInt8($0)]) }
        let log = PersonLog(origin: origin, leaves: leaves, sha256)
        return (log, try log.checkpoint(sha256).signed(by: seal.signer(of: origin)))
    }
}

extension CosigningServer {
    /// Sends it a checkpoint as the first of a log, without the house.
    func add(_ note: SignedNote) throws -> Answer {
        let body = String(decoding: WitnessRequest(oldSize: 0, proof: [], note: note).bytes, as: UTF8.self)
        return try SocketClient(port: port).send("POST", "/add-checkpoint", as: nil, body)
    }
}
