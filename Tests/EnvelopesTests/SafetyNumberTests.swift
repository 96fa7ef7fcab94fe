import Cryptography
import Envelopes
import TestSupport
import Testing
import Whereabouts

@Suite struct SafetyNumberTests {
    /// Computed with Python's hashlib from the rule in the type's description.
    @Test func `a safety number is sixty digits of SHA-512`() {
        let (low, high) = (Array(0..<32 as Range<UInt8>), Array(32..<64 as Range<UInt8>))
        let expected = "45248 87189 72352 98966 12047 73752 52079 55987 01363 02610 02308 43996"
        #expect(SafetyNumber.groups(of: low, and: high)?.joined(separator: " ") == expected)
    }

    @Test func `both people see the same digits, and others see other digits`() throws {
        var random = SplitMix(51)
        for _ in 0..<200 {
            let (anna, ben) = (random.bytes(32), random.bytes(32))
            let digits = try #require(SafetyNumber.groups(of: anna, and: ben))
            #expect(digits.count == 12)
            #expect(digits.allSatisfy { $0.utf8.count == 5 && Int($0) != nil })
            #expect(SafetyNumber.groups(of: ben, and: anna) == digits)
            var changed = ben
            changed[Int.random(in: 0..<32, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            #expect(SafetyNumber.groups(of: anna, and: changed) != digits)
        }
    }

    @Test func `a person has none with themselves, and there is none for what is no key`() {
        let key = Ed25519PrivateKey().publicKey
        #expect(SafetyNumber.groups(of: key, and: key) == nil)
        #expect(SafetyNumber.groups(of: key, and: []) == nil)
        #expect(SafetyNumber.groups(of: Array(key.dropLast()), and: key) == nil)
    }

    /// The first 16 bytes of the SHA-256 of 32 zeros, as `sha256sum` prints them.
    @Test func `a key's name is the beginning of its hash`() throws {
        let zero = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: Array(repeating: 0, count: 32))
        #expect(RecipientKeyID(of: zero).description == "66687aadf862bd776c8fc18b8e9f8e20")
    }
}
