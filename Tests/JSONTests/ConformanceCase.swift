import Glibc
import Testing

/// A line of `Tests/Conformance/json.txt`.
struct ConformanceCase: Sendable, CustomTestStringConvertible {
    let line: Int
    let expectation: String
    let text: [UInt8]

    var testDescription: String { "line \(line): \(expectation)" }

    static let all: [ConformanceCase] = {
        let path = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
        let lines = contents(ofFile: "/\(path)/Conformance/json.txt").split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
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

    static func contents(ofFile path: String) -> [UInt8] {
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        var result: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while case let count = read(descriptor, &buffer, buffer.count), count > 0 {
            result.append(contentsOf: buffer[..<count])
        }
        return result
    }
}

/// The generator of Steele, Lea and Flood (2014), for damage that is the same in every run.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
