import Foundation
import Testing

@testable import QRCode

@Suite struct QRSymbolTests {
    private static let python = ProcessInfo.processInfo.environment["WHEREABOUTS_PYTHON"] ?? "python3"
    private static let isAvailable = run([python, "-c", "import zxingcpp, numpy"], input: "") != nil

    /// What the program prints; `nil` when it fails.
    private static func run(_ command: [String], input: String) -> String? {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command
        let (given, told) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput) = (given, told)
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        given.fileHandleForWriting.write(Data(input.utf8))
        given.fileHandleForWriting.closeFile()
        let output = told.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return process.terminationStatus == 0 ? String(decoding: output, as: UTF8.self) : nil
    }

    /// Read back by zxing-cpp from the picture that the terminal would show.
    @Test(
        .enabled(if: isAvailable, "WHEREABOUTS_PYTHON names no python with zxing-cpp and numpy"),
        arguments: [
            "a", "owntracks:///config?inline=eyJfdHlwZSI6ImNvbmZpZ3VyYXRpb24ifQ%3D%3D", "Straße 7, 東京",
            String(repeating: "0123456789abcdef", count: 40),
        ])
    func `a camera reads what was written`(text: String) throws {
        let script = #filePath.split(separator: "/").dropLast(2).joined(separator: "/") + "/Conformance/read_qr.py"
        let symbol = try #require(QRSymbol(text))
        let read = Self.run([Self.python, "/\(script)"], input: symbol.text(colored: false))
        #expect(read == text + "\n")
    }

    @Test func `a code has a light margin of four modules and equal lines`() throws {
        let symbol = try #require(QRSymbol("a"))
        // The smallest, version 1.
        #expect(symbol.width == 21)
        let lines = symbol.text(colored: false).split(separator: "\n")
        #expect(lines.count == (21 + 8 + 1) / 2 && lines.allSatisfy { $0.count == 29 })
        #expect(lines.prefix(2).allSatisfy { $0.allSatisfy { $0 == "█" } })
        #expect(symbol.text(colored: true).split(separator: "\n").allSatisfy { $0.hasSuffix("\u{1B}[0m") })
    }

    @Test func `there is none of nothing, and none of too much`() {
        #expect(QRSymbol("") == nil)
        #expect(QRSymbol(String(repeating: "a", count: 2953))?.width == 177)
        #expect(QRSymbol(String(repeating: "a", count: 2954)) == nil)
    }
}
