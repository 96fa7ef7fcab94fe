// A person's corrections of their visits.

extension Standing {
    func correct(
        _ correction: Correction, of handle: Handle, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        let person = try manage(handle, by: caller, at: now)
        guard (persons[person]?.corrections.count ?? 0) < Limits.correctionsPerPerson else {
            throw .invalid("A person has at most \(Limits.correctionsPerPerson) corrections; withdraw one first.")
        }
        if case .rename(_, let name) = correction, !(1...Limits.placeNameCharacters).contains(name.unicodeScalars.count)
        {
            throw .invalid("A place's name must have 1 to \(Limits.placeNameCharacters) characters.")
        }
        if case .samePlace(let first, let other) = correction, first == other {
            throw .invalid("The two places have the same coordinate; give the coordinates of two places.")
        }
        var decision = Decision()
        decision.append(.correctionMade(.open(correction)), to: .audit(person))
        decision.reply = .correction(CorrectionID(rawValue: place + 1))
        return decision
    }

    func withdrawCorrection(
        _ id: CorrectionID, of handle: Handle, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        let person = try manage(handle, by: caller, at: now)
        guard persons[person]?.corrections[id] != nil else { throw .notFound }
        var decision = Decision()
        decision.append(.correctionWithdrawn(id), to: .audit(person))
        return decision
    }

    /// The person's corrections, in the order in which they were made.
    package func corrections(of person: PersonID) -> [(id: CorrectionID, correction: Correction)] {
        (persons[person]?.corrections ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

extension Order where Reply == CorrectionID {
    /// ``Command/correct(_:of:)``
    package static func correct(_ correction: Correction, of person: Handle) -> Order {
        Order(.correct(correction, of: person)) { if case .correction(let id) = $0 { id } else { nil } }
    }
}
