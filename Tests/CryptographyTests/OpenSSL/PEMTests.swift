import Cryptography
import Testing

@Suite struct PEMTests {
    /// The key of RFC 8410 section 10.3.
    @Test func `a key is read from PEM and written as it was`() throws {
        let pem = """
            -----BEGIN PRIVATE KEY-----
            MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
            -----END PRIVATE KEY-----

            """
        let key = try Ed25519PrivateKey(pem: pem)
        #expect(key.pem == pem)
        // The public key of RFC 8410 section 10.1.
        #expect(Base64.encode(key.publicKey) == "Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=")
        let other = Ed25519PrivateKey()
        #expect(try Ed25519PrivateKey(pem: other.pem).publicKey == other.publicKey)
    }

    /// The encrypted key and the P-256 key were made with `openssl genpkey`.
    @Test(arguments: [
        "", "nonsense", "-----BEGIN PRIVATE KEY-----\nMC4C\n-----END PRIVATE KEY-----\n",
        """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgeY7YG4YySqAICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEKrDZjPkc4cm4+T2B3UqrPQEQOTb
        0kmrdqDszgb26MdVW1S1atWUF03NBgRK6SG0Vl2F45eRCut1gaed6glIo3nWJ0cM
        5U6TcPyDd7rhshA7nRc=
        -----END ENCRYPTED PRIVATE KEY-----
        """,
        """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgwu7nlFtgLoeKxL/s
        iq2s4XCm6tOqzHPCMnjQBpqGhvahRANCAATsY71KYc5jWIezOj5VzLlLmE3sbxPc
        xfLP2jl0zUZXuTyN17k+JyA0Jf8jDw6xlHZlKWVIahW/qccCfIzOUKq7
        -----END PRIVATE KEY-----
        """,
    ])
    func `anything but an open Ed25519 key is refused`(pem: String) {
        #expect(throws: CryptographyError.self) { try Ed25519PrivateKey(pem: pem) }
    }
}
