package import Cryptography
package import Whereabouts

/// A fix of a person's history, sealed under the key of a period: 389 bytes at most, however many read it.
package struct TrackEnvelope: Hashable, Sendable {
    /// The device that reports.
    package let device: EnvelopeDevice
    /// The period whose key opens it.
    package let period: Identifier128
    /// The device's own name for the fix, the same in all tiers and when it is sent again.
    package let clientID: Identifier128
    /// The quarter of an hour of the fix.
    package let bucket: TimeBucket
    /// The precision of the fix. No period has fixes of two tiers.
    package let tier: EnvelopeTier
    private let nonce, box: [UInt8]
    private let signature: EnvelopeSignature

    /// Seals a fix. About 100 µs. Nonces are random: 2³² fixes are allowed for each key, and a period is a day.
    ///
    /// - Throws: ``EnvelopeError/timeOutOfRange``.
    package init(
        sealing fix: TieredFix, from device: EnvelopeDevice, in period: Identifier128, key: SymmetricKey,
        as clientID: Identifier128, signedBy identity: Ed25519PrivateKey
    ) throws(EnvelopeError) {
        guard let bucket = TimeBucket(containing: fix.fix.timestamp) else { throw .timeOutOfRange }
        (self.device, self.period, self.clientID) = (device, period, clientID)
        (self.bucket, tier) = (bucket, fix.tier)
        nonce = randomBytes(ChaChaPoly.nonceByteCount)
        var writer = Self.beforeBox(device, period, clientID, bucket, tier, nonce)
        box = SealedBox.seal(fix, using: key, nonce: nonce, header: writer.bytes)
        writer.byteString(box)
        signature = EnvelopeSignature(of: writer, by: identity)
    }

    init(from reader: inout EnvelopeReader) throws(EnvelopeError) {
        try reader.hasMembers(9)
        device = EnvelopeDevice(rawValue: try reader.integer(in: 1...Int64.max))
        period = try reader.identifier()
        clientID = try reader.identifier()
        bucket = try reader.bucket()
        tier = try reader.tier()
        nonce = try reader.byteString(ChaChaPoly.nonceByteCount)
        box = try reader.byteString(SealedBox.byteCount)
        signature = try EnvelopeSignature(from: &reader)
    }

    private static func beforeBox(
        _ device: EnvelopeDevice, _ period: Identifier128, _ clientID: Identifier128, _ bucket: TimeBucket,
        _ tier: EnvelopeTier, _ nonce: [UInt8]
    ) -> EnvelopeWriter {
        var writer = EnvelopeWriter(.track, members: 9)
        writer.integer(device.rawValue)
        writer.byteString(period.bytes)
        writer.byteString(clientID.bytes)
        writer.integer(bucket.number)
        writer.integer(tier.rawValue)
        writer.byteString(nonce)
        return writer
    }

    private var beforeBox: EnvelopeWriter { Self.beforeBox(device, period, clientID, bucket, tier, nonce) }

    private var beforeSignature: EnvelopeWriter {
        var writer = beforeBox
        writer.byteString(box)
        return writer
    }

    /// The envelope's only encoding.
    package var bytes: [UInt8] { signature.appended(to: beforeSignature) }

    /// Whether the owner of this identity key signed it.
    package func isSigned(by identity: [UInt8]) -> Bool {
        signature.isValid(for: beforeSignature, by: identity)
    }

    /// The fix, for someone who has the key of the period (``PeriodEnvelope/open(with:signedBy:)``).
    ///
    /// - Throws: ``EnvelopeError/wrongSignature``, ``EnvelopeError/undecryptable``, ``EnvelopeError/inconsistent``.
    package func open(with key: SymmetricKey, signedBy identity: [UInt8]) throws(EnvelopeError) -> Fix {
        guard isSigned(by: identity) else { throw .wrongSignature }
        return try SealedBox.open(box, using: key, nonce: nonce, header: beforeBox.bytes, bucket: bucket, tier: tier)
    }
}
