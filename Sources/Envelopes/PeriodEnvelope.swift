package import Cryptography
package import Whereabouts

/// The key of a part of a person's history, sealed for the people who may read it. The phone makes a new key for each day
/// and tier, and at once when a grant ends. It does not seal the new key for the person whose grant ended.
///
/// A person who later gets a grant with history gets another envelope with the same period and key.
package struct PeriodEnvelope: Hashable, Sendable {
    /// The device that made the key, and the fixes that it opens.
    package let device: EnvelopeDevice
    /// The period, as the fixes name it.
    package let period: Identifier128
    /// When the period began.
    package let from: Timestamp
    /// The precision of the fixes that the key opens.
    package let tier: EnvelopeTier
    /// The key, for each recipient.
    package let wrapped: [WrappedKey]
    private let signature: EnvelopeSignature

    /// The times at which a period can begin: from 1970 to the last millisecond of the year 9999.
    private static let starts: ClosedRange<Int64> = 0...253_402_300_799_999

    /// Seals the key of a period. About 120 µs for each recipient, and 100 µs for the signature.
    ///
    /// - Parameter recipients: Keys that the person has pinned, and only of grants with history and the tier's precision.
    /// - Throws: ``EnvelopeError/badRecipients``, ``EnvelopeError/badRecipientKey``, ``EnvelopeError/timeOutOfRange``.
    package init(
        sealing key: SymmetricKey, of device: EnvelopeDevice, period: Identifier128, from: Timestamp,
        tier: EnvelopeTier,
        for recipients: [Curve25519.KeyAgreement.PublicKey], signedBy identity: Ed25519PrivateKey
    ) throws(EnvelopeError) {
        guard Self.starts.contains(from.milliseconds) else { throw .timeOutOfRange }
        (self.device, self.period, self.from, self.tier) = (device, period, from, tier)
        var writer = Self.header(device, period, from, tier)
        wrapped = try WrappedKey.wrap(key, for: recipients, in: .period, header: writer.bytes)
        writer.wrapped(wrapped)
        signature = EnvelopeSignature(of: writer, by: identity)
    }

    init(from reader: inout EnvelopeReader) throws(EnvelopeError) {
        try reader.hasMembers(7)
        device = EnvelopeDevice(rawValue: try reader.integer(in: 1...Int64.max))
        period = try reader.identifier()
        from = Timestamp(milliseconds: try reader.integer(in: Self.starts))
        tier = try reader.tier()
        wrapped = try reader.wrapped()
        signature = try EnvelopeSignature(from: &reader)
    }

    private static func header(
        _ device: EnvelopeDevice, _ period: Identifier128, _ from: Timestamp, _ tier: EnvelopeTier
    ) -> EnvelopeWriter {
        var writer = EnvelopeWriter(.period, members: 7)
        writer.integer(device.rawValue)
        writer.byteString(period.bytes)
        writer.integer(from.milliseconds)
        writer.integer(tier.rawValue)
        return writer
    }

    private var header: EnvelopeWriter { Self.header(device, period, from, tier) }

    private var beforeSignature: EnvelopeWriter {
        var writer = header
        writer.wrapped(wrapped)
        return writer
    }

    /// The envelope's only encoding.
    package var bytes: [UInt8] { signature.appended(to: beforeSignature) }

    /// Whether the owner of this identity key signed it.
    package func isSigned(by identity: [UInt8]) -> Bool {
        signature.isValid(for: beforeSignature, by: identity)
    }

    /// The key of the period, for a recipient.
    ///
    /// - Throws: ``EnvelopeError/wrongSignature``, ``EnvelopeError/notARecipient``, ``EnvelopeError/undecryptable``.
    package func open(
        with key: Curve25519.KeyAgreement.PrivateKey, signedBy identity: [UInt8]
    ) throws(EnvelopeError) -> SymmetricKey {
        guard isSigned(by: identity) else { throw .wrongSignature }
        return try WrappedKey.unwrap(wrapped, with: key, in: .period, header: header.bytes)
    }
}
