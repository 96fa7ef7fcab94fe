import Cryptography
import Testing

@Suite struct RandomTests {
    @Test func `random bytes come in any number`() {
        for count in [0, 1, 12, 32, 5000] {
            #expect(randomBytes(count).count == count)
        }
        // By chance, a byte value is missing from 5,000 bytes once in a million runs.
        #expect(Set(randomBytes(5000)).count == 256)
    }

    @Test func `nonces do not come twice, across refills`() {
        var source = NonceSource()
        var seen: Set<[UInt8]> = []
        for _ in 0..<1000 {
            let nonce = source.withNext { [UInt8]($0) }
            #expect(nonce.count == 12)
            seen.insert(nonce)
        }
        for _ in 0..<1000 {
            let (low, high) = source.next()
            seen.insert(withUnsafeBytes(of: low) { [UInt8]($0) } + withUnsafeBytes(of: high) { [UInt8]($0) })
        }
        #expect(seen.count == 2000)
    }

    @Test func `random keys differ and keep their bytes to themselves`() {
        let (a, b) = (SymmetricKey.random(), SymmetricKey.random())
        #expect(a.withBytes { [UInt8]($0) } != b.withBytes { [UInt8]($0) })
        let key = SymmetricKey(bytes: Array(repeating: 0x5A, count: 32))
        #expect(key.withBytes { [UInt8]($0) } == Array(repeating: 0x5A, count: 32))
        var text = ""
        dump(key, to: &text)
        #expect(!text.lowercased().contains("5a5a5a") && !text.contains("90, 90"))
    }

    @Test func `equal bytes are equal, others are not`() {
        let secret = Array(UInt8(1)...32)
        #expect(constantTimeEqual(secret, secret))
        #expect(constantTimeEqual([], []))
        #expect(!constantTimeEqual(secret, Array(secret.dropLast())))
        #expect(!constantTimeEqual(Array(secret.dropLast()), secret))
        #expect(!constantTimeEqual(secret, []))
        #expect(!constantTimeEqual([], secret))
        for index in secret.indices {
            var other = secret
            other[index] ^= 0x80
            #expect(!constantTimeEqual(secret, other))
        }
    }
}
