import Cryptography
import Testing

@Suite struct AES256BlockTests {
    /// FIPS 197, appendix C.3.
    @Test func `the standard's example block is encrypted and decrypted`() throws {
        let block = AES256Block(key: SymmetricKey(bytes: Array(0..<32)))
        let plain = try #require(Hex.decode("00112233445566778899aabbccddeeff"))
        let sealed = block.encrypt(plain)
        #expect(Hex.encode(sealed) == "8ea2b7ca516745bfeafc49904b496089")
        #expect(block.decrypt(sealed) == plain)
        // A block does not depend on the one before.
        #expect(block.encrypt(plain) == sealed)
    }
}
