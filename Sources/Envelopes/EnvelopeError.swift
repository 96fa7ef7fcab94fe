/// Why an envelope cannot be made or opened. No case has any part of the content.
package enum EnvelopeError: Error, Equatable, Sendable {
    /// The bytes are not an envelope, or not in the deterministic encoding.
    case malformed
    /// There are more than ``Envelope/maximumBytes`` bytes.
    case tooLong
    /// No recipient, more than ``Envelope/maximumRecipients``, or one of them twice.
    case badRecipients
    /// A recipient's key is a point of small order, so anyone could open an envelope that is sealed for it.
    case badRecipientKey
    /// The time of the fix is before 14 November 1971 or after the year 9999.
    case timeOutOfRange
    /// The signature is not that of the person's identity key, or a byte was changed.
    case wrongSignature
    /// The envelope is not sealed for this key.
    case notARecipient
    /// The key does not open it, because the wrapped key, the header and the box come from different envelopes.
    case undecryptable
    /// It opens, but its content contradicts the header or the tier. Only the signer can make such an envelope.
    case inconsistent
    /// The answer belongs to another query.
    case foreignQuery
    /// The answer is older than the question accepts.
    case tooOld
}
