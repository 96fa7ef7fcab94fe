import Glibc
import TestSupport
import Testing

/// A line of `Tests/Conformance/json.txt`.
struct ConformanceCase: Sendable, CustomTestStringConvertible {
    let line: Int
    let expectation: String
    let text: [UInt8]

    var testDescription: String { "line \(line): \(expectation)" }

    static let all: [ConformanceCase] = {
        guard let table = try? contents(ofFile: Repository.conformance("json.txt")) else { return [] }
        let lines = table.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return lines.enumerated().compactMap { index, line in
            guard let tab = line.firstIndex(of: UInt8(ascii: "\t")), line.first != UInt8(ascii: "#") else { return nil }
            return ConformanceCase(
                line: index + 1, expectation: String(decoding: line[..<tab], as: UTF8.self),
                text: expand(line[(tab + 1)...]))
        }
    }()

    /// Resolves `<EF>` and `<n*text>`.
    private static func expand(_ line: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var rest = line
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "<"), let end = rest.firstIndex(of: UInt8(ascii: ">")) else {
                result.append(byte)
                continue
            }
            let inside = rest[..<end]
            rest = rest[(end + 1)...]
            if let star = inside.firstIndex(of: UInt8(ascii: "*")) {
                let times = Int(String(decoding: inside[..<star], as: UTF8.self)) ?? 0
                for _ in 0..<times { result.append(contentsOf: inside[(star + 1)...]) }
            } else if let value = UInt8(String(decoding: inside, as: UTF8.self), radix: 16) {
                result.append(value)
            }
        }
        return result
    }
}
