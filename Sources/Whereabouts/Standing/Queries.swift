extension Standing {
    /// The queries under way, and those that ended not long ago (``Limits/endedQueryKeptSeconds``).
    package struct Queries: Sendable, Equatable {
        /// By id, without order.
        package private(set) var all: [QueryID: Query] = [:]
        /// In the order in which they were asked, for the timekeeper and for forgetting.
        package private(set) var order: [QueryID] = []
        /// The queries without an end, by subject.
        package private(set) var open: [PersonID: [QueryID]] = [:]
        /// The number of queries in ``open``.
        package private(set) var openCount = 0

        /// A query; `nil` for an unknown id, or once it is forgotten.
        package subscript(id: QueryID) -> Query? { all[id] }

        /// The queries about a person without an end, in the order asked.
        package func open(about subject: PersonID) -> [QueryID] { open[subject] ?? [] }

        /// The queries after `number`, in the order asked. Cost: linear in their number.
        package func asked(after number: Int64) -> [QueryID] {
            let first = order.lastIndex { all[$0].map { $0.number <= number } ?? false }
            return Array(order[(first.map { $0 + 1 } ?? 0)...])
        }

        mutating func add(_ id: QueryID, _ query: Query) {
            all[id] = query
            order.append(id)
            guard query.end == nil else { return }
            open[query.subject, default: []].append(id)
            openCount += 1
        }

        /// Changes a query in place, if it is known, but not its end.
        mutating func change(_ id: QueryID, _ body: (inout Query) -> Void) {
            guard let index = all.index(forKey: id) else { return }
            body(&all.values[index])
        }

        mutating func end(_ id: QueryID, _ outcome: Query.Outcome) {
            guard let subject = all[id]?.subject else { return }
            all[id]?.outcome = outcome
            removeFromOpen(id, of: subject)
        }

        private mutating func removeFromOpen(_ id: QueryID, of subject: PersonID) {
            guard let index = open[subject]?.firstIndex(of: id) else { return }
            open[subject]?.remove(at: index)
            openCount -= 1
            if open[subject]?.isEmpty == true { open[subject] = nil }
        }

        /// Forgets ended queries in the order in which they were asked, so that the rest depends on the log alone. A
        /// deadline may be far in the past when a query ends, if the clock was set forward meanwhile.
        mutating func forgetOld(at now: Timestamp) {
            var gone = 0
            while gone < order.count, let query = all[order[gone]], let outcome = query.outcome,
                max(query.deadline, outcome.at).adding(seconds: Limits.endedQueryKeptSeconds) < now
            {
                all[order[gone]] = nil
                gone += 1
            }
            if gone > 0 { order.removeFirst(gone) }
        }

        /// Removes the queries about an erased person, and the person's own.
        mutating func forget(_ person: PersonID) {
            for (id, query) in all where query.subject == person || query.requester == person.principal {
                all[id] = nil
                removeFromOpen(id, of: query.subject)
            }
            order.removeAll { all[$0] == nil }
        }

        /// Removes what shows where and when a person was from the queries about them, after the keys of old reports
        /// were destroyed.
        mutating func forgetPlaces(of person: PersonID) {
            for (id, query) in all where query.subject == person {
                all[id]?.shownWhenAsked = nil
                guard let outcome = query.outcome else { continue }
                all[id]?.outcome = Query.Outcome(end: outcome.end, at: outcome.at, fix: outcome.fix, cell: nil)
            }
        }

        mutating func follow(clockSteppedBackBy milliseconds: Int64) {
            for id in open.values.joined() { change(id) { $0.waking.follow(clockSteppedBackBy: milliseconds) } }
        }
    }
}

// MARK: - Fold

extension Standing {
    mutating func foldQuery(_ recorded: RecordedEvent, _ query: LocationQuery) {
        if query.verdict.isRefused {
            requests.countRefusal(by: query.requester, at: recorded.recordedAt)
            return
        }
        guard let subject = query.subject else { return }
        var asked = Query(
            subject: subject, requester: query.requester, verdict: query.verdict, initiation: query.initiation,
            number: recorded.number, askedAt: recorded.recordedAt, deadline: query.deadline)
        if let permit = coarsePermit(of: query.verdict) {
            asked.shownWhenAsked = newestFix(under: permit).map { permit.precision.shown($0.timestamp) }
        }
        queries.add(query.id, asked)
        if query.requester == .house {
            schedules.noteAsked(ScheduleID(rawValue: recorded.cause), at: recorded.recordedAt)
        }
        take(.push, under: query.verdict, of: query.requester, about: subject)
    }

    mutating func end(_ id: QueryID, _ end: QueryEnd, fix: Int64?, at now: Timestamp) {
        guard let query = queries[id] else { return }
        let cell = fix.flatMap { fix in persons[query.subject]?.newest.all.first { $0.number == fix }?.cell }
        queries.end(id, Query.Outcome(end: end, at: now, fix: fix, cell: cell))
        guard end == .answeredFromLastKnown else { return }
        // No push was needed, so it counts as a read.
        change(under: query.verdict, of: query.requester, about: query.subject) { asks, now in
            asks.pushes.giveBack(at: Limits.pushesPerAsker)
            asks.reads.take(at: Limits.readsPerAsker, now: now)
        }
    }

    mutating func startPush(_ query: QueryID, _ device: DeviceID, at now: Timestamp) {
        let wokenBefore = devices[device]?.push.wokenAt
        devices.change(device) { $0.push.start(at: now) }
        queries.change(query) { $0.waking.noteStart(device, at: now, wokenBefore: wokenBefore) }
    }

    mutating func note(_ attempt: LocationPushAttempt) {
        if let reason = attempt.withheld {
            queries.change(attempt.query) {
                $0.waking.withheld.append(Query.Withheld(device: attempt.device, reason: reason))
            }
        } else {
            queries.change(attempt.query) { $0.waking.note(attempt) }
            noteWoken(attempt)
        }
    }

    /// Takes back ``Device/Push/wokenAt`` if APNs certainly did not accept the push.
    private mutating func noteWoken(_ attempt: LocationPushAttempt) {
        guard let push = queries[attempt.query]?.waking.pushes.first(where: { $0.device == attempt.device }),
            let device = devices[attempt.device], !device.isRemoved
        else { return }
        if push.mayHaveArrived {
            devices[attempt.device]?.push.wokenAt = max(device.push.wokenAt ?? push.startedAt, push.startedAt)
        } else if device.push.wokenAt == push.startedAt {
            devices[attempt.device]?.push.wokenAt = push.wokenBefore
        }
    }

    mutating func fold(_ disclosure: Disclosure) {
        if queries[disclosure.query]?.isDisclosed == true {
            take(.read, under: disclosure.verdict, of: disclosure.requester, about: disclosure.subject)
        }
        queries.change(disclosure.query) { $0.isDisclosed = true }
    }
}

// MARK: - Rows

extension Standing.Queries {
    /// The queries; a row has the number of its place in the order asked.
    var rows: [StandingEntry] {
        order.enumerated().compactMap { index, id in
            all[id].map { query in StandingEntry(.query, Int64(index)) { query.write(id, to: &$0) } }
        }
    }

    mutating func load(_ fields: inout FieldReader) throws(CBORError) {
        let id = try require(try fields.identifier(1))
        add(id, try Standing.Query(from: &fields))
    }
}
