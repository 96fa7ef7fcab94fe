// Envelopes of devices: taken, or refused with the reason on record.

extension Standing {
    /// Takes the envelopes of the calling device, and what it says about queries that it did not answer.
    ///
    /// An envelope is kept only if the person's present identity key signed it, it names the calling device, and everyone
    /// who can open it may: the person accepts the key and still shares with its owner. So an envelope that was made before a
    /// grant ended, and arrives after it, is refused.
    func reportEnvelopes(
        _ reports: [EnvelopeReport], by caller: Caller, at now: Timestamp, known fixes: inout some FixLookup
    ) throws(Refusal) -> Decision {
        let id = DeviceID(rawValue: caller.principal.rawValue)
        guard caller.scopes.contains(.report), let device = devices[id], !device.isRemoved else { throw .notFound }
        let track = StreamID.track(device.person)
        var decision = Decision()
        var outcomes: [FixOutcome] = []
        var identities: Set<Identifier128> = []
        var kept = Set(device.reports.kept)
        func reject(_ reason: RejectionReason, _ hash: Hash256, length: Int) {
            outcomes.append(.rejected(reason))
            guard kept.insert(hash).inserted else { return }
            decision.append(
                .inputRejected(
                    device: id, reason: reason, length: Int64(length), .open(RejectedInput(hash: hash, head: []))),
                to: track)
        }
        for report in reports {
            switch report {
            case .unreadable(let length): reject(.badEnvelope, .mark(of: .badEnvelope), length: Int(length))
            case .refused(let query, let reason):
                guard answerable(about: device.person, at: now).contains(where: { $0.id == query }) else {
                    outcomes.append(.duplicate)
                    continue
                }
                outcomes.append(.new)
                decision.append(
                    .sealingRefused(device: id, query: query, reason), to: .audit(device.person),
                    cause: queries[query]?.number ?? 0)
            case .sealed(let report):
                if let reason = flaw(of: report, from: id, of: device.person) {
                    reject(reason, report.hash, length: report.sealed.envelope.count)
                    continue
                }
                guard identities.insert(report.sealed.identity).inserted,
                    !isKnown(report.sealed, device: id, known: &fixes)
                else {
                    outcomes.append(.duplicate)
                    continue
                }
                if let reason = flaw(ofRecipients: report, of: device.person, at: now, decision) {
                    reject(reason, report.hash, length: report.sealed.envelope.count)
                    continue
                }
                outcomes.append(.new)
                append(report, of: id, device.person, to: &decision)
            }
        }
        decision.reply = .fixes(outcomes)
        return decision
    }

    private func isKnown(_ sealed: SealedFix, device: DeviceID, known fixes: inout some FixLookup) -> Bool {
        guard let standIn = sealed.standIn, case .same = fixes.known(standIn, device: device) else { return false }
        return true
    }

    /// What is wrong with an envelope, regardless of its recipients; `nil` for a good one.
    private func flaw(of report: SealedReport, from device: DeviceID, of person: PersonID) -> RejectionReason? {
        guard let identity = sealingKeys[person].identity, report.signer == identity.key.id else {
            return .wrongSignature
        }
        return envelopeNumber(of: device) == report.device ? nil : .otherDevice
    }

    /// Why the envelope may not be opened by those who can.
    private func flaw(
        ofRecipients report: SealedReport, of person: PersonID, at now: Timestamp, _ decision: Decision
    ) -> RejectionReason? {
        guard report.recipients.allSatisfy({ maySeal(for: $0, by: person) }) else { return .recipientNotPinned }
        switch report.use {
        case .track: return nil
        case .answer(let id):
            guard let query = answerable(about: person, at: now).first(where: { $0.id == id }), !decision.ends(id)
            else { return .noSuchQuery }
            let others = Set(sealable(by: person, for: query.asker))
            let fits = report.precision == query.precision && report.recipients.contains { others.contains($0) }
            guard fits, report.recipients.allSatisfy({ others.contains($0) || sealingKeys[person].hasHad($0) }),
                query.asker == person || mayOpen(report, query.asker, of: person, at: now)
            else { return .wrongRecipient }
            return nil
        case .period:
            let pins = sealingKeys[person].pins
            for key in report.recipients where sealingKeys[person].recipient(key) == nil {
                guard let owner = pins.first(where: { $0.key == key })?.owner,
                    mayOpen(report, owner, of: person, at: now)
                else { return .wrongRecipient }
            }
            return nil
        }
    }

    /// Whether a person's newest valid grant is for the precision of the envelope, and for the history if that is what the
    /// envelope opens.
    private func mayOpen(_ report: SealedReport, _ reader: PersonID, of person: PersonID, at now: Timestamp) -> Bool {
        guard let grant = grants(of: person, for: reader).last(where: { $0.isInForce(at: now) }) else { return false }
        guard report.use == .period else { return grant.precision == report.precision }
        return grant.precision == report.precision && grant.includesHistory && !grant.asksEachTime
    }

    /// An answer ends its query, and no other: only those who asked it can open the envelope.
    private func append(
        _ report: SealedReport, of device: DeviceID, _ person: PersonID, to decision: inout Decision
    ) {
        let number = place + 1 + Int64(decision.drafts.count)
        guard case .answer(let query) = report.use else {
            return decision.append(
                .sealedFixReported(device: device, answering: nil, .open(report.sealed)), to: .track(person))
        }
        decision.append(
            .sealedFixReported(device: device, answering: query, .open(report.sealed)), to: .track(person),
            cause: queries[query]?.number ?? 0)
        decision.append(.locationQueryEnded(query, .answered, fix: number), to: .audit(person), cause: number)
    }
}

extension DeviceReport {
    /// The report of a device that only sends envelopes: nothing of what the phone knows of its place is kept, not even a
    /// hash, which could be searched for. An authorization has no place.
    var ofSealedDevice: DeviceReport {
        switch self {
        case .authorization: self
        case .fix, .sighting, .waypoint, .message, .rejected:
            .rejected(.notSealed, RejectedInput(hash: .mark(of: .notSealed), head: []), length: 0)
        }
    }
}

extension Hash256 {
    /// Stands for the hash of something that must not be kept. It is the same for each reason, so that repeats are one event.
    fileprivate static func mark(of reason: RejectionReason) -> Hash256 {
        Hash256(words: (0, 0, 0, UInt64(reason.rawValue)))
    }
}

extension Order where Reply == [FixOutcome] {
    /// ``Command/reportEnvelopes(_:)``, with one outcome for each envelope and refusal.
    package static func reportEnvelopes(_ reports: [EnvelopeReport]) -> Order {
        Order(.reportEnvelopes(reports)) { if case .fixes(let outcomes) = $0 { outcomes } else { nil } }
    }
}
