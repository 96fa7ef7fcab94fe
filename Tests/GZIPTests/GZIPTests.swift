import Foundation
import Testing

@testable import GZIP

/// Judged by gzip itself.
@Suite struct GZIPTests {
    private func unpacked(_ bytes: [UInt8]) throws -> [UInt8] {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).gz")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(bytes).write(to: file)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["gzip", "--decompress", "--stdout", file.path]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return [UInt8](data)
    }

    @Test func `gzip gets back what was packed`() throws {
        var random = SystemRandomNumberGenerator()
        for count in [0, 1, 1000, 300_000] {
            let noise = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            let text = Array(
                repeatElement(Array(#"{"latitude":48.2,"longitude":16.3},"#.utf8), count: count / 30).joined())
            for bytes in [noise, text] {
                let packed = try #require(gzipped(bytes))
                #expect(try unpacked(packed) == bytes)
                if bytes.count > 10_000, bytes == text { #expect(packed.count < bytes.count / 20) }
            }
        }
    }
}
