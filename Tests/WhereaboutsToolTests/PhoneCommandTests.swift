import Foundation
import Glibc
import JSON
import TestProcesses
import TestSupport
import Testing

/// `whereabouts simulate`, which becomes another program, and `whereabouts push-stand-in`.
@Suite struct PhoneCommandTests {
    /// A program that has ended.
    private struct Ended {
        let exitCode: Int32
        let results: String
        let notes: String
    }

    private static func run(_ program: String, _ arguments: String...) throws -> Ended {
        let process = Process()
        let (results, notes) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        (process.standardOutput, process.standardError) = (results, notes)
        try process.runBounded()
        let bytes = try results.fileHandleForReading.readToEnd() ?? Data()
        let sentences = try notes.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Ended(
            exitCode: process.terminationStatus, results: String(decoding: bytes, as: UTF8.self),
            notes: String(decoding: sentences, as: UTF8.self))
    }

    @Test(.enabled(if: Repository.tool != nil, "The tool was not built."))
    func `simulate is the program beside the tool, with its options and exit codes`() throws {
        let tool = try #require(Repository.tool)
        let listed = try Self.run(tool, "simulate", "--fidelity")
        #expect(listed.exitCode == 0 && listed.results.contains("crossingDwellSeconds"))
        let bare = try Self.run(tool, "simulate")
        #expect(bare.exitCode == 2 && bare.notes.hasPrefix("whereabouts: Name one scenario"))
        let missing = try Self.run(tool, "simulate", "/nowhere/scenario.json", "--verbose")
        #expect(missing.exitCode == 3 && missing.notes.hasPrefix("whereabouts: /nowhere/scenario.json cannot be read"))
        // The tool itself explains the command.
        let help = try Self.run(tool, "simulate", "--help")
        #expect(help.exitCode == 0 && help.results.contains("SCENARIO.json"))
    }

    @Test(.enabled(if: Repository.tool != nil, "The tool was not built."))
    func `a tool without the program says where it looked, and one of a package finds it`() throws {
        let folder = TemporaryFolder()
        let tool = try #require(Repository.tool)
        let (bin, library) = (folder.path + "/bin", folder.path + "/lib/whereabouts")
        for path in [bin, library] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        try FileManager.default.linkItem(atPath: tool, toPath: bin + "/whereabouts")
        let lonely = try Self.run(bin + "/whereabouts", "simulate", "--fidelity")
        #expect(lonely.exitCode == 3 && lonely.results.isEmpty)
        #expect(lonely.notes.contains("\(bin) has no whereabouts-simulate") && lonely.notes.contains("install"))
        try FileManager.default.linkItem(atPath: tool + "-simulate", toPath: library + "/whereabouts-simulate")
        #expect(try Self.run(bin + "/whereabouts", "simulate", "--fidelity").exitCode == 0)
    }

    @Test(.enabled(if: Repository.tool != nil, "The tool was not built."))
    func `the stand-in says where it listens, until a signal`() throws {
        let folder = TemporaryFolder()
        let tool = try #require(Repository.tool)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: tool)
        process.arguments = ["push-stand-in", "--directory", folder.path, "--environment", "production"]
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try process.runBounded()
        defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
        let facts = try eventually("the settings of the stand-in") {
            (try? contents(ofFile: folder.path + "/stand-in.json")).flatMap { try? JSONDocument.parse($0).root }
        }
        #expect(facts["processID"]?.int == Int64(process.processIdentifier))
        #expect(facts["environment"]?.string == "production" && (facts["port"]?.int ?? 0) > 0)
        #expect(access(try #require(facts["caFile"]?.string), R_OK) == 0)
        kill(process.processIdentifier, SIGTERM)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 0)
    }

    @Test func `the stand-in serves this host only, and refuses what it cannot use`() {
        #expect(whereabouts("push-stand-in").exitCode == 2)
        #expect(whereabouts("push-stand-in", "--directory", "/tmp", "--port", "1").exitCode == 2)
        let elsewhere = whereabouts("push-stand-in", "--directory", "/tmp", "--listen", "0.0.0.0:2197")
        #expect(elsewhere.exitCode == 2 && elsewhere.notes.contains("127.0.0.1"))
        #expect(whereabouts("push-stand-in", "--directory", "/tmp", "--courier", "[::1]:0").exitCode == 2)
    }
}
