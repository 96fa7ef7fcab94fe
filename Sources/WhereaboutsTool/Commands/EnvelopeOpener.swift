import Answers
import Cryptography
import DeviceAgent
import Envelopes
import Geodesy
import JSON
import Replies
import Whereabouts
import WireFormats

/// Opens a person's envelopes on this computer, with the keys of a file (`KeyFile`). The keys never leave it.
struct EnvelopeOpener {
    /// `--open-with`.
    static let option = Options.text(
        "open-with", "KEYFILE", help: "fetch envelopes and open them here, with the keys that \"key add\" made")
    static let help = """
        With --open-with, the answer is made on this computer from the person's envelopes: the service cannot read them. The
        signatures are checked with the identity key that "key pin" accepted. Names of places are not shown.
        """

    private let file: KeyFile
    /// The person whose envelopes are opened.
    let subject: Handle
    /// The person's identity key, as this computer knows it.
    private let identity: [UInt8]

    /// - Throws: ``ToolError/data(_:)`` if the file cannot be used, or has no identity key of the person.
    init(_ path: String, of subject: Handle) throws(ToolError) {
        file = try KeyCommands.file(path)
        self.subject = subject
        if file.person == subject {
            identity = file.identity.publicKey
        } else if let known = file.known(subject) {
            identity = known.identity
        } else {
            throw .data(
                "\(path) has no identity key of \(subject.text): accept it with \"key pin --as \(file.person.text) --person \(subject.text) --keys \(path)\" and compare the safety number."
            )
        }
    }

    /// The fix in an answer to one's own query.
    ///
    /// - Parameter earliest: The oldest time that the query accepts.
    func fix(
        in item: EnvelopeItem, answering query: QueryID, notBefore earliest: Timestamp
    ) throws(ToolError) -> OpenedFix {
        let envelope = try Self.envelope(item)
        guard case .answer(let answer) = envelope else { throw Self.refused(.foreignQuery) }
        let fix = try opened(for: answer.wrapped) { (key) throws(EnvelopeError) in
            try answer.open(with: key, signedBy: identity, answering: query, notBefore: earliest)
        }
        return OpenedFix(fix, in: envelope, item)
    }

    /// A fix that was opened, with the device that took it.
    struct OpenedFix {
        let fix: Fix
        /// What the envelope shows.
        let precision: Precision
        let device: String?
        let number: Reference

        init(_ fix: Fix, in envelope: Envelope, _ item: EnvelopeItem) {
            (self.fix, precision, device) = (fix, envelope.tier.precision, item.device)
            number = item.number ?? .text("")
        }
    }

    /// The fixes that this computer can open, each once, in the order of time, and the count of envelopes that it cannot.
    ///
    /// - Throws: ``ToolError/data(_:)`` for an envelope that the person did not sign: the service, or someone on the way, made it.
    func fixes(in items: [EnvelopeItem]) throws(ToolError) -> (fixes: [OpenedFix], closed: Int) {
        var keys: [Identifier128: SymmetricKey] = [:]
        var envelopes: [(item: EnvelopeItem, envelope: Envelope)] = []
        for item in items {
            let envelope = try Self.envelope(item)
            guard envelope.isSigned(by: identity) else { throw Self.refused(.wrongSignature) }
            envelopes.append((item, envelope))
            if case .period(let period) = envelope, let key = key(of: period) { keys[period.period] = key }
        }
        var found: [OpenedFix] = []
        var closed = 0
        for (item, envelope) in envelopes {
            switch envelope {
            case .period: continue
            case .track(let track):
                guard let key = keys[track.period], let fix = try? track.open(with: key, signedBy: identity) else {
                    closed += 1
                    continue
                }
                found.append(OpenedFix(fix, in: envelope, item))
            case .answer(let answer):
                let fix = file.recipients.lazy.compactMap { recipient in
                    try? answer.open(
                        with: recipient.key, signedBy: identity, answering: answer.query, notBefore: answer.bucket.start
                    )
                }.first
                guard let fix else {
                    closed += 1
                    continue
                }
                found.append(OpenedFix(fix, in: envelope, item))
            }
        }
        found.sort { $0.fix.timestamp < $1.fix.timestamp }
        // The same fix may be in an answer and in the history.
        var last: (device: String?, fix: Fix)?
        let each = found.filter { opened in
            defer { last = (opened.device, opened.fix) }
            return last.map { $0.device != opened.device || $0.fix != opened.fix } ?? true
        }
        return (each, closed)
    }

    private func key(of period: PeriodEnvelope) -> SymmetricKey? {
        file.recipients.lazy.compactMap { try? period.open(with: $0.key, signedBy: identity) }.first
    }

    /// Opens with the first of one's own keys that is a recipient.
    private func opened<Value>(
        for wrapped: [WrappedKey], _ open: (Curve25519.KeyAgreement.PrivateKey) throws(EnvelopeError) -> Value
    ) throws(ToolError) -> Value {
        for recipient in file.recipients where wrapped.contains(where: { $0.keyID == recipient.id }) {
            do throws(EnvelopeError) { return try open(recipient.key) } catch { throw Self.refused(error) }
        }
        throw Self.refused(.notARecipient)
    }

    private static func envelope(_ item: EnvelopeItem) throws(ToolError) -> Envelope {
        guard let bytes = Base64.decode(item.envelope), let envelope = try? Envelope(decoding: bytes) else {
            throw refused(.malformed)
        }
        return envelope
    }

    private static func refused(_ error: EnvelopeError) -> ToolError {
        let reason =
            switch error {
            case .wrongSignature: "the person did not sign it; compare the safety number"
            case .foreignQuery: "it answers another question"
            case .tooOld: "it is older than the question allows"
            case .notARecipient: "it is not sealed for a key of this file"
            case .inconsistent: "it shows more than its precision allows"
            default: "it cannot be opened"
            }
        return .data("The service sent an envelope that is refused: \(reason).")
    }
}

extension LocationItem {
    /// A fix that was opened here, as an answer shows it.
    init(_ opened: EnvelopeOpener.OpenedFix) {
        let fix = opened.fix
        self.init(
            timestamp: Moment(fix.timestamp),
            at: .degrees(latitude: fix.coordinate.latitude, longitude: fix.coordinate.longitude),
            horizontalAccuracy: fix.horizontalAccuracy, altitude: fix.altitude,
            ellipsoidalAltitude: fix.ellipsoidalAltitude, speed: fix.speed, course: fix.course,
            precision: opened.precision.word)
    }
}
