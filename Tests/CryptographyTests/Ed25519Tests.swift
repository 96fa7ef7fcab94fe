import Cryptography
import Testing

@Suite struct Ed25519Tests {
    /// RFC 8032 section 7.1, TEST 1 to 3: seed, public key, message, signature.
    static let vectors = [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
                + "d25bf5f0595bbe24655141438e7a100b"
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
                + "387b2eaeb4302aeeb00d291612bb0c00"
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659"
                + "4a7c15e9716ed28dc027beceea1ec40a"
        ),
    ]

    @Test func `published messages are signed as published`() throws {
        for (seed, publicKey, message, signature) in Self.vectors {
            let key = try Ed25519PrivateKey(seed: try #require(Hex.decode(seed)))
            let message = try #require(Hex.decode(message))
            #expect(Hex.encode(key.publicKey) == publicKey)
            #expect(Hex.encode(key.sign(message)) == signature)
            #expect(ed25519Verify(publicKey: key.publicKey, signature: key.sign(message), message: message))
        }
    }

    @Test func `a signature is good for one message and one key`() {
        let key = Ed25519PrivateKey()
        let message = Array("checkpoint".utf8)
        let signature = key.sign(message)
        let publicKey = key.publicKey
        #expect(ed25519Verify(publicKey: publicKey, signature: signature, message: message))
        #expect(!ed25519Verify(publicKey: publicKey, signature: signature, message: message + [0]))
        #expect(!ed25519Verify(publicKey: Ed25519PrivateKey().publicKey, signature: signature, message: message))
        for index in signature.indices {
            var other = signature
            other[index] ^= 1
            #expect(!ed25519Verify(publicKey: publicKey, signature: other, message: message))
        }
        for length in [0, 63, 65] {
            let other = Array((signature + signature).prefix(length))
            #expect(!ed25519Verify(publicKey: publicKey, signature: other, message: message))
        }
        for length in [0, 31, 33] {
            let other = Array((publicKey + publicKey).prefix(length))
            #expect(!ed25519Verify(publicKey: other, signature: signature, message: message))
        }
        #expect(!ed25519Verify(publicKey: [UInt8](repeating: 0xFF, count: 32), signature: signature, message: message))
    }

    @Test func `a seed of another length is refused`() {
        for count in [0, 31, 33] {
            #expect(throws: CryptographyError.self) { try Ed25519PrivateKey(seed: Array(repeating: 1, count: count)) }
        }
    }
}
