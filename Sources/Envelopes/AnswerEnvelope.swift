package import Cryptography
package import Whereabouts

/// A fix that answers one query, for those who asked.
///
/// Five recipients make 900 bytes at most.
package struct AnswerEnvelope: Hashable, Sendable {
    /// The device that reports.
    package let device: EnvelopeDevice
    /// The query that it answers.
    package let query: QueryID
    /// The device's own name for the fix, the same in all tiers and when it is sent again.
    package let clientID: Identifier128
    /// The quarter of an hour of the fix.
    package let bucket: TimeBucket
    /// The precision of the fix.
    package let tier: EnvelopeTier
    /// The key of the box, for each recipient.
    package let wrapped: [WrappedKey]
    private let nonce, box: [UInt8]
    private let signature: EnvelopeSignature

    /// Seals a fix. About 120 µs for each recipient, and 100 µs for the signature.
    ///
    /// - Parameter recipients: Keys that the person has pinned, and only of grants with the tier's precision.
    /// - Throws: ``EnvelopeError/badRecipients``, ``EnvelopeError/badRecipientKey``, ``EnvelopeError/timeOutOfRange``.
    package init(
        sealing fix: TieredFix, from device: EnvelopeDevice, answering query: QueryID, as clientID: Identifier128,
        for recipients: [Curve25519.KeyAgreement.PublicKey], signedBy identity: Ed25519PrivateKey
    ) throws(EnvelopeError) {
        guard let bucket = TimeBucket(containing: fix.fix.timestamp) else { throw .timeOutOfRange }
        (self.device, self.query, self.clientID) = (device, query, clientID)
        (self.bucket, tier) = (bucket, fix.tier)
        let key = SymmetricKey.random()
        nonce = randomBytes(ChaChaPoly.nonceByteCount)
        var writer = Self.header(device, query, clientID, bucket, tier)
        wrapped = try WrappedKey.wrap(key, for: recipients, in: .answer, header: writer.bytes)
        writer.wrapped(wrapped)
        writer.byteString(nonce)
        box = SealedBox.seal(fix, using: key, nonce: nonce, header: writer.bytes)
        writer.byteString(box)
        signature = EnvelopeSignature(of: writer, by: identity)
    }

    init(from reader: inout EnvelopeReader) throws(EnvelopeError) {
        try reader.hasMembers(10)
        device = EnvelopeDevice(rawValue: try reader.integer(in: 1...Int64.max))
        query = try reader.identifier()
        clientID = try reader.identifier()
        bucket = try reader.bucket()
        tier = try reader.tier()
        wrapped = try reader.wrapped()
        nonce = try reader.byteString(ChaChaPoly.nonceByteCount)
        box = try reader.byteString(SealedBox.byteCount)
        signature = try EnvelopeSignature(from: &reader)
    }

    private static func header(
        _ device: EnvelopeDevice, _ query: QueryID, _ clientID: Identifier128, _ bucket: TimeBucket,
        _ tier: EnvelopeTier
    ) -> EnvelopeWriter {
        var writer = EnvelopeWriter(.answer, members: 10)
        writer.integer(device.rawValue)
        writer.byteString(query.bytes)
        writer.byteString(clientID.bytes)
        writer.integer(bucket.number)
        writer.integer(tier.rawValue)
        return writer
    }

    private var header: EnvelopeWriter { Self.header(device, query, clientID, bucket, tier) }

    /// The members before the box.
    private var beforeBox: EnvelopeWriter {
        var writer = header
        writer.wrapped(wrapped)
        writer.byteString(nonce)
        return writer
    }

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

    /// The fix, for a recipient who asked. An answer that the server replays from another query, or from earlier, is
    /// refused.
    ///
    /// - Parameters:
    ///   - identity: The subject's identity key, whose safety number the recipient has compared.
    ///   - query: The recipient's own query.
    ///   - earliest: The oldest time that the query accepts. It is compared with the end of the bucket.
    /// - Throws: ``EnvelopeError/wrongSignature`` before anything else, ``EnvelopeError/foreignQuery``,
    ///   ``EnvelopeError/tooOld``, ``EnvelopeError/notARecipient``, ``EnvelopeError/undecryptable``,
    ///   ``EnvelopeError/inconsistent``.
    package func open(
        with key: Curve25519.KeyAgreement.PrivateKey, signedBy identity: [UInt8], answering query: QueryID,
        notBefore earliest: Timestamp
    ) throws(EnvelopeError) -> Fix {
        guard isSigned(by: identity) else { throw .wrongSignature }
        guard self.query == query else { throw .foreignQuery }
        guard bucket.end > earliest else { throw .tooOld }
        let secret = try WrappedKey.unwrap(wrapped, with: key, in: .answer, header: header.bytes)
        return try SealedBox.open(
            box, using: secret, nonce: nonce, header: beforeBox.bytes, bucket: bucket, tier: tier)
    }
}
