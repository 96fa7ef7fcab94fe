import Cryptography
import Testing

@Suite struct Base64Tests {
    /// RFC 4648 section 10.
    static let vectors = [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ]

    @Test func `published texts are encoded and decoded`() {
        for (plain, encoded) in Self.vectors {
            let bytes = Array(plain.utf8)
            let unpadded = String(encoded.prefix { $0 != "=" })
            #expect(Base64.encode(bytes) == encoded)
            #expect(Base64.encode(bytes, padded: false) == unpadded)
            #expect(Base64.decode(encoded) == bytes)
            #expect(Base64.decode(unpadded) == bytes)
            #expect(Base64.decode(Array(encoded.utf8)) == bytes)
        }
    }

    /// The last two digits of both alphabets, RFC 4648 tables 1 and 2: 0xFB 0xFF 0xBF is + / + / (62, 63, 62, 63).
    @Test func `both alphabets are read, and the one asked for is written`() {
        let bytes: [UInt8] = [0xFB, 0xFF, 0xBF]
        #expect(Base64.encode(bytes) == "+/+/")
        #expect(Base64.encode(bytes, urlSafe: true) == "-_-_")
        #expect(Base64.decode("+/+/") == bytes)
        #expect(Base64.decode("-_-_") == bytes)
    }

    @Test(arguments: [
        "Z", "Zg=", "Zg===", "=", "==", "====", "Zm9v=", "Zm9v====", "Zg==Zg==", "Z=g=", "Zm9v\n", " Zm9v", "Zm 9v",
        "Zm9*",
        "Zh==", "Zm9=", "Zm9vé", "Zm9vY",
    ])
    func `anything else is refused`(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test func `every length comes back`() {
        for count in 0...300 {
            let bytes = randomBytes(count)
            for urlSafe in [false, true] {
                for padded in [false, true] {
                    #expect(Base64.decode(Base64.encode(bytes, urlSafe: urlSafe, padded: padded)) == bytes)
                }
            }
        }
    }
}
