// What rows of the saved standing are made of.

extension Standing {
    /// The identifiers that stand one after the other in `bytes`.
    static func identifiers(_ bytes: [UInt8]) throws(CBORError) -> [Identifier128] {
        guard bytes.count % 16 == 0 else { throw .unexpected }
        return stride(from: 0, to: bytes.count, by: 16).compactMap { start in
            bytes[start..<start + 16].withUnsafeBytes { Identifier128(bytes: $0) }
        }
    }
}
