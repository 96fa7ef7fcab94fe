import Cryptography
import Testing

@Suite struct SHA256Tests {
    /// FIPS 180-4 examples as published by NIST ("SHA256.pdf"), and the empty message.
    static let vectors: [(message: [UInt8], digest: String)] = [
        (Array("abc".utf8), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        ([], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (
            Array(repeating: UInt8(ascii: "a"), count: 1_000_000),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        ),
    ]

    @Test func `published messages have their published digests`() {
        let sha256 = SHA256()
        for (message, digest) in Self.vectors {
            #expect(sha256.hash(message).hex == digest)
        }
    }

    @Test func `a message in pieces has the digest of the whole`() {
        let sha256 = SHA256()
        for (message, digest) in Self.vectors {
            for pieceSize in [1_000_001, 65, 64, 63] {
                sha256.begin()
                for start in stride(from: 0, to: message.count, by: pieceSize) {
                    sha256.update(Array(message[start..<min(start + pieceSize, message.count)]))
                }
                #expect(sha256.finish().hex == digest)
            }
        }
    }

    @Test func `a message that was not finished leaves no trace`() {
        let sha256 = SHA256()
        sha256.begin()
        sha256.update(Array("left behind".utf8))
        #expect(sha256.hash(Array("abc".utf8)).hex == Self.vectors[0].digest)
    }

    @Test func `a prefix and two parts are hashed as one message`() {
        let sha256 = SHA256()
        let message = Self.vectors[1].message
        for split in 1...message.count {
            let digest = message[1..<split].withUnsafeBytes { first in
                message[split...].withUnsafeBytes { second in sha256.hash(prefix: message[0], first, second) }
            }
            #expect(digest.hex == Self.vectors[1].digest)
        }
    }

    /// The Merkle tree of the leaves 0x00 and 0x10 (RFC 6962 test data of certificate-transparency, roots 1 to 3).
    @Test func `leaves and nodes are those of certificate transparency`() throws {
        let sha256 = SHA256()
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        let leaves = [[UInt8](), [0x00], [0x10]].map { leaf in
            leaf.withUnsafeBytes { sha256.hash(prefix: 0, $0, nothing) }
        }
        #expect(leaves[0].hex == "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d")
        let two = sha256.hash(prefix: 1, leaves[0], leaves[1])
        #expect(two.hex == "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125")
        let three = sha256.hash(prefix: 1, two, leaves[2])
        #expect(three.hex == "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77")
    }
}
