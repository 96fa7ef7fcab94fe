package import Cryptography
package import Whereabouts

// An envelope holds a fix, or the key of several fixes, sealed end to end. The phone makes it, the server stores and delivers
// it, and only its recipients can open it. Envelopes are deterministic CBOR (RFC 8949, section 4.2.1); `envelopes.cddl` in the
// documentation describes them.
//
//     answer = [1, device, query, client id, bucket, tier, [[key id, enc, sealed key] …], nonce, box, signature]
//     track  = [2, device, period, client id, bucket, tier, nonce, box, signature]
//     period = [3, device, period, from, tier, [[key id, enc, sealed key] …], signature]
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

extension Envelope {
    /// The precision of the fix, or of the fixes that the key opens.
    package var tier: EnvelopeTier {
        switch self {
        case .answer(let envelope): envelope.tier
        case .track(let envelope): envelope.tier
        case .period(let envelope): envelope.tier
        }
    }

    /// The device that made it.
    package var device: EnvelopeDevice {
        switch self {
        case .answer(let envelope): envelope.device
        case .track(let envelope): envelope.device
        case .period(let envelope): envelope.device
        }
    }

    /// The entries of the recipients; none for a fix of the history.
    package var wrapped: [WrappedKey] {
        switch self {
        case .answer(let envelope): envelope.wrapped
        case .track: []
        case .period(let envelope): envelope.wrapped
        }
    }

    /// The quarter of an hour by which the service orders envelopes, counted from 1970: of the fix, or of the beginning of the
    /// period.
    package var bucketNumber: Int64 {
        switch self {
        case .answer(let envelope): envelope.bucket.number
        case .track(let envelope): envelope.bucket.number
        case .period(let envelope): envelope.from.milliseconds / (TimeBucket.seconds * 1000)
        }
    }

    /// What makes two envelopes of a device the same, as `SealedFix.identity`: the first 16 bytes of the SHA-256 of `"whereabouts/1
    /// same "`, the first member of the envelope, the tier, and its query or period (none for a fix of the history) with the
    /// device's name for the fix. Each wrapping of a period's key is another one.
    package var identity: Identifier128 {
        let parts: [UInt8] =
            switch self {
            case .answer(let envelope): [1] + envelope.query.bytes + envelope.clientID.bytes
            case .track(let envelope): [2] + envelope.clientID.bytes
            case .period: [3] + hash.bytes
            }
        return firstHalf(ofHash: Array("whereabouts/1 same ".utf8) + [UInt8(tier.rawValue)] + parts)
    }
}
