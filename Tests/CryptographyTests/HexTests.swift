import Cryptography
import Testing

@Suite struct HexTests {
    @Test func `bytes are two digits each`() {
        #expect(Hex.encode([0x00, 0x0F, 0xA5, 0xFF]) == "000fa5ff")
        #expect(Hex.encode([UInt8]()) == "")
        #expect(Hex.decode("000fA5Ff") == [0x00, 0x0F, 0xA5, 0xFF])
        #expect(Hex.decode("") == [])
    }

    @Test(arguments: ["0", "0g", "0x00", " 00", "00 ", "é0", "00\n", "٠٠"])
    func `anything but pairs of digits is refused`(text: String) {
        #expect(Hex.decode(text) == nil)
    }
}
