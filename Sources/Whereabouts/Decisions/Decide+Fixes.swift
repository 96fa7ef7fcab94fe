// Reports of devices: fixes, sightings, waypoints, rejected input.

extension Standing {
    func decideFixes(
        _ reports: [DeviceReport], of reference: DeviceReference, by caller: Caller, at now: Timestamp,
        known fixes: inout some FixLookup
    ) throws(Refusal) -> Decision {
        let id = try reportingDevice(reference, by: caller)
        guard let device = devices[id] else { throw .notFound }
        var decision = Decision()
        decision.reply = .fixes(take(reports, of: id, device, isImport: false, at: now, known: &fixes, into: &decision))
        return decision
    }

    /// Takes in one device's part of an import. The person and the device are made first if they do not exist, by the
    /// same decision: either all of it is in the log or nothing.
    ///
    /// - Parameter file: The import, which is begun for the person if it was not; `nil` for reports of no import.
    /// - Throws: ``Refusal/alreadyExists(_:)`` if the device is another person's.
    func importFixes(
        _ reports: [DeviceReport], of owner: Handle, _ handle: Handle, in file: ImportReference?, by caller: Caller,
        at now: Timestamp, known fixes: inout some FixLookup
    ) throws(Refusal) -> Decision {
        try requireOperator(caller)
        var decision = Decision()
        let known = person(owner)
        let person = known ?? PersonID(rawValue: persons.next)
        if known == nil { decision.append(.personAdded(person, handle: .open(owner)), to: .audit(person)) }
        if let file { try join(file, person, isKnown: known != nil, &decision) }
        let outcomes: [FixOutcome]
        let existing = device(handle)
        if let existing {
            guard let device = devices[existing], device.person == known else {
                throw .alreadyExists("The device \(handle.text) is another person's; choose another handle.")
            }
            outcomes = take(reports, of: existing, device, isImport: true, at: now, known: &fixes, into: &decision)
        } else {
            let id = DeviceID(rawValue: known == nil ? persons.next + 1 : persons.next)
            decision.append(.deviceAdded(id, of: person, handle: .open(handle)), to: .audit(person))
            outcomes = take(
                reports, of: id, Device(person: person, handle: handle), isImport: true, at: now, known: &fixes,
                into: &decision)
        }
        decision.reply = .imported(
            ImportOutcome(addedPerson: known == nil, addedDevice: existing == nil, fixes: outcomes))
        return decision
    }

    /// Appends the events of a device's reports, and returns the outcome of each report.
    ///
    /// - Parameter isImport: Whether the reports are of a file, which may have more visits than are remembered.
    private func take(
        _ reports: [DeviceReport], of id: DeviceID, _ device: Device, isImport: Bool, at now: Timestamp,
        known fixes: inout some FixLookup, into decision: inout Decision
    ) -> [FixOutcome] {
        let track = StreamID.track(device.person)
        let reports = device.isSealed ? reports.map(\.ofSealedDevice) : reports
        var newest = device.reports.newestTimestamp
        var authorization = device.authorization?.report
        var sightings = device.reports.sightings
        var waypoints: WaypointChanges?
        // Filled at the first fix that is not newer than the ones before it: most batches have none.
        var inThisBatch: FixesOfBatch?
        var keptInThisBatch: Set<Hash256> = []
        func isKnown(_ hash: Hash256) -> Bool {
            device.reports.kept.contains(hash) || !keptInThisBatch.insert(hash).inserted
        }
        func outcome(of index: Int) -> FixOutcome {
            switch reports[index] {
            case .rejected(let reason, let input, let length):
                if !isKnown(input.hash) {
                    decision.append(
                        .inputRejected(device: id, reason: reason, length: length, .open(input)), to: track)
                }
                return .rejected(reason)
            case .authorization(let report):
                guard report != authorization else { return .duplicate }
                authorization = report
                decision.append(.authorizationReported(device: id, .open(report)), to: .audit(device.person))
                return .new
            case .sighting(let sighting):
                // A device repeats a sighting until it is acknowledged.
                let mark = sighting.mark
                guard !sightings.contains(mark) else { return .duplicate }
                if isImport, case .visit(let visit) = sighting,
                    case .same = fixes.known(visit.standIn, device: id)
                {
                    return .duplicate
                }
                sightings.append(mark)
                decision.append(.sightingReported(device: id, sighting.kind, .open(sighting)), to: track)
                return .new
            case .waypoint(let waypoint):
                var changes = waypoints.take() ?? WaypointChanges(of: device.person, in: self)
                let outcome = changes.take(waypoint, into: &decision)
                waypoints = consume changes
                return outcome
            case .message(let message):
                guard !isKnown(message.hash) else { return .duplicate }
                decision.append(.messageReported(device: id, .open(message)), to: track)
                return .new
            case .fix(let fix, let query):
                var isTwin = false
                // Newer than any fix of this device, so it cannot be known and needs no look-up.
                if newest.map({ fix.timestamp <= $0 }) ?? false {
                    var known = inThisBatch.take() ?? FixesOfBatch(reports[..<index], of: id)
                    let isNew: Bool
                    (isNew, isTwin) = known.add(fix)
                    inThisBatch = consume known
                    // The number of a duplicate in this batch matters only to the query that it answers.
                    var number = isNew || query == nil ? nil : decision.number(of: fix, after: place)
                    if number == nil, isNew || query != nil {
                        switch fixes.known(fix, device: id) {
                        case .none: break
                        case .twin: isTwin = true
                        case .same(let known): number = known
                        }
                    }
                    if !isNew || number != nil {
                        // The app's own upload may have been faster than the extension's.
                        if let query, let number { end(query, fix, number, of: device.person, at: now, in: &decision) }
                        return .duplicate
                    }
                } else {
                    newest = fix.timestamp
                    _ = inThisBatch?.add(fix)
                }
                append(fix, answering: query, of: id, device.person, at: now, to: &decision)
                return isTwin ? .twin : .new
            }
        }
        // Most commands have one report.
        return reports.count == 1 ? FixOutcome.only(outcome(of: 0)) : reports.indices.map { outcome(of: $0) }
    }

    private func reportingDevice(_ reference: DeviceReference, by caller: Caller) throws(Refusal) -> DeviceID {
        switch reference {
        case .caller:
            let id = DeviceID(rawValue: caller.principal.rawValue)
            guard caller.scopes.contains(.report), let device = devices[id], !device.isRemoved else { throw .notFound }
            return id
        case .named(let handle):
            // The house itself, if a broker vouches for the device.
            if caller != .house { try requireOperator(caller) }
            guard let id = device(handle) else { throw .notFound }
            return id
        }
    }

    /// A known fix that is sent again as the answer to `query` is that query's answer.
    private func end(
        _ query: QueryID, _ fix: Fix, _ number: Int64, of person: PersonID, at now: Timestamp,
        in decision: inout Decision
    ) {
        guard let known = queries[query], known.subject == person, known.end == nil, !known.awaitsConsent,
            isUsable(fix, at: now), !decision.ends(query), endsAtOnce(known, isAnswer: true),
            persons[person]?.withdrawn.numbers.contains(number) != true
        else { return }
        decision.append(.locationQueryEnded(query, .answered, fix: number), to: .audit(person), cause: number)
    }

    /// Whether folds would use the fix as a newest location. No other fix may answer a query.
    private func isUsable(_ fix: Fix, at now: Timestamp) -> Bool {
        (fix.horizontalAccuracy ?? 0) >= 0
            && fix.timestamp <= (fix.receivedAt ?? now).adding(seconds: Limits.futureUnusedSeconds)
    }

    /// A fix that answers a query ends every open query about the person, because all requesters wait for the same
    /// news. Another fix ends the queries that were asked before it was taken, except for coarse ones
    /// (``endsAtOnce(_:isAnswer:)``).
    private func append(
        _ fix: Fix, answering query: QueryID?, of device: DeviceID, _ person: PersonID, at now: Timestamp,
        to decision: inout Decision
    ) {
        let number = place + 1 + Int64(decision.drafts.count)
        let known = query.flatMap { queries[$0] }
        let answers = known?.subject == person
        // A query that is forgotten by now stays named, as the device reports it; another person's query never does.
        decision.append(
            .fixReported(device: device, answering: answers || known == nil ? query : nil, .open(fix)),
            to: .track(person), cause: answers ? known?.number ?? 0 : 0)
        guard isUsable(fix, at: now) else { return }
        for query in queries.open(about: person)
        where answers || fix.timestamp >= queries[query]?.askedAt ?? now {
            guard let asked = queries[query], !asked.awaitsConsent, !decision.ends(query),
                endsAtOnce(asked, isAnswer: answers)
            else { continue }
            decision.append(.locationQueryEnded(query, .answered, fix: number), to: .audit(person), cause: number)
        }
    }

    /// Whether a fix ends a query when it comes.
    ///
    /// Only the answer of a phone that was woken ends a coarse query at once. Other fixes would disclose the minute of
    /// a report: unrequested reports, and reports that an app sends because the answer to its last one requested them.
    /// They answer in the query's last second (``coarseAnswer(to:at:)``).
    private func endsAtOnce(_ query: Query, isAnswer: Bool) -> Bool {
        guard coarsePermit(of: query.verdict) != nil else { return true }
        let isWoken = !query.waking.pushes.isEmpty || query.waking.withheld.contains { $0.reason == .coalesced }
        return isAnswer && (isWoken || query.waking.commanded.isEmpty)
    }
}

/// The fixes of a batch, up to one of them.
private struct FixesOfBatch {
    private let device: DeviceID
    /// The first content of each identity. Most have no twin, and an identity is hashed faster than a content.
    private var first: [Fix.Identity: Fix] = [:]
    /// The further contents of an identity.
    private var twins: Set<Fix> = []

    init(_ reports: ArraySlice<DeviceReport>, of device: DeviceID) {
        self.device = device
        for case .fix(let fix, _) in reports { _ = add(fix) }
    }

    /// Adds a fix. `isNew` if the batch did not have it; `isTwin` if the batch has one that differs only in other
    /// fields.
    mutating func add(_ fix: Fix) -> (isNew: Bool, isTwin: Bool) {
        let content = fix.content
        let identity = fix.identity(device: device)
        guard let known = first[identity] else {
            first[identity] = content
            return (true, false)
        }
        let isNew = known != content && twins.insert(content).inserted
        return (isNew, isNew)
    }
}

extension Decision {
    /// The number that a draft with the same fix will get; the first draft gets `place + 1`.
    func number(of fix: Fix, after place: Int64) -> Int64? {
        let content = fix.content
        let index = drafts.firstIndex {
            if case .fixReported(_, _, .open(let known)) = $0.event { known.content == content } else { false }
        }
        return index.map { place + 1 + Int64($0) }
    }

    /// Whether a draft already ends the query.
    func ends(_ query: QueryID) -> Bool {
        drafts.contains {
            if case .locationQueryEnded(query, _, _) = $0.event { true } else { false }
        }
    }
}

extension Fix {
    /// The fix without the fields that do not describe the device's location: the client's id, the time of receipt and
    /// the remainder. Two reports of one device with equal content are the same fix.
    package var content: Fix {
        var fix = self
        fix.clientID = nil
        fix.receivedAt = nil
        fix.remainder = nil
        return fix
    }
}

extension Order where Reply == [FixOutcome] {
    /// ``Command/reportFixes(device:_:)``, with one outcome for each report.
    package static func reportFixes(device: DeviceReference, _ reports: [DeviceReport]) -> Order {
        Order(.reportFixes(device: device, reports)) { if case .fixes(let outcomes) = $0 { outcomes } else { nil } }
    }
}
