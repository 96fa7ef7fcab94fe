// Which devices a query wakes and which it does not, by pace, budget and the outcomes of earlier tries.

extension LocationPushAttempt {
    /// One UUID per query and device, the same on every try and after a restart.
    package static func apnsID(_ query: QueryID, _ device: DeviceID) -> Identifier128 {
        Identifier128(random: query.high, query.low ^ UInt64(bitPattern: device.rawValue))
    }

    /// The ``reason`` of a push whose process ended before its outcome was recorded.
    package static let serviceEnded = "the service ended"

    /// The reason why nothing was sent; `nil` if something was.
    package var withheld: PushWithheld? { attempt == 0 ? reason.flatMap { PushWithheld(word: $0) } : nil }

    init(_ withheld: PushWithheld, query: QueryID, device: DeviceID) {
        self.init(
            query: query, device: device, attempt: 0, apnsID: Self.apnsID(query, device), status: nil,
            reason: withheld.word, durationMilliseconds: 0, outcome: .withheld)
    }

    /// The record of a push that was under way when the service ended. APNs may have accepted it.
    init(cutShort query: QueryID, device: DeviceID, attempt: Int64) {
        self.init(
            query: query, device: device, attempt: attempt, apnsID: Self.apnsID(query, device), status: nil,
            reason: Self.serviceEnded, durationMilliseconds: 0, outcome: .unknown)
    }
}

extension Standing {
    /// Decides about each device of an open query. Before anything is sent, each push becomes an event, and so does
    /// each push that is withheld, once per reason. A query that has ended gets no orders. If there is no device to
    /// wake, that is recorded once.
    func startPushes(
        _ id: QueryID, to wanted: [DeviceID], by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        try requireHouse(caller)
        var decision = Decision()
        decision.reply = .pushes([])
        guard let query = queries[id], query.end == nil, !query.awaitsConsent else { return decision }
        if wanted.isEmpty, query.waking.pushes.isEmpty, !query.waking.hasNoDevice {
            decision.append(.locationPushWithheld(query: id, .noDevice), to: .audit(query.subject), cause: query.number)
        }
        var orders: [PushOrder] = []
        for wanted in wanted {
            guard let device = devices[wanted], device.person == query.subject, let token = device.push.token else {
                continue
            }
            let before = query.waking.pushes.first { $0.device == wanted }
            let order = order(device, wanted, token, for: id, query, before, at: now)
            orders.append(PushOrder(device: wanted, what: order.what, tries: before?.tries ?? 0))
            if order.what == .send {
                decision.append(
                    .locationPushStarted(query: id, device: wanted), to: .audit(query.subject), cause: query.number)
            } else if let reason = order.withheld,
                !query.waking.withheld.contains(Query.Withheld(device: wanted, reason: reason))
            {
                decision.append(
                    .locationPushAttempted(LocationPushAttempt(reason, query: id, device: wanted)),
                    to: .audit(query.subject), cause: query.number)
            }
        }
        decision.reply = .pushes(orders)
        return decision
    }

    /// Whether the device is woken for the query at `now`; `withheld` is the reason that the subject's audit shows.
    private func order(
        _ device: Device, _ id: DeviceID, _ token: PushToken, for queryID: QueryID, _ query: Query,
        _ before: Query.Push?, at now: Timestamp
    ) -> (what: PushOrder.What, withheld: PushWithheld?) {
        if !isPushWanted(queryID, to: id, token, at: now) { return (.wait(until: now), nil) }
        if !device.mayBeWoken { return (.wait(until: now), .notAuthorized) }
        // A push that did not wake the device does not count against its pace.
        var wokeSomebody = true
        if let before {
            switch before.state {
            case .accepted: return (.never, nil)
            case .refused:
                guard token.registeredAt > before.startedAt else { return (.never, nil) }
                wokeSomebody = device.push.lastAt != before.startedAt
            case .unsent where !before.mayHaveArrived: wokeSomebody = device.push.lastAt != before.startedAt
            case .underWay, .unsettled, .unsent:
                // The outcome is unknown and the phone may be awake, so the push is sent once more and never again,
                // however often the process ends.
                guard before.starts < 2 else { return (.never, nil) }
                let next = max(device.push.lastAt ?? before.startedAt, before.startedAt)
                    .adding(seconds: Limits.secondsBetweenPushes)
                if now < next { return (.wait(until: next), nil) }
            }
        }
        if wokeSomebody, let last = device.push.lastAt {
            let next = last.adding(seconds: Limits.secondsBetweenPushes)
            if now < next { return (.wait(until: next), .coalesced) }
        }
        let reserve = query.initiation == .server ? Limits.pushesKeptForPersons : 0
        let next = device.push.allowance.earliest(leaving: reserve, at: Limits.pushBudget, now: now)
        return now < next ? (.wait(until: next), .budget) : (.send, nil)
    }

    /// Records the outcome of a try. The try may have reached APNs even if the person was erased since. Then the record
    /// goes to the house's stream, without anything made from personal data.
    func recordPushAttempt(_ attempt: LocationPushAttempt, by caller: Caller) throws(Refusal) -> Decision {
        try requireHouse(caller)
        var decision = Decision()
        let query = queries[attempt.query]
        guard let person = query?.subject ?? devices[attempt.device]?.person else { return decision }
        if persons[person]?.isErased ?? true {
            decision.append(.locationPushAttempted(attempt.withoutPersonalData), to: .house)
        } else {
            decision.append(.locationPushAttempted(attempt), to: .audit(person), cause: query?.number ?? 0)
        }
        return decision
    }

    /// Pushes that were started and have no recorded outcome, tests included, at most `limit`. Before anything is
    /// pushed, these are the pushes of a process that has ended.
    ///
    /// Cost: linear in the number of queries and devices.
    package func pushesUnderWay(atMost limit: Int) -> [LocationPushAttempt] {
        var found: [LocationPushAttempt] = []
        for id in queries.order where found.count < limit {
            guard let query = queries[id] else { continue }
            for push in query.waking.pushes where push.state == .underWay {
                found.append(LocationPushAttempt(cutShort: id, device: push.device, attempt: push.tries + 1))
            }
        }
        return found
    }

    /// Records an unknown outcome for every push that was under way when the service ended.
    func settlePushes(by caller: Caller) throws(Refusal) -> Decision {
        try requireHouse(caller)
        var decision = Decision()
        for attempt in pushesUnderWay(atMost: Limits.batchCommands) {
            guard let query = queries[attempt.query] else { continue }
            decision.append(.locationPushAttempted(attempt), to: .audit(query.subject), cause: query.number)
        }
        for (id, device) in devices.all.sorted(by: { $0.key < $1.key }) {
            guard let test = device.push.testUnderWay else { continue }
            let attempt = LocationPushAttempt(cutShort: test, device: id, attempt: 1)
            decision.append(.locationPushTested(attempt), to: .audit(device.person))
        }
        return decision
    }

    /// Whether ``settlePushes(by:)`` has something to record. Cost: as ``pushesUnderWay(atMost:)``.
    package var hasPushesToSettle: Bool {
        !pushesUnderWay(atMost: 1).isEmpty || devices.all.values.contains { $0.push.testUnderWay != nil }
    }
}

extension Order where Reply == [PushOrder] {
    /// ``Command/startPushes(_:to:)``
    package static func startPushes(_ query: QueryID, to devices: [DeviceID]) -> Order {
        Order(.startPushes(query, to: devices)) { $0.pushes }
    }
}
