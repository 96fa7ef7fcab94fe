import Cryptography
import Testing

@Suite struct ChaChaPolyTests {
    private static let sunscreen =
        "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be "
        + "it."

    /// RFC 8439, section 2.8.2.
    @Test func `the published message is sealed and opened as published`() throws {
        let key = SymmetricKey(bytes: Array(0x80...0x9f))
        let nonce = try #require(Hex.decode("070000004041424344454647"))
        let associated = try #require(Hex.decode("50515253c0c1c2c3c4c5c6c7"))
        let sealed = ChaChaPoly.seal(
            Array(Self.sunscreen.utf8), using: key, nonce: nonce, authenticating: associated)
        #expect(
            Hex.encode(sealed)
                == "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b"
                + "1a71de0a9e060b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc"
                + "3ff4def08e4b7a9de576d26586cec64b61161ae10b594f09e26a7e902ecbd0600691")
        let opened = try ChaChaPoly.open(sealed, using: key, nonce: nonce, authenticating: associated)
        #expect(opened == Array(Self.sunscreen.utf8))
    }

    @Test func `a change of any byte is noticed`() {
        let key = SymmetricKey.random()
        let nonce = randomBytes(12)
        let sealed = ChaChaPoly.seal([1, 2, 3], using: key, nonce: nonce, authenticating: [4])
        func isRefused(_ sealed: [UInt8], _ key: SymmetricKey, _ nonce: [UInt8], _ associated: [UInt8]) -> Bool {
            do throws(CryptographyError) {
                _ = try ChaChaPoly.open(sealed, using: key, nonce: nonce, authenticating: associated)
                return false
            } catch {
                return error == .authenticationFailed
            }
        }
        #expect(!isRefused(sealed, key, nonce, [4]))
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 0x10
            #expect(isRefused(changed, key, nonce, [4]))
        }
        for count in 0..<sealed.count { #expect(isRefused(Array(sealed[..<count]), key, nonce, [4])) }
        #expect(isRefused(sealed, .random(), nonce, [4]))
        #expect(isRefused(sealed, key, randomBytes(12), [4]))
        #expect(isRefused(sealed, key, randomBytes(11), [4]))
        #expect(isRefused(sealed, key, nonce, []))
    }

    @Test func `an empty message has a tag`() throws {
        let key = SymmetricKey.random()
        let sealed = ChaChaPoly.seal([], using: key, nonce: randomBytes(12), authenticating: [])
        #expect(sealed.count == 16)
    }
}
