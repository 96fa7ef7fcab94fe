/// A SHA-256 value. The pure half stores such values and never computes one.
package struct Hash256: Hashable, Sendable {
    /// The 32 bytes as four big-endian words.
    package let words: (UInt64, UInt64, UInt64, UInt64)

    package init(words: (UInt64, UInt64, UInt64, UInt64)) { self.words = words }

    /// `nil` unless there are 32 bytes.
    package init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 32 else { return nil }
        func word(_ index: Int) -> UInt64 {
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
        }
        words = (word(0), word(1), word(2), word(3))
    }

    /// `nil` unless there are 32 bytes.
    package init?(bytes: [UInt8]) {
        guard let value = bytes.withUnsafeBytes({ Hash256(bytes: $0) }) else { return nil }
        self = value
    }

    /// 32 bytes, most significant first.
    package var bytes: [UInt8] {
        withUnsafeBytes(
            of: (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian)
        ) { Array($0) }
    }

    package static func == (a: Hash256, b: Hash256) -> Bool { a.words == b.words }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.3)
    }
}
