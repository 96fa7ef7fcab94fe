import LocationPush
import PushStandIn
import Testing

@Suite struct ProviderTokenTests {
    static let python = Foreign.python(with: "cryptography")

    @Test(.enabled(if: python != nil, "WHEREABOUTS_PYTHON names no python with cryptography"))
    func `a provider token has exactly the header and claims that APNs wants and a signature that others accept`()
        throws
    {
        let scene = try Scene()
        defer { scene.close() }
        let credentials = scene.standIn.credentials
        let key = try credentials.providerTokenKey()
        // Signatures are random: enough of them to meet numbers with leading zeros, which must be padded.
        for issuedAt in [1_732_147_200, 0, 4_102_444_800] as [Int64] {
            let token = try key.sign(issuedAtSeconds: issuedAt)
            let (status, output) = Foreign.run(
                "'\(Self.python!)' '\(Foreign.script("provider_token.py"))' '\(credentials.providerKeyFile)' \(token)")
            #expect(status == 0)
            #expect(
                output == """
                    {"alg":"ES256","kid":"\(credentials.keyID)"}
                    {"iss":"\(credentials.teamID)","iat":\(issuedAt)}

                    """)
        }
    }

    @Test func `every one of 600 signatures is 64 bytes long`() throws {
        let scene = try Scene()
        defer { scene.close() }
        let key = try scene.standIn.credentials.providerTokenKey()
        // One in 128 has a number with a leading zero byte; 86 base64url characters are 64 bytes.
        for second in 0..<600 as Range<Int64> {
            let signature = try key.sign(issuedAtSeconds: second).split(separator: ".")[2]
            #expect(signature.utf8.count == 86)
        }
    }

    @Test func `a key that is no P-256 key in PEM is refused, and identifiers are ten characters`() {
        #expect(throws: ProviderTokenError.self) {
            try ProviderTokenKey(pem: Array("no key".utf8), keyID: "ABCDE12345", teamID: "ABCDE12345")
        }
        #expect(throws: ProviderTokenError.badIdentifier("key id")) {
            try ProviderTokenKey(pem: [], keyID: "short", teamID: "ABCDE12345")
        }
        #expect(throws: ProviderTokenError.badIdentifier("team id")) {
            try ProviderTokenKey(pem: [], keyID: "ABCDE12345", teamID: "ABCDE1234-")
        }
    }

    private func time(_ minutes: Double) -> PushTime {
        PushTime(unixMs: 1_700_000_000_000 + Int64(minutes * 60_000), monotonicMs: Int64(minutes * 60_000))
    }

    @Test(arguments: [(0.0, 45.0), (0.5, 47.5), (0.999, 49.995)])
    func `a token is renewed between its 45th and 50th minute`(jitter: Double, minutes: Double) {
        var policy = ProviderTokenPolicy()
        #expect(policy.mustSign(at: time(0)))
        policy.noteSigned(at: time(0), jitter: jitter)
        #expect(!policy.mustSign(at: time(minutes - 0.01)))
        #expect(policy.mustSign(at: time(minutes + 0.01)))
    }

    @Test func `an expired token is renewed once, however many pushes carried it`() {
        var policy = ProviderTokenPolicy()
        policy.noteSigned(at: time(0), jitter: 0)
        #expect(policy.renewal(ofExpired: 1, at: time(30)) == .sign)
        policy.noteSigned(at: time(30), jitter: 0)
        #expect(policy.renewal(ofExpired: 1, at: time(30)) == .alreadyDone)
        #expect(policy.number == 2)
    }

    @Test func `no two tokens are signed within 20 minutes, even when APNs calls a young one expired`() {
        var policy = ProviderTokenPolicy()
        policy.noteSigned(at: time(0), jitter: 0)
        #expect(policy.renewal(ofExpired: 1, at: time(19.9)) == .tooSoon)
        #expect(policy.renewal(ofExpired: 1, at: time(20)) == .sign)
    }

    @Test func `a clock that was set makes a new token due, but not within 20 minutes`() {
        var policy = ProviderTokenPolicy()
        policy.noteSigned(at: time(0), jitter: 0)
        let hourBack = PushTime(unixMs: time(-60).unixMs, monotonicMs: time(5).monotonicMs)
        #expect(!policy.mustSign(at: hourBack))
        #expect(policy.mustSign(at: PushTime(unixMs: time(-45).unixMs, monotonicMs: time(20).monotonicMs)))
    }
}
