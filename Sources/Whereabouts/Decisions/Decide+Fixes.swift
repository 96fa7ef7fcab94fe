// What devices report: fixes, sightings, waypoints, rejected input, location push tokens.

extension Standing {
    func decideFixes(
        _ reports: [DeviceReport], of reference: DeviceReference, by caller: Caller, at now: Timestamp,
        known fixes: inout some FixLookup
    ) throws(Refusal) -> Decision {
        let id = try reportingDevice(reference, by: caller)
        guard let device = devices[id] else { throw .notFound }
        let track = StreamID.track(device.person)
        var decision = Decision()
        var outcomes: [FixOutcome] = []
        outcomes.reserveCapacity(reports.count)
        var newest = device.newestTimestamp
        var authorization = device.authorization?.report
        var sightings = device.sightings
        var waypoints: WaypointChanges?
        // Filled when the first fix comes that is not newer than the ones before it: most batches have none.
        var inThisBatch: FixesOfBatch?
        var keptInThisBatch: Set<Hash256> = []
        func isKnown(_ hash: Hash256) -> Bool {
            device.kept.contains(hash) || !keptInThisBatch.insert(hash).inserted
        }
        for (index, report) in reports.enumerated() {
            switch report {
            case .rejected(let reason, let input, let length):
                outcomes.append(.rejected(reason))
                if isKnown(input.hash) { continue }
                decision.append(
                    .inputRejected(device: id, reason: reason, length: length, .open(input)), to: track)
            case .authorization(let report):
                guard report != authorization else {
                    outcomes.append(.duplicate)
                    continue
                }
                authorization = report
                outcomes.append(.new)
                decision.append(.authorizationReported(device: id, .open(report)), to: .audit(device.person))
            case .sighting(let sighting):
                // A device sends what it saw again until it is acknowledged.
                let mark = sighting.mark
                guard !sightings.contains(mark) else {
                    outcomes.append(.duplicate)
                    continue
                }
                sightings.append(mark)
                outcomes.append(.new)
                decision.append(.sightingReported(device: id, sighting.kind, .open(sighting)), to: track)
            case .waypoint(let waypoint):
                var changes = waypoints.take() ?? WaypointChanges(of: device.person, in: self)
                outcomes.append(changes.take(waypoint, into: &decision))
                waypoints = consume changes
            case .message(let message):
                guard !isKnown(message.hash) else {
                    outcomes.append(.duplicate)
                    continue
                }
                outcomes.append(.new)
                decision.append(.messageReported(device: id, .open(message)), to: track)
            case .fix(let fix, let query):
                var isTwin = false
                // Newer than anything of this device: it cannot be known, and needs no look-up.
                if newest.map({ fix.timestamp <= $0 }) ?? false {
                    var known = inThisBatch.take() ?? FixesOfBatch(reports[..<index], of: id)
                    let isNew: Bool
                    (isNew, isTwin) = known.add(fix)
                    inThisBatch = consume known
                    // Of a duplicate in this batch the number matters only to the query it names.
                    var number = isNew || query == nil ? nil : decision.number(of: fix, after: place)
                    if number == nil, isNew || query != nil {
                        switch fixes.known(fix, device: id) {
                        case .none: break
                        case .twin: isTwin = true
                        case .same(let known): number = known
                        }
                    }
                    if !isNew || number != nil {
                        outcomes.append(.duplicate)
                        // The app's own upload may have been faster than the extension's.
                        if let query, let number { end(query, fix, number, of: device.person, at: now, in: &decision) }
                        continue
                    }
                } else {
                    newest = fix.timestamp
                    _ = inThisBatch?.add(fix)
                }
                outcomes.append(isTwin ? .twin : .new)
                append(fix, answering: query, of: id, device.person, at: now, to: &decision)
            }
        }
        decision.reply = .fixes(outcomes)
        return decision
    }

    private func reportingDevice(_ reference: DeviceReference, by caller: Caller) throws(Refusal) -> DeviceID {
        switch reference {
        case .caller:
            let id = DeviceID(rawValue: caller.principal.rawValue)
            guard caller.scopes.contains(.report), let device = devices[id], !device.isRemoved else { throw .notFound }
            return id
        case .named(let handle):
            // The house itself where a broker vouches for the device.
            if caller != .house { try requireOperator(caller) }
            guard let id = deviceByHandle[handle] else { throw .notFound }
            return id
        }
    }

    /// A fix that was known before it was sent again as the answer to `query` is that query's answer.
    private func end(
        _ query: QueryID, _ fix: Fix, _ number: Int64, of person: PersonID, at now: Timestamp,
        in decision: inout Decision
    ) {
        guard let known = queries[query], known.subject == person, known.end == nil, !known.awaitsConsent,
            isUsable(fix, at: now), !decision.ends(query), endsAtOnce(known, isAnswer: true)
        else { return }
        decision.append(.locationQueryEnded(query, .answered, fix: number), to: .audit(person), cause: number)
    }

    /// Whether folds would use the fix as a newest place; nothing else may answer a question.
    private func isUsable(_ fix: Fix, at now: Timestamp) -> Bool {
        (fix.horizontalAccuracy ?? 0) >= 0
            && fix.timestamp <= (fix.receivedAt ?? now).adding(seconds: Limits.futureUnusedSeconds)
    }

    /// A fix that answers a query ends every open query of the person's: all askers wait for the same news. A fix that
    /// nobody asked for, but taken since a query was asked, ends that query too unless it is a coarse one
    /// (``endsAtOnce(_:isAnswer:)``).
    private func append(
        _ fix: Fix, answering query: QueryID?, of device: DeviceID, _ person: PersonID, at now: Timestamp,
        to decision: inout Decision
    ) {
        let number = place + 1 + Int64(decision.drafts.count)
        let known = query.flatMap { queries[$0] }
        let answers = known?.subject == person
        // A query that is forgotten by now stays named, as the device says; somebody else's never is.
        decision.append(
            .fixReported(device: device, answering: answers || known == nil ? query : nil, .open(fix)),
            to: .track(person), cause: answers ? known?.number ?? 0 : 0)
        guard isUsable(fix, at: now), let open = openQueries[person] else { return }
        for query in open where answers || fix.timestamp >= queries[query]?.askedAt ?? now {
            guard let asked = queries[query], !asked.awaitsConsent, !decision.ends(query),
                endsAtOnce(asked, isAnswer: answers)
            else { continue }
            decision.append(.locationQueryEnded(query, .answered, fix: number), to: .audit(person), cause: number)
        }
    }

    /// Whether a fix ends a query when it comes.
    ///
    /// A coarse query ends at once only by the answer of a phone that was woken. A fix that comes by itself, and the one
    /// that an app sends because it was told so in the answer to its last report, would show the minute of that report; such
    /// a fix answers in the query's last second (``coarseAnswer(to:at:)``).
    private func endsAtOnce(_ query: Query, isAnswer: Bool) -> Bool {
        guard coarsePermit(of: query.verdict) != nil else { return true }
        let isWoken = !query.pushes.isEmpty || query.withheld.contains { $0.reason == .coalesced }
        return isAnswer && (isWoken || query.commanded.isEmpty)
    }

    func registerPushToken(
        _ token: LocationPushToken, _ environment: PushEnvironment, of handle: Handle, by caller: Caller,
        at now: Timestamp
    ) throws(Refusal) -> Decision {
        let id = DeviceID(rawValue: caller.principal.rawValue)
        guard caller.scopes.contains(.report), let device = devices[id], !device.isRemoved, device.handle == handle
        else {
            throw .notFound
        }
        guard Limits.pushTokenBytes.contains(token.bytes.count) else {
            throw .invalid("A location push token has 4 to 100 bytes; send the hex of what the system gave.")
        }
        var decision = Decision()
        let held = device.pushToken
        // The same one again tells that it is still good: what Apple says about it as of before no longer counts.
        let isFresh =
            held.map { now < $0.registeredAt.adding(seconds: Limits.pushTokenRenewalSeconds) } ?? false
        if held?.token != token || held?.environment != environment || !isFresh {
            decision.append(
                .locationPushTokenRegistered(device: id, environment: environment, .open(token)),
                to: .audit(device.person))
        }
        return decision
    }

    func retirePushToken(
        _ token: LocationPushToken, of id: DeviceID, reason: String, asOf: Timestamp?, by caller: Caller
    ) throws(Refusal) -> Decision {
        try requireHouse(caller)
        var decision = Decision()
        guard let device = devices[id], let held = device.pushToken, held.token == token else { return decision }
        // APNs speaks of the token as it was at `asOf`; one registered since then is good again.
        if let asOf, held.registeredAt > asOf { return decision }
        decision.append(.locationPushTokenRetired(device: id, reason: reason), to: .audit(device.person))
        return decision
    }
}

/// The fixes of a batch up to one of them.
private struct FixesOfBatch {
    private let device: DeviceID
    /// The content of the first fix of each identity. Most have no twin, and an identity is hashed faster than a content.
    private var first: [Fix.Identity: Fix] = [:]
    private var twins: Set<Fix> = []

    init(_ reports: ArraySlice<DeviceReport>, of device: DeviceID) {
        self.device = device
        for case .fix(let fix, _) in reports { _ = add(fix) }
    }

    /// Adds a fix. `isNew` if it was not there yet; `isTwin` if one was there that differs in other members only.
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
    /// Number that a draft with the same fix will get, the first draft's being `place + 1`.
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
    /// The fix without what says nothing about where the device was: the client's id, the time of receipt and members
    /// this version has no field for. Two reports of equal content by one device are the same fix.
    package var content: Fix {
        var fix = self
        fix.clientID = nil
        fix.receivedAt = nil
        fix.remainder = nil
        return fix
    }
}
