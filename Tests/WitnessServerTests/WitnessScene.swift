import Cryptography
import Synchronization
import TestSupport
import Testing

@testable import HTTPServerTests
@testable import Transparency
@testable import TransparencyTests
@testable import WitnessServer

/// A folder of a witness, a log of 20 entries that it may know, and a fork of that log after entry 4.
final class WitnessScene: Sendable {
    let folder = TemporaryFolder()
    let log: PersonLog
    let fork: PersonLog
    /// The sentences for the operator.
    let reports = Mutex<[String]>([])

    var directory: String { folder.file("witness") }

    init(_ opaque: String = "k2m9") throws {
        let scene = try Scene(opaque)
        func log(changing changed: Int64?) -> PersonLog {
            var log = PersonLog(origin: scene.origin)
            for version in 1...20 as ClosedRange<Int64> {
                let content = [version == changed ? 99 : UInt8(version)]
                _ = log.append(recordedAtMs: version, salt: scene.salt(version), content: content, scene.sha256)
            }
            return log
        }
        self.log = log(changing: nil)
        fork = log(changing: 5)
    }

    /// A server that knows these logs beside those of its file.
    func serve(
        _ logs: [String], name: String? = "anna.example/w",
        change: (inout CosigningServer.Configuration) -> Void = { _ in }
    ) throws -> CosigningServer {
        var configuration = CosigningServer.Configuration(directory: directory)
        configuration.logs = try logs.map { try KnownLog(text: $0) }
        configuration.name = try name.map { try KeyName($0) }
        configuration.clock = { 1_777_900_000 }
        configuration.report = { sentence in self.reports.withLock { $0.append(sentence) } }
        change(&configuration)
        return try CosigningServer(configuration)
    }

    /// The public key of the log of ``Scene``.
    static func key(_ opaque: String = "k2m9") throws -> String { try Scene(opaque).signer.verifier.text }

    /// The request to go from one size of a log to another.
    static func request(_ old: Int64, _ new: Int64, of log: PersonLog) throws -> [UInt8] {
        let scene = try Scene(String(log.origin.text.split(separator: "/").last ?? ""))
        let proof = old > 0 && old < new ? try log.consistencyProof(from: old, to: new, scene.sha256) : []
        let note = try scene.note(log.checkpoint(atSize: new, scene.sha256))
        return WitnessRequest(oldSize: old, proof: proof, note: note).bytes
    }

    func request(_ old: Int64, _ new: Int64) throws -> [UInt8] { try Self.request(old, new, of: log) }
}

extension CosigningServer {
    /// The answer to one request on a new connection.
    func post(_ body: [UInt8]) throws -> RawClient.Answer {
        let client = try #require(RawClient(port: port))
        client.sendCheckpoint(body)
        return try #require(client.receive())
    }
}

extension RawClient {
    func sendCheckpoint(_ body: [UInt8]) {
        send("POST /add-checkpoint HTTP/1.1\r\nHost: w\r\nContent-Length: \(body.count)\r\n\r\n")
        send(body)
    }
}
