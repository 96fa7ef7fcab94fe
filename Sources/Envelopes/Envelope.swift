package import Cryptography

// An envelope holds a fix, or the key of several fixes, sealed end to end. The phone makes it, the server stores and delivers
// it, and only its recipients can open it. Envelopes are deterministic CBOR (RFC 8949, section 4.2.1); `envelopes.cddl` in the
// documentation describes them.
//
//     answer = [1, device, query, client id, bucket, tier, [[key id, enc, sealed key] …], nonce, box, signature]
//     track  = [2, device, period, client id, bucket, tier, nonce, box, signature]
//     period = [3, person, period, from, tier, [[key id, enc, sealed key] …], signature]
//
// The box is ChaCha20-Poly1305 over everything before it; the signature is Ed25519, by the person's identity key, over
// everything before it.

/// Any envelope.
package enum Envelope: Hashable, Sendable {
    case answer(AnswerEnvelope)
    case track(TrackEnvelope)
    case period(PeriodEnvelope)

    /// The most bytes of an envelope. One with ``maximumRecipients`` recipients has less than 3,700.
    package static let maximumBytes = 4096
    /// The most recipients of an envelope. A larger circle needs several.
    package static let maximumRecipients = 32

    /// Decodes an envelope. ``isSigned(by:)`` checks who made it.
    ///
    /// - Throws: ``EnvelopeError/tooLong``; ``EnvelopeError/malformed`` for any bytes except an envelope's only encoding.
    package init(decoding bytes: [UInt8]) throws(EnvelopeError) {
        guard bytes.count <= Self.maximumBytes else { throw .tooLong }
        self = try bytes.withUnsafeBytes { bytes in
            Result { () throws(EnvelopeError) in try Self.read(bytes) }
        }.get()
    }

    private static func read(_ bytes: UnsafeRawBufferPointer) throws(EnvelopeError) -> Envelope {
        var reader = try EnvelopeReader(bytes)
        let envelope: Envelope =
            switch try reader.type() {
            case .answer: .answer(try AnswerEnvelope(from: &reader))
            case .track: .track(try TrackEnvelope(from: &reader))
            case .period: .period(try PeriodEnvelope(from: &reader))
            }
        try reader.end()
        return envelope
    }

    /// The envelope's only encoding.
    package var bytes: [UInt8] {
        switch self {
        case .answer(let envelope): envelope.bytes
        case .track(let envelope): envelope.bytes
        case .period(let envelope): envelope.bytes
        }
    }

    /// The SHA-256 of ``bytes``, by which the record of a disclosure names an envelope.
    package var hash: Digest { SHA256().hash(bytes) }

    /// Whether the owner of this identity key (Ed25519, 32 bytes) signed it. About 250 µs.
    package func isSigned(by identity: [UInt8]) -> Bool {
        switch self {
        case .answer(let envelope): envelope.isSigned(by: identity)
        case .track(let envelope): envelope.isSigned(by: identity)
        case .period(let envelope): envelope.isSigned(by: identity)
        }
    }
}
