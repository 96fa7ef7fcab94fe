import Cryptography
import Envelopes
import Geodesy
import TestSupport
import Testing
import Whereabouts

/// A second implementation in Python (`envelopes.py`), from libraries of others and the description alone.
@Suite(
    .enabled(
        if: Foreign.hasPython(with: "pyhpke, cbor2, pycddl, cryptography"),
        "There is no Python with pyhpke, cbor2, pycddl and cryptography."))
struct ForeignEnvelopeTests {
    private static let script = Repository.conformance("envelopes.py")

    @Test func `envelopes_cddl describes every envelope, and other libraries open it`() throws {
        var random = SplitMix(41)
        var input = ""
        var expected: [String] = []
        for round in 0..<10 {
            let identity = Ed25519PrivateKey()
            let keys = (0...round).map { _ in RecipientKey() }
            let reader = try #require(keys.randomElement(using: &random))
            let fix = try random.tiered()
            let secret = SymmetricKey.random()
            let bytes = secret.withBytes { Array($0) }
            let answer = try AnswerEnvelope(
                sealing: fix, from: random.device(), answering: random.identifier(), as: random.identifier(),
                for: keys.map(\.publicKey), signedBy: identity)
            let track = try TrackEnvelope(
                sealing: fix, from: random.device(), in: random.identifier(), key: secret, as: random.identifier(),
                signedBy: identity)
            let period = try PeriodEnvelope(
                sealing: secret, of: EnvelopeDevice(rawValue: 5), period: random.identifier(), from: fix.fix.timestamp,
                tier: fix.tier, for: keys.map(\.publicKey), signedBy: identity)
            for (opener, envelope, content) in [
                (reader.rawRepresentation, answer.bytes, fix.fix.packed), (bytes, track.bytes, fix.fix.packed),
                (reader.rawRepresentation, period.bytes, bytes),
            ] {
                input += [identity.publicKey, opener, envelope].map(Hex.encode).joined(separator: " ") + "\n"
                expected.append(Hex.encode(content))
            }
        }
        let output = try Foreign.python(
            path: Self.script, ["open", "\(Repository.root)/Sources/Whereabouts/Documentation.docc/envelopes.cddl"],
            input: input)
        #expect(output.split(separator: "\n").map(String.init) == expected)
    }

    @Test func `envelopes of other libraries are opened`() throws {
        var kinds = [0, 0, 0]
        for line in try Foreign.python(path: Self.script, ["seal"]).split(separator: "\n") {
            let parts = try line.split(separator: " ").map { try #require(Hex.decode($0)) }
            let (identity, opener, id, content) = (parts[0], parts[1], parts[2], parts[4])
            let envelope = try Envelope(decoding: parts[3])
            #expect(envelope.bytes == parts[3])
            #expect(envelope.isSigned(by: identity))
            switch envelope {
            case .answer(let answer):
                kinds[0] += 1
                #expect(answer.query.bytes == id)
                let fix = try answer.open(
                    with: RecipientKey(rawRepresentation: opener), signedBy: identity, answering: answer.query,
                    notBefore: answer.bucket.start)
                #expect(fix.packed == content)
            case .track(let track):
                kinds[1] += 1
                #expect(track.period.bytes == id)
                let fix = try track.open(with: SymmetricKey(bytes: opener), signedBy: identity)
                #expect(fix.packed == content)
            case .period(let period):
                kinds[2] += 1
                #expect(period.period.bytes == id)
                let key = try period.open(with: RecipientKey(rawRepresentation: opener), signedBy: identity)
                #expect(key.withBytes { Array($0) } == content)
            }
        }
        #expect(kinds == [10, 10, 10])
    }
}
