// Imports of files: each begins once for each person whose history it brings, and ends once.

extension Standing {
    /// Begins an import of a file into a person's history. The person is added if they do not exist.
    ///
    /// If an import of the same file into the same history was begun and has not ended, it is continued: there is no
    /// event, and the reply names that import.
    func beginImport(
        _ wanted: ImportReference, of handle: Handle, by caller: Caller
    ) throws(Refusal) -> Decision {
        try requireOperator(caller)
        var decision = Decision()
        let known = person(handle)
        if let known, let number = persons.imports.unended(wanted.file, of: known) {
            decision.reply = .importing(number)
            return decision
        }
        let person = known ?? PersonID(rawValue: persons.next)
        if known == nil { decision.append(.personAdded(person, handle: .open(handle)), to: .audit(person)) }
        let number = try join(wanted, person, isKnown: known != nil, &decision)
        decision.reply = .importing(number)
        return decision
    }

    /// Begins an import in a person's history, unless it was begun there.
    ///
    /// - Returns: The number of the event that began it.
    @discardableResult
    func join(
        _ wanted: ImportReference, _ person: PersonID, isKnown: Bool, _ decision: inout Decision
    ) throws(Refusal) -> ImportID {
        if isKnown, let number = persons.imports.find(wanted.id, of: person) {
            guard let begun = persons.imports[number], begun.end == nil, !begun.isUndone else {
                throw .invalid("This import has ended or was undone; begin another one.")
            }
            return number
        }
        if let defect = wanted.file.defect { throw .invalid(defect) }
        decision.append(.importBegan(wanted.id, .open(wanted.file)), to: .audit(person))
        return ImportID(rawValue: place + Int64(decision.drafts.count))
    }

    /// Ends an import in a person's history. If it has ended there, there is no event.
    ///
    /// - Parameter fault: Why the file was not read to its end; `nil` if it was.
    func endImport(
        _ id: Identifier128, _ counts: ImportCounts, fault: ImportFault?, of handle: Handle, by caller: Caller
    ) throws(Refusal) -> Decision {
        try requireOperator(caller)
        guard let person = person(handle), let number = persons.imports.find(id, of: person),
            let known = persons.imports[number]
        else { throw .notFound }
        guard
            [counts.new, counts.duplicate, counts.visits, counts.rejected].allSatisfy({
                (0...Limits.importedRecords).contains($0)
            })
        else { throw .invalid("The counts of an import must be from 0 to \(Limits.importedRecords).") }
        if let defect = fault?.defect { throw .invalid(defect) }
        var decision = Decision()
        if known.end == nil {
            decision.append(
                .importEnded(counts, fault.map { .open($0) }), to: .audit(person), cause: number.rawValue)
        }
        return decision
    }
}

extension Order where Reply == ImportID {
    /// ``Command/beginImport(_:of:)``
    package static func beginImport(_ file: ImportReference, of person: Handle) -> Order {
        Order(.beginImport(file, of: person)) { if case .importing(let id) = $0 { id } else { nil } }
    }
}

extension Order where Reply == ImportOutcome {
    /// ``Command/importFixes(of:device:_:in:)``
    package static func importFixes(
        of person: Handle, device: Handle, _ reports: [DeviceReport], in file: ImportReference
    ) -> Order {
        Order(.importFixes(of: person, device: device, reports, in: file)) {
            if case .imported(let outcome) = $0 { outcome } else { nil }
        }
    }
}
