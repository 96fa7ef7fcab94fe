import TestSupport
import Testing

@testable import QRCode

@Suite struct QRSymbolTests {
    /// Read back by zxing-cpp from the picture that the terminal would show.
    @Test(
        .enabled(
            if: Foreign.hasPython(with: "zxingcpp, numpy"),
            "WHEREABOUTS_PYTHON names no python with zxing-cpp and numpy"),
        arguments: [
            "a", "owntracks:///config?inline=eyJfdHlwZSI6ImNvbmZpZ3VyYXRpb24ifQ%3D%3D", "Straße 7, 東京",
            String(repeating: "0123456789abcdef", count: 40),
        ])
    func `a camera reads what was written`(text: String) throws {
        let symbol = try #require(QRSymbol(text))
        let read = try Foreign.python(script: "read_qr.py", input: symbol.text(colored: false))
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
