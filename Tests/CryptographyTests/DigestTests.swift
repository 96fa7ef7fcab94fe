import Cryptography
import Testing

@Suite struct DigestTests {
    @Test func `words hold the bytes with the most significant first`() throws {
        let bytes = Array(UInt8(0)..<32)
        let digest = try #require(Digest(bytes: bytes))
        #expect(digest.words.0 == 0x00_01_02_03_04_05_06_07)
        #expect(digest.words.3 == 0x18_19_1A_1B_1C_1D_1E_1F)
        #expect(digest.bytes == bytes)
        #expect(digest.hex == "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f")
        #expect(Digest(words: digest.words) == digest)
        #expect(digest.withBytes { [UInt8]($0) } == bytes)
    }

    @Test(arguments: [0, 31, 33]) func `only 32 bytes are a digest`(count: Int) {
        #expect(Digest(bytes: Array(repeating: 7, count: count)) == nil)
    }

    @Test func `a change of any bit makes another digest`() throws {
        let zero = try #require(Digest(bytes: Array(repeating: 0, count: 32)))
        var all: Set<Digest> = [zero]
        for bit in 0..<256 {
            var bytes = zero.bytes
            bytes[bit / 8] ^= 1 << (bit % 8)
            all.insert(try #require(Digest(bytes: bytes)))
        }
        #expect(all.count == 257)
    }
}
