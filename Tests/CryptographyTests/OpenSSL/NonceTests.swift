import Cryptography
import Testing

@Suite struct NonceTests {
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
}

@Suite struct ConstantTimeTests {
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
