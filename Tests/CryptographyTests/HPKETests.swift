import TestSupport
import Testing

@testable import Cryptography

@Suite struct HPKETests {
    typealias PrivateKey = Curve25519.KeyAgreement.PrivateKey
    typealias PublicKey = Curve25519.KeyAgreement.PublicKey

    /// RFC 9180, appendix A.1.1 and A.2.1 (base mode). Every message is "Beauty is truth, truth beauty", with its number
    /// after "Count-" as associated data.
    struct Vector: Sendable, CustomTestStringConvertible {
        let suite: HPKE.Ciphersuite
        let ephemeral, ephemeralPublic, recipient, recipientPublic: String
        let sealed: [UInt64: String]

        var testDescription: String { "\(suite.aead)" }
    }

    static let vectors = [
        Vector(
            suite: .Curve25519_SHA256_AES_GCM_128,
            ephemeral: "52c4a758a802cd8b936eceea314432798d5baf2d7e9235dc084ab1b9cfa2f736",
            ephemeralPublic: "37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431",
            recipient: "4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8",
            recipientPublic: "3948cfe0ad1ddb695d780e59077195da6c56506b027329794ab02bca80815c4d",
            sealed: [
                0: "f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a",
                1: "af2d7e9ac9ae7e270f46ba1f975be53c09f8d875bdc8535458c2494e8a6eab251c03d0c22a56b8ca42c2063b84",
                2: "498dfcabd92e8acedc281e85af1cb4e3e31c7dc394a1ca20e173cb72516491588d96a19ad4a683518973dcc180",
                4: "583bd32bc67a5994bb8ceaca813d369bca7b2a42408cddef5e22f880b631215a09fc0012bc69fccaa251c0246d",
                255: "7175db9717964058640a3a11fb9007941a5d1757fda1a6935c805c21af32505bf106deefec4a49ac38d71c9e0a",
                256: "957f9800542b0b8891badb026d79cc54597cb2d225b54c00c5238c25d05c30e3fbeda97d2e0e1aba483a2df9f2",
            ]),
        Vector(
            suite: .Curve25519_SHA256_ChachaPoly,
            ephemeral: "f4ec9b33b792c372c1d2c2063507b684ef925b8c75a42dbcbf57d63ccd381600",
            ephemeralPublic: "1afa08d3dec047a643885163f1180476fa7ddb54c6a8029ea33f95796bf2ac4a",
            recipient: "8057991eef8f1f1af18f4a9491d16a1ce333f695d4db8e38da75975c4478e0fb",
            recipientPublic: "4310ee97d88cc1f088a5576c77ab0cf5c3ac797f3d95139c6c84b5429c59662a",
            sealed: [
                0: "1c5250d8034ec2b784ba2cfd69dbdb8af406cfe3ff938e131f0def8c8b60b4db21993c62ce81883d2dd1b51a28",
                1: "6b53c051e4199c518de79594e1c4ab18b96f081549d45ce015be002090bb119e85285337cc95ba5f59992dc98c",
                2: "71146bd6795ccc9c49ce25dda112a48f202ad220559502cef1f34271e0cb4b02b4f10ecac6f48c32f878fae86b",
                4: "63357a2aa291f5a4e5f27db6baa2af8cf77427c7c1a909e0b37214dd47db122bb153495ff0b02e9e54a50dbe16",
                255: "18ab939d63ddec9f6ac2b60d61d36a7375d2070c9b683861110757062c52b8880a5f6b3936da9cd6c23ef2a95c",
                256: "7a4a13e9ef23978e2c520fd4d2e757514ae160cd0cd05e556ef692370ca53076214c0c40d4c728d6ed9e727a5b",
            ]),
    ]

    private static let info = Array("Ode on a Grecian Urn".utf8)
    private static let plaintext = Array("Beauty is truth, truth beauty".utf8)

    @Test(arguments: vectors) func `published messages are sealed and opened as published`(vector: Vector) throws {
        let recipient = try PrivateKey(rawRepresentation: try #require(Hex.decode(vector.recipient)))
        let ephemeral = try PrivateKey(rawRepresentation: try #require(Hex.decode(vector.ephemeral)))
        #expect(Hex.encode(recipient.publicKey.rawRepresentation) == vector.recipientPublic)
        var sender = try HPKE.Sender(
            recipientKey: recipient.publicKey, ciphersuite: vector.suite, info: Self.info, ephemeral: ephemeral)
        let encapsulated = sender.encapsulatedKey
        #expect(Hex.encode(encapsulated) == vector.ephemeralPublic)
        var opening = try HPKE.Recipient(
            privateKey: recipient, ciphersuite: vector.suite, info: Self.info, encapsulatedKey: encapsulated)
        for number in 0...256 as ClosedRange<UInt64> {
            let associated = Array("Count-\(number)".utf8)
            let sealed = sender.seal(Self.plaintext, authenticating: associated)
            if let published = vector.sealed[number] { #expect(Hex.encode(sealed) == published) }
            let opened = try opening.open(sealed, authenticating: associated)
            #expect(opened == Self.plaintext)
        }
    }

    /// The plaintext, or the error that refuses it.
    private static func opened(
        _ sealed: [UInt8], by key: PrivateKey, _ suite: HPKE.Ciphersuite = .Curve25519_SHA256_ChachaPoly,
        info: [UInt8] = info, encapsulated: [UInt8], authenticating associated: [UInt8] = []
    ) -> Result<[UInt8], CryptographyError> {
        do throws(CryptographyError) {
            var recipient = try HPKE.Recipient(
                privateKey: key, ciphersuite: suite, info: info, encapsulatedKey: encapsulated)
            return .success(try recipient.open(sealed, authenticating: associated))
        } catch {
            return .failure(error)
        }
    }

    @Test(arguments: HPKE.Ciphersuite.AEAD.allCases)
    func `only the right key, info, associated data and bytes open a message`(aead: HPKE.Ciphersuite.AEAD) throws {
        let suite = aead == .chaChaPoly ? .Curve25519_SHA256_ChachaPoly : HPKE.Ciphersuite.Curve25519_SHA256_AES_GCM_128
        let other = aead == .chaChaPoly ? .Curve25519_SHA256_AES_GCM_128 : HPKE.Ciphersuite.Curve25519_SHA256_ChachaPoly
        let key = PrivateKey()
        var sender = try HPKE.Sender(recipientKey: key.publicKey, ciphersuite: suite, info: Self.info)
        let enc = sender.encapsulatedKey
        let sealed = sender.seal(Self.plaintext, authenticating: [1, 2])
        let second = sender.seal(Self.plaintext, authenticating: [1, 2])
        let wrong = Result<[UInt8], CryptographyError>.failure(.authenticationFailed)
        func open(
            _ sealed: [UInt8], by key: PrivateKey, _ suite: HPKE.Ciphersuite, info: [UInt8] = Self.info,
            enc: [UInt8], associated: [UInt8] = [1, 2]
        ) -> Result<[UInt8], CryptographyError> {
            Self.opened(sealed, by: key, suite, info: info, encapsulated: enc, authenticating: associated)
        }
        #expect(open(sealed, by: key, suite, enc: enc) == .success(Self.plaintext))
        #expect(open(sealed, by: PrivateKey(), suite, enc: enc) == wrong)
        #expect(open(sealed, by: key, other, enc: enc) == wrong)
        #expect(open(sealed, by: key, suite, info: Self.info + [0], enc: enc) == wrong)
        #expect(open(sealed, by: key, suite, info: [], enc: enc) == wrong)
        #expect(open(sealed, by: key, suite, enc: enc, associated: [1, 3]) == wrong)
        #expect(open(sealed, by: key, suite, enc: enc, associated: []) == wrong)
        #expect(open(sealed, by: key, suite, enc: PrivateKey().publicKey.rawRepresentation) == wrong)
        #expect(open(second, by: key, suite, enc: enc) == wrong, "the second message in the place of the first")
        for index in sealed.indices {
            for bit in [0, 7] {
                var changed = sealed
                changed[index] ^= 1 << UInt8(bit)
                #expect(open(changed, by: key, suite, enc: enc) == wrong)
            }
        }
        for count in 0..<sealed.count {
            #expect(open(Array(sealed[..<count]), by: key, suite, enc: enc) == wrong)
        }
        #expect(open(sealed + [0], by: key, suite, enc: enc) == wrong)
        for bit in 0..<256 {
            var changed = enc
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            // RFC 7748 ignores the last bit of a coordinate; HPKE derives its keys from all of them.
            #expect(open(sealed, by: key, suite, enc: changed) == wrong)
        }
    }

    @Test func `a message that does not open is not counted`() throws {
        let key = PrivateKey()
        let suite = HPKE.Ciphersuite.Curve25519_SHA256_ChachaPoly
        var sender = try HPKE.Sender(recipientKey: key.publicKey, ciphersuite: suite, info: [])
        let first = sender.seal([1])
        let second = sender.seal([])
        var recipient = try HPKE.Recipient(
            privateKey: key, ciphersuite: suite, info: [], encapsulatedKey: sender.encapsulatedKey)
        #expect(throws: CryptographyError.authenticationFailed) { try recipient.open(second) }
        let one = try recipient.open(first)
        let two = try recipient.open(second)
        #expect(one == [1])
        #expect(two == [])
    }

    /// The points of small order with coordinates below 2²⁵⁵ ("May the Fourth", D. J. Bernstein's list on Curve25519's
    /// page): 0, 1, two of order 8, p − 1, p, p + 1.
    static let smallOrder = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ]

    @Test(arguments: smallOrder, [0 as UInt8, 0x80])
    func `a key whose secret everyone knows is refused on both sides`(point: String, top: UInt8) throws {
        var bytes = try #require(Hex.decode(point))
        bytes[31] |= top
        let key = PrivateKey()
        let isMalformed = { (error: CryptographyError) in if case .malformedKey = error { true } else { false } }
        #expect {
            _ = try HPKE.Sender(
                recipientKey: PublicKey(rawRepresentation: bytes), ciphersuite: .Curve25519_SHA256_ChachaPoly, info: []
            ).encapsulatedKey
        } throws: { ($0 as? CryptographyError).map(isMalformed) == true }
        switch Self.opened(Array(repeating: 0, count: 48), by: key, encapsulated: bytes) {
        case .failure(let error): #expect(isMalformed(error))
        case .success: Issue.record("It was opened.")
        }
    }

    @Test func `a key of another length is refused`() {
        for count in [0, 1, 31, 33, 64] {
            let bytes = Array(repeating: 9 as UInt8, count: count)
            #expect(throws: CryptographyError.malformedKey("a public key of 32 bytes")) {
                try PublicKey(rawRepresentation: bytes)
            }
            #expect(throws: CryptographyError.malformedKey("a private key of 32 bytes")) {
                try PrivateKey(rawRepresentation: bytes)
            }
            #expect(
                Self.opened([], by: PrivateKey(), encapsulated: bytes)
                    == .failure(.malformedKey("a public key of 32 bytes")))
        }
    }

    @Test(.enabled(if: Foreign.hasPython(with: "pyhpke"), "There is no Python with the package `pyhpke`."))
    func `what pyhpke seals is opened, and pyhpke opens what is sealed`() throws {
        let count = 40
        // There: Python has made the keys and sealed three messages for each.
        var toPython = ""
        var opened = 0
        for line in try Foreign.python(Self.sealing.replacing("COUNT", with: "\(count)")).split(separator: "\n") {
            let parts = line.split(separator: " ", omittingEmptySubsequences: false)
            let bytes = try parts.dropFirst().map { try #require(Hex.decode($0)) }
            let suite: HPKE.Ciphersuite =
                parts[0] == "3" ? .Curve25519_SHA256_ChachaPoly : .Curve25519_SHA256_AES_GCM_128
            let key = try PrivateKey(rawRepresentation: bytes[0])
            #expect(key.publicKey.rawRepresentation == bytes[1])
            var recipient = try HPKE.Recipient(
                privateKey: key, ciphersuite: suite, info: bytes[2], encapsulatedKey: bytes[3])
            var sender = try HPKE.Sender(recipientKey: key.publicKey, ciphersuite: suite, info: bytes[2])
            var line = [
                String(parts[0]), Hex.encode(bytes[0]), Hex.encode(bytes[2]), Hex.encode(sender.encapsulatedKey),
            ]
            for index in 0..<3 {
                let (associated, plaintext) = (bytes[4 + 3 * index], bytes[5 + 3 * index])
                let result = try recipient.open(bytes[6 + 3 * index], authenticating: associated)
                #expect(result == plaintext)
                opened += 1
                line += [associated, plaintext, sender.seal(plaintext, authenticating: associated)].map(Hex.encode)
            }
            toPython += line.joined(separator: " ") + "\n"
        }
        #expect(opened == 2 * 3 * count)
        // And back: Python opens what was sealed here for the same keys.
        #expect(try Foreign.python(Self.opening, input: toPython) == "\(2 * 3 * count)\n")
    }

    private static let suites = """
        import random, sys
        from pyhpke import AEADId, CipherSuite, KDFId, KEMId
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
        suites = {n: CipherSuite.new(KEMId.DHKEM_X25519_HKDF_SHA256, KDFId.HKDF_SHA256, a)
                  for n, a in ((1, AEADId.AES128_GCM), (3, AEADId.CHACHA20_POLY1305))}

        """
    private static let sealing =
        suites + """
            random.seed(9180)
            for n in range(COUNT):
                for number, suite in suites.items():
                    secret, info = random.randbytes(32), random.randbytes(n)
                    public = X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()
                    enc, sender = suite.create_sender_context(suite.kem.deserialize_public_key(public), info=info)
                    parts = [secret, public, info, enc]
                    for k in range(3):
                        aad, text = random.randbytes(random.randrange(40)), random.randbytes(random.randrange(1, 300))
                        parts += [aad, text, sender.seal(text, aad=aad)]
                    print(number, *(p.hex() for p in parts))
            """
    private static let opening =
        suites + """
            count = 0
            for line in sys.stdin:
                number, *parts = line.rstrip("\\n").split(" ")
                secret, info, enc, *messages = map(bytes.fromhex, parts)
                suite = suites[int(number)]
                recipient = suite.create_recipient_context(enc, suite.kem.deserialize_private_key(secret), info=info)
                while messages:
                    aad, text, sealed = messages[:3]
                    assert recipient.open(sealed, aad=aad) == text
                    messages = messages[3:]
                    count += 1
            print(count)
            """
}
