import Geodesy
import Glibc
import Whereabouts

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
