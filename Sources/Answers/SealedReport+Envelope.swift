import Cryptography
package import Envelopes
import Log
package import Whereabouts

extension SealedReport {
    /// An envelope that a device sent, parsed at the door.
    ///
    /// - Parameter identity: The identity key of the device's owner, if there is one: the signature is checked with it.
    package init(_ envelope: Envelope, of identity: IdentityKey?) {
        let use: Use =
            switch envelope {
            case .answer(let answer): .answer(answer.query)
            case .track: .track
            case .period: .period
            }
        let isSigned = identity.map { envelope.isSigned(by: $0.key) } ?? false
        self.init(
            use: use, device: envelope.device.rawValue, precision: envelope.tier.precision,
            recipients: envelope.wrapped.map(\.keyID), signer: isSigned ? identity?.id : nil,
            sealed: SealedFix(identity: envelope.identity, envelope: envelope.bytes), hash: Hash256(envelope.hash))
    }
}

extension QueryView.Answer {
    /// The item of an envelope; `nil` for bytes that are no envelope.
    init?(_ sealed: SealedFix) {
        guard case .answer(let envelope)? = try? Envelope(decoding: sealed.envelope) else { return nil }
        self = .sealed(
            sealed, from: envelope.bucket.start, to: Timestamp(milliseconds: envelope.bucket.end.milliseconds - 1))
    }
}

extension DisclosedEnvelopes {
    /// The record of envelopes that are handed over.
    package init(_ envelopes: [Envelope]) {
        var keys: [KeyID] = []
        for key in envelopes.flatMap(\.wrapped).map(\.keyID) where !keys.contains(key) { keys.append(key) }
        self.init(hashes: envelopes.flatMap(\.hash.bytes), keys: keys.flatMap(\.bytes))
    }
}
