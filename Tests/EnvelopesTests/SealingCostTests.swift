import Cryptography
import Geodesy
import Glibc
import Testing
import Whereabouts

@testable import Envelopes

/// What an answer costs a location push extension, which the system gives little time.
@Suite struct SealingCostTests {
    /// Seconds of the calling thread's processor time.
    private static func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    @Test func `a fix for five recipients takes less than two milliseconds and a kilobyte`() throws {
        let identity = try Ed25519PrivateKey(seed: [UInt8](repeating: 1, count: 32))
        let recipients = (0..<5).map { _ in Curve25519.KeyAgreement.PrivateKey().publicKey }
        let fix = Fix(
            timestamp: Timestamp(milliseconds: 1_777_881_600_000),
            coordinate: try Coordinate(latitude: 48.2087, longitude: 16.3726), horizontalAccuracy: 8)
        var (seconds, bytes): ([Double], Int) = ([], 0)
        for round in 0..<200 {
            let begin = Self.processorSeconds()
            let envelope = try AnswerEnvelope(
                sealing: TieredFix(exact: fix), from: EnvelopeDevice(rawValue: 1),
                answering: QueryID(high: 1, low: UInt64(round)), as: Identifier128(high: 2, low: UInt64(round)),
                for: recipients, signedBy: identity)
            bytes = max(bytes, envelope.bytes.count)
            seconds.append(Self.processorSeconds() - begin)
        }
        seconds.sort()
        let (median, slow) = (seconds[100] * 1000, seconds[190] * 1000)
        print("Sealing for five recipients: median \(median) ms, 95 % below \(slow) ms, \(bytes) bytes")
        #expect(bytes <= 1000)
        #expect(median < 2, "\(median) ms")
    }
}
