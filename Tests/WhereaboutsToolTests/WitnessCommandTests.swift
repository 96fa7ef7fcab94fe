import Foundation
import Glibc
import TestProcesses
import TestSupport
import Testing

@testable import HTTPServerTests
@testable import Transparency
@testable import WitnessServerTests

/// `whereabouts witness` as a friend runs it.
@Suite struct WitnessCommandTests {
    /// The built tool as a process, and its output so far.
    private final class Run {
        let process = Process()
        private let output: String

        init(_ arguments: [String], output: String) throws {
            self.output = output
            try write([UInt8](), to: output)
            process.executableURL = URL(fileURLWithPath: try #require(Repository.tool))
            process.arguments = arguments
            process.standardOutput = FileHandle(forWritingAtPath: output)
            process.standardError = FileHandle.nullDevice
            try process.runBounded()
        }

        deinit {
            if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        }

        /// The port, once the tool has printed it.
        func port() throws -> Int {
            try eventually("the witness's address") {
                try text().firstMatch(of: /127\.0\.0\.1:([0-9]+)\/add-checkpoint\n/).flatMap { Int($0.1) }
            }
        }

        func text() throws -> String { String(decoding: try contents(ofFile: output), as: UTF8.self) }

        func end(_ signal: Int32) -> Int32 {
            kill(process.processIdentifier, signal)
            process.waitUntilExit()
            return process.terminationStatus
        }
    }

    private func post(_ body: [UInt8], to port: Int) throws -> RawClient.Answer {
        let client = try #require(RawClient(port: port))
        client.sendCheckpoint(body)
        return try #require(client.receive())
    }

    @Test(.enabled(if: Repository.tool != nil, "The tool was not built."))
    func `a witness that is killed starts again with what it has cosigned`() throws {
        let (scene, other) = (try WitnessScene(), try WitnessScene("p7q1"))
        let arguments = [
            "witness", "--directory", scene.directory, "--listen", "127.0.0.1:0", "--name", "anna.example/w",
            "--log", try WitnessScene.key(), "--log", try WitnessScene.key("p7q1"),
        ]
        let first = try Run(arguments, output: scene.folder.file("first"))
        let port = try first.port()
        #expect(try post(scene.request(0, 7), to: port).status == 200)
        #expect(try post(other.request(0, 3), to: port).status == 200)
        let (exitCode, line, _) = whereabouts("witness", "--directory", scene.directory, "--key")
        #expect(exitCode == 0 && line.hasPrefix("witness anna.example/w anna.example/w+"))
        #expect(try first.text().hasSuffix("\n\n  \(line)\n"))
        let policy = "log \(try WitnessScene.key())\n\(line)quorum anna.example/w\n"
        #expect(try TrustPolicy(parsing: Array(policy.utf8)).witnesses.count == 1)
        #expect(first.end(SIGKILL) == SIGKILL)

        let second = try Run(arguments, output: scene.folder.file("second"))
        let answer = try post(scene.request(0, 7), to: second.port())
        #expect(answer.status == 409 && answer.body == "7\n")
        #expect(try post(scene.request(7, 20), to: second.port()).status == 200)
        #expect(second.end(SIGTERM) == 0)
    }

    @Test func `wrong words are refused with a sentence`() throws {
        let folder = TemporaryFolder()
        let directory = folder.file("witness")
        #expect(whereabouts("witness").notes == "whereabouts: \"witness\" needs --directory DIR.\n")
        let nonsense = whereabouts("witness", "--directory", directory, "--log", "nonsense")
        #expect(nonsense.exitCode == 2)
        #expect(nonsense.notes == "whereabouts: --log must be a public key NAME+HASH+BASE64 of a log.\n")
        #expect(names(in: folder.path) == [])
        #expect(whereabouts("witness", "--directory", directory, "--key", "--name", "anna.example/w").exitCode == 0)
        let renamed = whereabouts("witness", "--directory", directory, "--name", "ben")
        #expect(renamed.exitCode == 3)
        #expect(renamed.notes.hasSuffix("is named anna.example/w, and not ben.\n"))
        let open = whereabouts("witness", "--directory", directory, "--listen", "0.0.0.0:7380")
        #expect(open.exitCode == 3 && open.notes.contains("Other machines can reach 0.0.0.0"))
        #expect(whereabouts("help", "witness").results.contains("[--log VKEY]…"))
        #expect(whereabouts("witness", "--directory", directory, "--key", "--directory", "x").exitCode == 2)
    }
}
