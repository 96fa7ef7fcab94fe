/// SipHash-2-4 with 64 bits (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012): a keyed hash of short
/// inputs that reveals nothing about them without the key.
///
/// 64 bits are too few to authenticate a message against an attacker who can try often; they are enough to hide values
/// that an index contains. A value without state, so that threads share it; libcrypto's `EVP_MAC` needs a context for
/// each thread.
package struct SipHash: Sendable {
    private let key0, key1: UInt64

    /// - Parameter key: 16 bytes.
    package init(key: some Collection<UInt8>) {
        precondition(key.count == 16, "A key of SipHash has 16 bytes.")
        let bytes = Array(key)
        (key0, key1) = bytes.withUnsafeBytes {
            (
                UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)),
                UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }

    /// The hash of `bytes`.
    package func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var state = State(key0, key1)
        state.compress(bytes)
        return state.finish(bytes, length: bytes.count)
    }

    /// The hash of four words, each with its least significant byte first.
    package func hash(_ words: (UInt64, UInt64, UInt64, UInt64)) -> UInt64 {
        var state = State(key0, key1)
        state.compress(words.0)
        state.compress(words.1)
        state.compress(words.2)
        state.compress(words.3)
        return state.finish(UnsafeRawBufferPointer(start: nil, count: 0), length: 32)
    }

    /// The hash of two words, each with its least significant byte first, and `bytes` behind them.
    package func hash(prefix: (UInt64, UInt64), _ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var state = State(key0, key1)
        state.compress(prefix.0)
        state.compress(prefix.1)
        state.compress(bytes)
        return state.finish(bytes, length: 16 + bytes.count)
    }

    private struct State {
        private var v0, v1, v2, v3: UInt64

        init(_ key0: UInt64, _ key1: UInt64) {
            v0 = 0x736f_6d65_7073_6575 ^ key0
            v1 = 0x646f_7261_6e64_6f6d ^ key1
            v2 = 0x6c79_6765_6e65_7261 ^ key0
            v3 = 0x7465_6462_7974_6573 ^ key1
        }

        @inline(__always)
        private mutating func round() {
            v0 &+= v1
            v1 = v1 << 13 | v1 >> 51
            v1 ^= v0
            v0 = v0 << 32 | v0 >> 32
            v2 &+= v3
            v3 = v3 << 16 | v3 >> 48
            v3 ^= v2
            v0 &+= v3
            v3 = v3 << 21 | v3 >> 43
            v3 ^= v0
            v2 &+= v1
            v1 = v1 << 17 | v1 >> 47
            v1 ^= v2
            v2 = v2 << 32 | v2 >> 32
        }

        @inline(__always)
        mutating func compress(_ word: UInt64) {
            v3 ^= word
            round()
            round()
            v0 ^= word
        }

        /// The whole words of `bytes`.
        @inline(__always)
        mutating func compress(_ bytes: UnsafeRawBufferPointer) {
            for offset in stride(from: 0, to: bytes.count & ~7, by: 8) {
                compress(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            }
        }

        /// Takes the last bytes, fewer than a word.
        @inline(__always)
        mutating func finish(_ bytes: UnsafeRawBufferPointer, length: Int) -> UInt64 {
            var last = UInt64(truncatingIfNeeded: length) << 56
            for (shift, offset) in (bytes.count & ~7..<bytes.count).enumerated() {
                last |= UInt64(bytes[offset]) << UInt64(8 * shift)
            }
            compress(last)
            v2 ^= 0xFF
            for _ in 0..<4 { round() }
            return v0 ^ v1 ^ v2 ^ v3
        }
    }
}
