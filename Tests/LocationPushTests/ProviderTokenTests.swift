import Glibc
import LocationPush
import PushStandIn
import TestSupport
import Testing

@Suite struct ProviderTokenTests {
    private static let hasPython = Foreign.hasPython(with: "cryptography")

    /// Signatures are random: of 10,000, about 39 have an r and about 39 an s that begins with a zero byte, which ASN.1
    /// leaves out and JWS does not. That none of either comes up has a probability below 10⁻¹⁶.
    @Test(.enabled(if: hasPython, "WHEREABOUTS_PYTHON names no python with cryptography"))
    func `10,000 provider tokens have exactly the header and claims APNs wants and signatures that others accept`()
        throws
    {
        let scene = try Scene()
        defer { scene.close() }
        let credentials = scene.standIn.credentials
        let key = try credentials.providerTokenKey()
        let file = scene.directory + "/tokens"
        defer { unlink(file) }
        let tokens = try #require(fopen(file, "w"))
        for number in 0..<10_000 as Range<Int64> {
            let token = try key.sign(issuedAtSeconds: 4_102_444_800 / 9_999 * number)
            #expect(token.split(separator: ".")[2].utf8.count == 86)
            fputs(token + "\n", tokens)
        }
        fclose(tokens)
        let (status, output) = Foreign.run(
            "'\(Foreign.python)' '\(Repository.conformance("provider_token.py"))' '\(credentials.providerKeyFile)' < '\(file)'"
        )
        #expect(status == 0)
        let lines = output.split(separator: "\n")
        try #require(lines.count == 2)
        #expect(lines[0] == #"{"alg":"ES256","kid":"\#(credentials.keyID)"} {"iss":"\#(credentials.teamID)"}"#)
        let figures = lines[1].split(separator: " ").compactMap { Int($0) }
        #expect(figures[0...3] == [0, 4_102_444_800 / 9_999 * 9_999, 10_000, 10_000])
        #expect(figures[4] > 0 && figures[5] > 0)
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
        #expect(policy.occasion(at: time(0)) == .due)
        policy.noteSigned(at: time(0), because: .due, jitter: jitter)
        #expect(policy.occasion(at: time(minutes - 0.01)) == nil)
        #expect(policy.occasion(at: time(minutes + 0.01)) == .due)
    }

    @Test func `an expired token is renewed once, however many pushes carried it`() {
        var policy = ProviderTokenPolicy()
        policy.noteSigned(at: time(0), because: .due, jitter: 0)
        #expect(policy.renewal(ofExpired: 1, at: time(30)) == .sign)
        policy.noteSigned(at: time(30), because: .refusal, jitter: 0)
        #expect(policy.renewal(ofExpired: 1, at: time(30)) == .alreadyDone)
        #expect(policy.number == 2)
    }

    @Test func `a young token that APNs reports as expired is renewed once, and the fresh one not before 20 minutes`() {
        var policy = ProviderTokenPolicy()
        policy.noteSigned(at: time(0), because: .due, jitter: 0)
        #expect(policy.renewal(ofExpired: 1, at: time(0.1)) == .sign)
        policy.noteSigned(at: time(0.1), because: .refusal, jitter: 0)
        #expect(policy.renewal(ofExpired: 2, at: time(0.2)) == .tooSoon)
        #expect(policy.renewal(ofExpired: 2, at: time(20.09)) == .tooSoon)
        #expect(policy.renewal(ofExpired: 2, at: time(20.1)) == .sign)
    }

    @Test func `a token that was accepted is renewed at its first refusal, at most three times in 20 minutes`() {
        var policy = ProviderTokenPolicy()
        policy.noteSigned(at: time(0), because: .due, jitter: 0)
        for number in 1...3 {
            #expect(policy.renewal(ofExpired: number, at: time(Double(number))) == .sign)
            policy.noteSigned(at: time(Double(number)), because: .refusal, jitter: 0)
            policy.noteAccepted(number + 1)
        }
        #expect(policy.renewal(ofExpired: 4, at: time(4)) == .tooSoon)
        #expect(policy.renewal(ofExpired: 4, at: time(20.9)) == .tooSoon)
        #expect(policy.renewal(ofExpired: 4, at: time(21)) == .sign)
    }

    /// A moment `minutes` after the beginning, with the wall clock set on by `seconds`.
    private func time(_ minutes: Double, setOnBy seconds: Int64) -> PushTime {
        PushTime(unixMs: time(minutes).unixMs + seconds * 1000, monotonicMs: time(minutes).monotonicMs)
    }

    @Test(arguments: [5, 7200, -5, -7200] as [Int64])
    func `a clock that was set makes a new token due at once`(seconds: Int64) {
        var policy = ProviderTokenPolicy()
        policy.noteSigned(at: time(0), because: .due, jitter: 0)
        #expect(policy.occasion(at: time(0.1, setOnBy: seconds)) == .clockStep)
        policy.noteSigned(at: time(0.1, setOnBy: seconds), because: .clockStep, jitter: 0)
        #expect(policy.occasion(at: time(0.2, setOnBy: seconds)) == nil)
    }

    @Test func `a clock that is slewed makes no token due`() {
        var policy = ProviderTokenPolicy()
        policy.noteSigned(at: time(0), because: .due, jitter: 0)
        #expect(policy.occasion(at: time(44, setOnBy: 4)) == nil)
    }

    @Test func `a clock that jumps each minute costs four tokens in the first 20 minutes, and the last stays in use`() {
        var policy = ProviderTokenPolicy()
        for minute in 0..<20 {
            let now = time(Double(minute), setOnBy: Int64(minute) * 3600)
            if let occasion = policy.occasion(at: now) { policy.noteSigned(at: now, because: occasion, jitter: 0) }
        }
        #expect(policy.number == 4)
    }
}
