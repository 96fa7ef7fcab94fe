// Which devices are woken for a query, and which are not: pace, budget, and what was tried.

/// What is to be done about one device of a query.
package struct PushOrder: Hashable, Sendable {
    package enum What: Hashable, Sendable {
        /// It is on record that a push leaves now.
        case send
        /// Ask again then, if the device may be woken: it is woken for somebody else already, its budget is used up, or its
        /// owner does not let the app be woken.
        case wait(until: Timestamp)
    }
    package let device: DeviceID
    package let what: What
    /// How often the device was tried for the query before.
    package let tries: Int64

    init(device: DeviceID, what: What, tries: Int64 = 0) {
        (self.device, self.what, self.tries) = (device, what, tries)
    }
}

/// Why a push was not sent, in the words of ``LocationPushAttempt/reason``.
package enum PushWithheld: Int64, Sendable, CaseIterable {
    /// The device was woken less than ``Limits/secondsBetweenPushes`` ago; what it reports answers this query too.
    case coalesced = 1
    /// Apple gives a device about ``Limits/pushBudget``; a device beyond it gets no pushes at all for a while.
    case budget = 2
    /// The device says that its app may not be run in the background: the push would be accepted and come to nothing.
    case notAuthorized = 3

    package var word: String { String(describing: self) }

    package init?(word: String) {
        guard let match = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = match
    }
}

extension LocationPushAttempt {
    /// One UUID per query and device, the same on every try and after a restart.
    package static func apnsID(_ query: QueryID, _ device: DeviceID) -> Identifier128 {
        Identifier128(random: query.high, query.low ^ UInt64(bitPattern: device.rawValue))
    }

    /// Set when nothing was sent, and why.
    package var withheld: PushWithheld? { attempt == 0 ? reason.flatMap { PushWithheld(word: $0) } : nil }

    init(_ withheld: PushWithheld, query: QueryID, device: DeviceID) {
        self.init(
            query: query, device: device, attempt: 0, apnsID: Self.apnsID(query, device), status: nil,
            reason: withheld.word, durationMilliseconds: 0)
    }
}

extension Standing {
    /// Decides about the devices of an open query, one by one; what is sent and, once for each reason, what is withheld
    /// becomes an event before anything leaves. A query that is over gets no orders.
    func startPushes(
        _ id: QueryID, to wanted: [DeviceID], by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> Decision {
        try requireHouse(caller)
        var decision = Decision()
        decision.reply = .pushes([])
        guard let query = queries[id], query.end == nil, !query.awaitsConsent else { return decision }
        var orders: [PushOrder] = []
        for wanted in wanted {
            guard let device = devices[wanted], device.person == query.subject, device.pushToken != nil else {
                continue
            }
            if let (reason, until) = withheld(device, wanted, from: query, at: now) {
                orders.append(PushOrder(device: wanted, what: .wait(until: until)))
                guard !query.withheld.contains(Query.Withheld(device: wanted, reason: reason)) else { continue }
                decision.append(
                    .locationPushAttempted(LocationPushAttempt(reason, query: id, device: wanted)),
                    to: .audit(query.subject), cause: query.number)
            } else {
                let before = query.pushes.first { $0.device == wanted }
                // A start without a record was cut short by the end of the process: it may have been tried.
                let tries = before.map { $0.isUnderWay ? $0.tries + 1 : $0.tries } ?? 0
                orders.append(PushOrder(device: wanted, what: .send, tries: tries))
                decision.append(
                    .locationPushStarted(query: id, device: wanted), to: .audit(query.subject), cause: query.number)
            }
        }
        decision.reply = .pushes(orders)
        return decision
    }

    /// Why the device is not woken for the query at `now`, and until when; `nil` when it is.
    private func withheld(
        _ device: Device, _ id: DeviceID, from query: Query, at now: Timestamp
    ) -> (PushWithheld, until: Timestamp)? {
        if !device.mayBeWoken { return (.notAuthorized, now) }
        // What became of a push that was started before a restart is not known: it is repeated without a pause, and
        // Apple counts both.
        if !query.pushes.contains(where: { $0.device == id }), let last = device.lastPushAt {
            let next = last.adding(seconds: Limits.secondsBetweenPushes)
            if now < next { return (.coalesced, next) }
        }
        let reserve = query.initiation == .server ? Limits.pushesKeptForPersons : 0
        let next = device.pushes.earliest(leaving: reserve, at: Limits.pushBudget, now: now)
        return now < next ? (.budget, next) : nil
    }
}
