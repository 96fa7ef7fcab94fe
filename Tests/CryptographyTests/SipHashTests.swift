import Cryptography
import Testing

@Suite struct SipHashTests {
    private static let key = [UInt8](0..<16)

    /// The first vectors of `vectors.h` of the authors' reference implementation, least significant byte first: the hash of
    /// the bytes 0, 1, 2 … of each length, under the key 0, 1, 2 … 15.
    private static let vectors = [
        "310e0edd47db6f72", "fd67dc93c539f874", "5a4fa9d909806c0d", "2d7efbd796666785", "b7877127e09427cf",
        "8da699cd64557618", "cee3fe586e46c9cb", "37d1018bf50002ab", "6224939a79f5f593", "b0e4a90bdf82009e",
        "f3b9dd94c5bb5d7a", "a7ad6b22462fb3f4", "fbe50e86bc8f1e75", "903d84c02756ea14", "eef27a8e90ca23f7",
        "e545be4961ca29a1",
    ]

    @Test func `published inputs have their published hashes`() {
        for (length, expected) in Self.vectors.enumerated() {
            let hash = [UInt8](0..<UInt8(length)).withUnsafeBytes { SipHash(key: Self.key).hash($0) }
            #expect(withUnsafeBytes(of: hash.littleEndian) { Hex.encode($0) } == expected, "\(length) bytes")
        }
    }

    /// Said by `openssl mac -macopt hexkey:000102…0f -macopt size:8 -in FILE SIPHASH` of OpenSSL 3.0.
    @Test func `thirty-two bytes hash alike as bytes, as words and with a prefix`() {
        let bytes = [UInt8](0..<32)
        let siphash = SipHash(key: Self.key)
        let words: [UInt64] = bytes.withUnsafeBytes { bytes in
            (0..<4).map { UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8 * $0, as: UInt64.self)) }
        }
        let whole = bytes.withUnsafeBytes { siphash.hash($0) }
        #expect(withUnsafeBytes(of: whole.littleEndian) { Hex.encode($0) } == "ce7cf2722f512771")
        #expect(siphash.hash((words[0], words[1], words[2], words[3])) == whole)
        let prefixed = bytes[16...].withUnsafeBytes { siphash.hash(prefix: (words[0], words[1]), $0) }
        #expect(prefixed == whole)
    }
}
