/// A SHA-256 digest: 32 bytes, held as four words so that it is compared and hashed without an allocation.
package struct Digest: Hashable, Sendable, CustomStringConvertible {
    /// How many bytes a digest has.
    package static var byteCount: Int { 32 }

    private let word0, word1, word2, word3: UInt64

    /// The digest whose bytes are those of `words`, each word with its most significant byte first.
    package init(words: (UInt64, UInt64, UInt64, UInt64)) {
        (word0, word1, word2, word3) = words
    }

    /// The digest with these bytes; `nil` unless there are 32.
    package init?(bytes: some Collection<UInt8>) {
        let digest = withContiguousBytes(bytes) { Digest(bytes: UnsafeRawBufferPointer($0)) }
        guard let digest else { return nil }
        self = digest
    }

    /// The digest with these bytes; `nil` unless there are 32.
    package init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.byteCount else { return nil }
        self.init {
            for index in 0..<Self.byteCount { $0[index] = bytes[index] }
        }
    }

    /// The digest that `fill` writes: 32 bytes at the address it gets.
    @inline(__always)
    init(filledBy fill: (UnsafeMutablePointer<UInt8>) -> Void) {
        var raw: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        withUnsafeMutableBytes(of: &raw) { bytes in
            guard let start = bytes.baseAddress else { return }
            fill(start.assumingMemoryBound(to: UInt8.self))
        }
        self.init(
            words: (
                UInt64(bigEndian: raw.0), UInt64(bigEndian: raw.1), UInt64(bigEndian: raw.2), UInt64(bigEndian: raw.3)
            ))
    }

    /// The four words, each with its most significant byte first.
    package var words: (UInt64, UInt64, UInt64, UInt64) { (word0, word1, word2, word3) }

    /// The 32 bytes.
    package var bytes: [UInt8] { withBytes { [UInt8]($0) } }

    /// 64 lower-case hexadecimal digits.
    package var hex: String { withBytes { Hex.encode($0) } }

    package var description: String { hex }

    /// Lends the 32 bytes; they are dead after `body`.
    @inline(__always)
    package func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        let raw = (word0.bigEndian, word1.bigEndian, word2.bigEndian, word3.bigEndian)
        return try withUnsafeBytes(of: raw, body)
    }
}
