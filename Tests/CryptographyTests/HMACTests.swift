import Cryptography
import Testing

@Suite struct HMACTests {
    /// RFC 4231, test cases 1 to 4, 6 and 7 (case 5 is of a truncated output).
    static let vectors: [(key: [UInt8], message: [UInt8], mac: String)] = [
        (
            Array(repeating: 0x0B, count: 20), Array("Hi There".utf8),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            Array(repeating: 0xAA, count: 20), Array(repeating: 0xDD, count: 50),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
        ),
        (
            Array(1...25), Array(repeating: 0xCD, count: 50),
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
        ),
        (
            Array(repeating: 0xAA, count: 131), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
        (
            Array(repeating: 0xAA, count: 131),
            Array(
                """
                This is a test using a larger than block-size key and a larger than block-size data. \
                The key needs to be hashed before being used by the HMAC algorithm.
                """.utf8),
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
        ),
    ]

    @Test func `published messages have their published codes`() {
        for (key, message, mac) in Self.vectors {
            #expect(hmacSHA256(key: key, message: message).hex == mac)
        }
    }

    /// RFC 2104 fills a short key with zero bytes, so that no key and one zero byte are the same.
    @Test func `an empty key is a key of zeros`() {
        let message = Array("message".utf8)
        #expect(hmacSHA256(key: [], message: message) == hmacSHA256(key: [0], message: message))
        #expect(hmacSHA256(key: [0], message: message) != hmacSHA256(key: [1], message: message))
    }

    @Test func `threads do not disturb one another`() async {
        let signingKey = Ed25519PrivateKey()
        let signature = signingKey.sign([1, 2, 3])
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<200).allSatisfy { _ in
                        Self.vectors.allSatisfy { hmacSHA256(key: $0.key, message: $0.message).hex == $0.mac }
                            && signingKey.sign([1, 2, 3]) == signature
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
