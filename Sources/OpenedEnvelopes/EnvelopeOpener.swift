import Cryptography
import Envelopes
package import Replies
package import Whereabouts

/// Opens a person's envelopes on this computer, with the keys of a file. The keys never leave it.
///
/// Only envelopes that the person has signed are opened, by the identity key that the owner of the file has accepted
/// (``KeyFile/Known``), whatever key the service shows.
package struct EnvelopeOpener: Sendable {
    private let file: KeyFile
    /// The person whose envelopes are opened.
    package let subject: Handle
    /// The person's identity key, as this computer knows it.
    private let identity: [UInt8]

    /// - Throws: ``OpeningError/unknownPerson(_:owner:)``.
    package init(_ file: KeyFile, of subject: Handle) throws(OpeningError) {
        (self.file, self.subject) = (file, subject)
        if file.person == subject {
            identity = file.identity.publicKey
        } else if let known = file.known(subject) {
            identity = known.identity
        } else {
            throw .unknownPerson(subject, owner: file.person)
        }
    }

    /// The fix in an answer to one's own query.
    ///
    /// - Parameter earliest: The oldest time that the query accepts.
    /// - Throws: ``OpeningError/refused(_:)``.
    package func fix(
        in item: EnvelopeItem, answering query: QueryID, notBefore earliest: Timestamp
    ) throws(OpeningError) -> OpenedFix {
        let envelope = try Self.envelope(item)
        guard case .answer(let answer) = envelope else { throw .refused(.foreignQuery) }
        for recipient in file.recipients where answer.wrapped.contains(where: { $0.keyID == recipient.id }) {
            do throws(EnvelopeError) {
                let fix = try answer.open(
                    with: recipient.key, signedBy: identity, answering: query, notBefore: earliest)
                return OpenedFix(fix, in: envelope, item)
            } catch { throw .refused(error) }
        }
        throw .refused(.notARecipient)
    }

    /// The fixes that this computer can open, each once, in the order of time, and the count of envelopes that it cannot.
    ///
    /// Cost: about 0.5 ms for each envelope.
    ///
    /// - Throws: ``OpeningError/refused(_:)`` for an envelope that the person did not sign: the service, or someone on the
    ///   way, made it.
    package func fixes(in items: [EnvelopeItem]) throws(OpeningError) -> (fixes: [OpenedFix], closed: Int) {
        var keys: [Identifier128: SymmetricKey] = [:]
        var envelopes: [(item: EnvelopeItem, envelope: Envelope)] = []
        for item in items {
            let envelope = try Self.envelope(item)
            guard envelope.isSigned(by: identity) else { throw .refused(.wrongSignature) }
            envelopes.append((item, envelope))
            if case .period(let period) = envelope, let key = key(of: period) { keys[period.period] = key }
        }
        var found: [OpenedFix] = []
        var closed = 0
        for (item, envelope) in envelopes {
            if case .period = envelope { continue }
            if let fix = fix(in: envelope, keys) {
                found.append(OpenedFix(fix, in: envelope, item))
            } else {
                closed += 1
            }
        }
        found.sort { ($0.fix.timestamp, $0.source.rawValue) < ($1.fix.timestamp, $1.source.rawValue) }
        // The same fix may be in an answer and in the history, or was sealed again.
        var known: Set<Sighting> = []
        return (found.filter { known.insert(Sighting(source: $0.source, fix: $0.fix)).inserted }, closed)
    }

    private struct Sighting: Hashable {
        let source: EnvelopeDevice
        let fix: Fix
    }

    /// - Parameter keys: The keys of the periods.
    private func fix(in envelope: Envelope, _ keys: [Identifier128: SymmetricKey]) -> Fix? {
        switch envelope {
        case .period: nil
        case .track(let track):
            keys[track.period].flatMap { try? track.open(with: $0, signedBy: identity) }
        case .answer(let answer):
            file.recipients.lazy.compactMap { recipient in
                try? answer.open(
                    with: recipient.key, signedBy: identity, answering: answer.query, notBefore: answer.bucket.start)
            }.first
        }
    }

    private func key(of period: PeriodEnvelope) -> SymmetricKey? {
        file.recipients.lazy.compactMap { try? period.open(with: $0.key, signedBy: identity) }.first
    }

    private static func envelope(_ item: EnvelopeItem) throws(OpeningError) -> Envelope {
        guard let bytes = Base64.decode(item.envelope), let envelope = try? Envelope(decoding: bytes) else {
            throw .refused(.malformed)
        }
        return envelope
    }
}
