import Cryptography
import Glibc
import TestSupport
import Testing

/// The same inputs through PyPI `cryptography` and Python's own library, which must give the same bytes.
@Suite struct CrossCheckTests {
    @Test(
        .enabled(
            if: Foreign.hasPython(with: "cryptography"), "python3 with the package `cryptography` is not installed"))
    func `another implementation gives the same bytes`() throws {
        let sha256 = SHA256()
        let ciphers = AES256GCMTests.forms.map { AES256GCM(usesAESInstructions: $0) }
        var counts: [Substring: Int] = [:]
        for line in try Foreign.python(Self.script).split(separator: "\n") {
            let parts = line.split(separator: " ", omittingEmptySubsequences: false)
            let bytes = try parts.dropFirst().map { try #require(Hex.decode($0)) }
            counts[parts[0], default: 0] += 1
            switch parts[0] {
            case "sha256":
                #expect(sha256.hash(bytes[0]).bytes == bytes[1])
            case "hmac":
                #expect(hmacSHA256(key: bytes[0], message: bytes[1]).bytes == bytes[2])
            case "gcm":
                for cipher in ciphers {
                    var (sealed, opened): ([UInt8], [UInt8]) = ([], [])
                    cipher.seal(bytes[3], SymmetricKey(bytes: bytes[0]), bytes[1], bytes[2], &sealed)
                    try cipher.open(bytes[4], SymmetricKey(bytes: bytes[0]), bytes[1], bytes[2], &opened)
                    #expect(sealed == bytes[4])
                    #expect(opened == bytes[3])
                }
            case "ed25519":
                let key = try Ed25519PrivateKey(seed: bytes[0])
                #expect(key.publicKey == bytes[1])
                #expect(key.sign(bytes[2]) == bytes[3])
                #expect(ed25519Verify(publicKey: bytes[1], signature: bytes[3], message: bytes[2]))
                #expect(key.pem == String(decoding: bytes[4], as: UTF8.self))
            case "base64":
                #expect(Base64.encode(bytes[0]) == String(decoding: bytes[1], as: UTF8.self))
                #expect(Base64.encode(bytes[0], urlSafe: true) == String(decoding: bytes[2], as: UTF8.self))
                #expect(Base64.decode(bytes[1]) == bytes[0])
                #expect(Base64.decode(bytes[2]) == bytes[0])
            default:
                Issue.record("Python said: \(line)")
            }
        }
        #expect(counts == ["sha256": 300, "hmac": 300, "gcm": 300, "ed25519": 300, "base64": 300])
    }

    private static let script = """
        import base64, hashlib, hmac, random
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives import serialization as s
        random.seed(20240229)
        for n in range(300):
            key, nonce, m, a = (random.randbytes(k) for k in (32, 12, n, random.randrange(70)))
            def say(kind, *parts): print(kind, *(p.hex() for p in parts))
            say("sha256", m, hashlib.sha256(m).digest())
            say("hmac", a, m, hmac.new(a, m, "sha256").digest())
            say("gcm", key, nonce, a, m, AESGCM(key).encrypt(nonce, m, a))
            k = Ed25519PrivateKey.from_private_bytes(key)
            public = k.public_key().public_bytes(s.Encoding.Raw, s.PublicFormat.Raw)
            pem = k.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption())
            say("ed25519", key, public, m, k.sign(m), pem)
            say("base64", m, base64.b64encode(m), base64.urlsafe_b64encode(m))
        """
}
