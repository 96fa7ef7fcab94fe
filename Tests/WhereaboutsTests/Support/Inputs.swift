import Geodesy
import Glibc
import Whereabouts

/// SplitMix64 (Steele, Lea and Flood 2014, DOI 10.1145/2714064.2660195): the same numbers on every run.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// Lower-case hexadecimal digits.
func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
}

/// The bytes of hexadecimal digits; `nil` when they are none.
func bytes(hex text: some StringProtocol) -> [UInt8]? {
    let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    guard digits.count == text.utf8.count, digits.count % 2 == 0 else { return nil }
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

/// The lines of a table under `Tests/Conformance`, without comments and empty ones.
func conformanceLines(_ name: String, from file: String = #filePath) throws -> [Substring] {
    var folder = file.split(separator: "/")
    while folder.last != "Tests" { folder.removeLast() }
    let path = "/" + folder.joined(separator: "/") + "/Conformance/" + name
    let descriptor = try opened(path)
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = read(descriptor, &buffer, buffer.count)
        if count <= 0 { break }
        bytes.append(contentsOf: buffer[..<count])
    }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
}

private func opened(_ path: String) throws -> Int32 {
    let descriptor = open(path, O_RDONLY)
    guard descriptor >= 0 else { throw MissingTable(path: path) }
    return descriptor
}

struct MissingTable: Error { let path: String }

extension CBORValue {
    /// The item that `bytes` are, all of them.
    static func read(_ bytes: [UInt8]) throws(CBORError) -> CBORValue {
        let result: Result<CBORValue, CBORError> = bytes.withUnsafeBytes { bytes in
            var reader = CBORReader(bytes)
            do throws(CBORError) {
                let value = try reader.value()
                try reader.end()
                return .success(value)
            } catch { return .failure(error) }
        }
        return try result.get()
    }

    var encoded: [UInt8] {
        var writer = CBORWriter()
        write(to: &writer)
        return writer.bytes
    }
}
