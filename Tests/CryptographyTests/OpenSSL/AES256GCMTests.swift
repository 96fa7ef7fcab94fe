import Cryptography
import Testing

@Suite struct AES256GCMTests {
    struct Vector: Sendable {
        let key, nonce, plaintext, associated, sealed: [UInt8]

        init(_ key: String, _ nonce: String, _ plaintext: String, _ associated: String, _ sealed: String) throws {
            self.key = try #require(Hex.decode(key))
            self.nonce = try #require(Hex.decode(nonce))
            self.plaintext = try #require(Hex.decode(plaintext))
            self.associated = try #require(Hex.decode(associated))
            self.sealed = try #require(Hex.decode(sealed))
        }
    }

    /// Test cases 13 to 16 of "The Galois/Counter Mode of Operation" (McGrew and Viega, submission to NIST), appendix B.
    static func vectors() throws -> [Vector] {
        let zeros = String(repeating: "0", count: 64)
        let key = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"
        let plaintext =
            "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
            + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255"
        let ciphertext =
            "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
            + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad"
        return [
            try Vector(zeros, "000000000000000000000000", "", "", "530f8afbc74536b9a963b4f1c4cb738b"),
            try Vector(
                zeros, "000000000000000000000000", "00000000000000000000000000000000", "",
                "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"),
            try Vector(
                key, "cafebabefacedbaddecaf888", plaintext, "", ciphertext + "b094dac5d93471bdec1a502270e3cc6c"),
            try Vector(
                key, "cafebabefacedbaddecaf888", String(plaintext.dropLast(8)),
                "feedfacedeadbeeffeedfacedeadbeefabaddad2",
                ciphertext.dropLast(8) + "76fc6ece0f4e1768cddf8853bb2d551b"),
        ]
    }

    /// The forms that this processor can run.
    static let forms = AES256GCM.hasAESInstructions ? [true, false] : [false]

    @Test(arguments: forms) func `published messages are sealed as published`(usesAESInstructions: Bool) throws {
        let cipher = AES256GCM(usesAESInstructions: usesAESInstructions)
        for vector in try Self.vectors() {
            var output: [UInt8] = [1, 2, 3]
            cipher.seal(vector.plaintext, SymmetricKey(bytes: vector.key), vector.nonce, vector.associated, &output)
            #expect(output == [1, 2, 3] + vector.sealed)
        }
    }

    @Test(arguments: forms) func `published messages are opened`(usesAESInstructions: Bool) throws {
        let cipher = AES256GCM(usesAESInstructions: usesAESInstructions)
        for vector in try Self.vectors() {
            var output: [UInt8] = [1, 2, 3]
            try cipher.open(vector.sealed, SymmetricKey(bytes: vector.key), vector.nonce, vector.associated, &output)
            #expect(output == vector.plaintext)
        }
    }

    @Test(arguments: forms) func `a message is sealed in place and opened into a buffer`(usesAESInstructions: Bool)
        throws
    {
        let cipher = AES256GCM(usesAESInstructions: usesAESInstructions)
        let buffer = PlaintextBuffer()
        for vector in try Self.vectors() {
            let key = SymmetricKey(bytes: vector.key)
            var sealed = [UInt8](repeating: 0, count: vector.plaintext.count + AES256GCM.tagByteCount)
            try vector.associated.withUnsafeBytes { associated in
                try vector.nonce.withUnsafeBytes { nonce in
                    vector.plaintext.withUnsafeBytes { plaintext in
                        sealed.withUnsafeMutableBytes {
                            cipher.seal(plaintext, key: key, nonce: nonce, associated: associated, into: $0)
                        }
                    }
                    #expect(sealed == vector.sealed)
                    let opened = try sealed.withUnsafeBytes {
                        Array(try cipher.open($0, key: key, nonce: nonce, associated: associated, into: buffer))
                    }
                    #expect(opened == vector.plaintext)
                    sealed[sealed.count - 1] ^= 1
                    #expect(throws: CryptographyError.authenticationFailed) {
                        _ = try sealed.withUnsafeBytes {
                            try cipher.open($0, key: key, nonce: nonce, associated: associated, into: buffer)
                        }
                    }
                }
            }
        }
    }

    @Test(arguments: forms) func `a change of any bit is noticed, and nothing is given out`(usesAESInstructions: Bool)
        throws
    {
        let cipher = AES256GCM(usesAESInstructions: usesAESInstructions)
        let vector = try Self.vectors()[3]
        let key = SymmetricKey(bytes: vector.key)
        var output: [UInt8] = []

        func expectRefusal(_ sealed: [UInt8], _ key: SymmetricKey, _ nonce: [UInt8], _ associated: [UInt8]) {
            output = [9]
            #expect(throws: CryptographyError.authenticationFailed) {
                try cipher.open(sealed, key, nonce, associated, &output)
            }
            #expect(output == [])
        }
        for sealed in oneBitOff(vector.sealed) { expectRefusal(sealed, key, vector.nonce, vector.associated) }
        for nonce in oneBitOff(vector.nonce) { expectRefusal(vector.sealed, key, nonce, vector.associated) }
        for associated in oneBitOff(vector.associated) { expectRefusal(vector.sealed, key, vector.nonce, associated) }
        for bytes in oneBitOff(vector.key) {
            expectRefusal(vector.sealed, SymmetricKey(bytes: bytes), vector.nonce, vector.associated)
        }
        for count in 0..<vector.sealed.count {
            expectRefusal(Array(vector.sealed.prefix(count)), key, vector.nonce, vector.associated)
        }
        expectRefusal(vector.sealed + [0], key, vector.nonce, vector.associated)
        expectRefusal(vector.sealed, key, Array(vector.nonce.dropLast()), vector.associated)
        expectRefusal(vector.sealed, key, vector.nonce + [0], vector.associated)
        expectRefusal(vector.sealed, key, [], vector.associated)
        try cipher.open(vector.sealed, key, vector.nonce, vector.associated, &output)
        #expect(output == vector.plaintext)
    }

    @Test(arguments: forms) func `keys can change from message to message, and be forgotten`(usesAESInstructions: Bool)
        throws
    {
        let cipher = AES256GCM(usesAESInstructions: usesAESInstructions)
        let vectors = try Self.vectors()
        let keys = vectors.map { SymmetricKey(bytes: $0.key) }
        for index in [0, 1, 2, 3, 3, 0, 2, 2, 1] {
            let vector = vectors[index]
            var sealed: [UInt8] = []
            var opened: [UInt8] = []
            cipher.seal(vector.plaintext, keys[index], vector.nonce, vector.associated, &sealed)
            try cipher.open(vector.sealed, keys[index], vector.nonce, vector.associated, &opened)
            #expect(sealed == vector.sealed)
            #expect(opened == vector.plaintext)
            if index == 2 { cipher.forgetKeys() }
        }
    }

    @Test(.enabled(if: AES256GCM.hasAESInstructions, "this processor has no AES instructions"))
    func `both forms give the same bytes for messages and associated data of any length`() throws {
        let (one, other) = (AES256GCM(usesAESInstructions: true), AES256GCM(usesAESInstructions: false))
        for count in [Int](0...260) + [4095, 4096, 70_000] {
            let (message, associated) = (randomBytes(count), randomBytes((count * 7) % 150))
            let (key, nonce) = (SymmetricKey.random(), randomBytes(12))
            var (sealed, second, opened): ([UInt8], [UInt8], [UInt8]) = ([], [], [])
            one.seal(message, key, nonce, associated, &sealed)
            other.seal(message, key, nonce, associated, &second)
            #expect(sealed == second)
            try one.open(second, key, nonce, associated, &opened)
            #expect(opened == message)
            try other.open(sealed, key, nonce, associated, &opened)
            #expect(opened == message)
            sealed[count] ^= 1
            #expect(throws: CryptographyError.authenticationFailed) {
                try one.open(sealed, key, nonce, associated, &opened)
            }
            #expect(opened == [])
        }
    }

    @Test func `a nonce of another length is a mistake of ours`() async {
        await #expect(processExitsWith: .failure) {
            var output: [UInt8] = []
            AES256GCM().seal([1], .random(), [1, 2, 3], [], &output)
        }
    }

    private func oneBitOff(_ bytes: [UInt8]) -> [[UInt8]] {
        (0..<bytes.count * 8).map { bit in
            var changed = bytes
            changed[bit / 8] ^= 1 << (bit % 8)
            return changed
        }
    }
}

extension AES256GCM {
    /// The same over arrays.
    func seal(
        _ plaintext: [UInt8], _ key: SymmetricKey, _ nonce: [UInt8], _ associated: [UInt8], _ output: inout [UInt8]
    ) {
        plaintext.withUnsafeBytes { plaintext in
            nonce.withUnsafeBytes { nonce in
                associated.withUnsafeBytes {
                    seal(plaintext, key: key, nonce: nonce, associated: $0, into: &output)
                }
            }
        }
    }

    /// The same over arrays.
    func open(
        _ sealed: [UInt8], _ key: SymmetricKey, _ nonce: [UInt8], _ associated: [UInt8], _ output: inout [UInt8]
    ) throws {
        try sealed.withUnsafeBytes { sealed in
            try nonce.withUnsafeBytes { nonce in
                try associated.withUnsafeBytes {
                    try open(sealed, key: key, nonce: nonce, associated: $0, into: &output)
                }
            }
        }
    }
}
