/// An envelope as the log keeps it. The service cannot open it.
package struct SealedFix: Hashable, Sendable {
    /// What makes two envelopes of one device the same: the first 16 bytes of a hash over the kind of the envelope, its tier,
    /// its query and the device's name for the fix. A phone that seals the same fix again has the same.
    package let identity: Identifier128
    /// The envelope, in its only encoding.
    package let envelope: [UInt8]

    package init(identity: Identifier128, envelope: [UInt8]) { (self.identity, self.envelope) = (identity, envelope) }
}

/// An envelope that a device sent, as far as it can be read without a key.
package struct SealedReport: Hashable, Sendable {
    /// The use of an envelope.
    package enum Use: Hashable, Sendable {
        /// A fix for those who asked this query.
        case answer(QueryID)
        /// A fix of the history.
        case track
        /// The key of a part of the history.
        case period
    }
    /// What it is for.
    package let use: Use
    /// The device that it names: 1 for the first device that its person ever had, 2 for the second.
    package let device: Int64
    /// The precision that its recipients may see.
    package let precision: Precision
    /// The keys that can open it; none for a track.
    package let recipients: [KeyID]
    /// The identity key whose signature it has; `nil` if it is not the person's.
    package let signer: KeyID?
    /// What the log keeps.
    package let sealed: SealedFix
    /// The SHA-256 of the envelope.
    package let hash: Hash256

    package init(
        use: Use, device: Int64, precision: Precision, recipients: [KeyID], signer: KeyID?, sealed: SealedFix,
        hash: Hash256
    ) {
        (self.use, self.device, self.precision, self.recipients) = (use, device, precision, recipients)
        (self.signer, self.sealed, self.hash) = (signer, sealed, hash)
    }
}

/// What a device says about its envelopes in one request.
package enum EnvelopeReport: Hashable, Sendable {
    case sealed(SealedReport)
    /// Not an envelope. Nothing of it is kept: it could be a fix that was not sealed.
    case unreadable(length: Int64)
    /// The phone did not answer a query.
    case refused(QueryID, SealingRefusal)
}

/// What was handed over with sealed fixes, for the record of a disclosure.
package struct DisclosedEnvelopes: Hashable, Sendable {
    /// The SHA-256 of each envelope, one after the other.
    package let hashes: [UInt8]
    /// The names of the keys that can open them, one after the other, without repeats.
    package let keys: [UInt8]

    package init(hashes: [UInt8], keys: [UInt8]) { (self.hashes, self.keys) = (hashes, keys) }
}
